import '#web/parts/base.css'
import './explorer.css'
import { render } from 'preact'
import { useCallback, useEffect, useState } from 'preact/hooks'
import type { Language } from '#shared/articles/article'
import { Button, Footer, Header, useEvent, useLater } from '#web/parts/controls.tsx'
import {
  forgetKey,
  keyIn,
  knownKey,
  rememberKey,
  setPageKey,
  takeKeyFromAddress,
} from '#web/parts/request'
import {
  loadSpeech,
  preferredLanguage,
  rememberLanguage,
  type Speech,
  SpeechContext,
  useSpeech,
} from '#web/words/index'
import { ArticlePage } from './article.tsx'
import { type First, idOfPage, tryKey } from './search/use-results.ts'
import { SearchPage } from './search-page.tsx'

/*
 * The page needs a key, but a key must not stay in the address, because history and screenshots
 * keep addresses. So this file removes it first, and then shows the welcome, the search or an
 * article.
 */

const ARTICLE_ID = idOfPage()
const IS_CITED = location.pathname.startsWith('/cite/')
const IS_KEPT = location.pathname === '/searches'
const loadDesk = () => import('./desk.tsx')

/** The key of this tab, and a second key that came from a link or a field. */
function useKey(offeredAtFirst: string | null) {
  const [key, setKey] = useState(knownKey)
  const [first, setFirst] = useState<First | null>(null)
  const [offered, setOffered] = useState(offeredAtFirst)
  const [isPasted, setPasted] = useState(false)
  const look = () => {
    const other = takeKeyFromAddress()
    if (other === null) setKey(knownKey())
    else setOffered(other)
  }
  // Somebody opens an address with a key in a tab that is already open.
  useEvent('hashchange', look)
  // Another tab has changed the key of the device.
  useEvent('storage', look)
  const use = useCallback((chosen: string, answered: First | null, onDevice = false) => {
    rememberKey(chosen, onDevice)
    setOffered(null)
    setFirst(answered)
    setPasted(true)
    setKey(chosen)
  }, [])
  const forget = useCallback(() => {
    forgetKey()
    setOffered(null)
    setFirst(null)
    setKey('')
  }, [])
  return { key, first, isPasted, offered, use, forget, offer: setOffered }
}

/**
 * The whole page. Without a key it explains the service and how to get a key. With a key it shows
 * the search, or the article of the address.
 *
 * @param props.offered a key in the address, while the tab has another key
 */
function Explorer({ firstSpeech, offered }: { firstSpeech: Speech; offered: string | null }) {
  const [speech, setSpeech] = useState(firstSpeech)
  const [said, setSaid] = useState('')
  const keys = useKey(offered)
  const { key, offer } = keys
  setPageKey(key)
  const { words, language } = speech
  const { CitePage, KeptPage } = useLater(IS_CITED || (IS_KEPT && key !== ''), loadDesk)
  useEffect(() => {
    document.documentElement.lang = language
    if (key === '' && !IS_CITED) document.title = `Perscope – ${words.search.title}`
  }, [language, words, key])

  const forget = useCallback(() => {
    setSaid(words.key.forgotten)
    keys.forget()
  }, [words, keys.forget])
  const speak = useCallback((chosen: Language) => {
    rememberLanguage(chosen)
    void loadSpeech(chosen).then(setSpeech)
  }, [])
  // Removes a key that is typed into any other field, so that no address contains it.
  const takeKey = ({ target: field }: Event) => {
    if (!(field instanceof HTMLInputElement) || field.type === 'password') return
    const found = keyIn(field.value)
    if (found === null) return
    field.value = ''
    // Later: the field hears first that it is empty. Else the page would write its text again.
    if (found !== key) setTimeout(() => offer(found))
  }
  useEvent('input', takeKey, true)

  return (
    <SpeechContext.Provider value={speech}>
      <a class="skip" href="#results">
        {words.app.skip}
      </a>
      <Header onLanguage={speak} onForget={key === '' ? null : forget} />
      {key !== '' && keys.offered !== null && (
        <Offer onUse={() => keys.use(keys.offered ?? '', null)} onKeep={() => offer(null)} />
      )}
      {IS_CITED ? (
        CitePage && (
          <CitePage>
            <KeyForm onKey={keys.use} />
          </CitePage>
        )
      ) : key === '' ? (
        <Welcome said={said} onKey={keys.use} />
      ) : ARTICLE_ID !== null ? (
        <ArticlePage key={key} id={ARTICLE_ID} isPasted={keys.isPasted} onForget={forget} />
      ) : IS_KEPT ? (
        KeptPage && <KeptPage key={key} onForget={forget} />
      ) : (
        <SearchPage key={key} first={keys.first} isPasted={keys.isPasted} onForget={forget} />
      )}
      <Footer />
    </SpeechContext.Provider>
  )
}

/** The notice that another key has come. The page uses that key only when the reader agrees. */
function Offer({ onUse, onKeep }: { onUse(): void; onKeep(): void }) {
  const { words } = useSpeech()
  return (
    <section class="notice offer" role="alert">
      <p>{words.key.offer}</p>
      <p class="row">
        <Button onClick={onKeep} text={words.key.keepOwn} />
        <Button onClick={onUse} text={words.key.useOther} />
      </p>
    </section>
  )
}

/** The view without a key: it explains the service, how to get a key, and where to enter it. */
function Welcome({
  said,
  onKey,
}: {
  said: string
  onKey(key: string, first: First | null, onDevice?: boolean): void
}) {
  const { words } = useSpeech()
  return (
    <main class="welcome wide" id="results">
      <h1>{words.app.tagline}</h1>
      <p role="status" class="hint">
        {said}
      </p>
      <p class="lead">{ARTICLE_ID === null ? words.key.about : words.results.locked}</p>
      <KeyForm onKey={onKey} />
      <h2>{words.key.title}</h2>
      <p>{words.key.how}</p>
      <pre>
        <code>{CREATE_KEY}</code>
      </pre>
      <p>{words.key.started}</p>
    </main>
  )
}

/** In lines for a phone: a browser would break one within `--rate`. */
const CREATE_KEY = `npm run keys -- create --name me \\
  --countries NL,BE,LU \\
  --history-days 365 --rate 60`

/**
 * The form for a key. It tests the key before it closes, so that a wrong key can be corrected here.
 */
function KeyForm({ onKey }: { onKey(key: string, first: First | null, onDevice?: boolean): void }) {
  const { words } = useSpeech()
  const [problem, setProblem] = useState('')
  const [trying, setTrying] = useState(false)
  const use = async (field: HTMLInputElement, onDevice: boolean) => {
    const key = keyIn(field.value) ?? field.value.trim()
    setProblem('')
    setTrying(true)
    const answer = await tryKey(key)
    setTrying(false)
    if (answer.kind === 'works') return onKey(key, answer.first, onDevice)
    setProblem(
      answer.code === 'invalid_token'
        ? `${words.failure.title.key}. ${words.failure.invalid_token}`
        : words.failure[answer.code],
    )
    field.select()
  }
  return (
    <form
      class="key-form"
      onSubmit={event => {
        event.preventDefault()
        const { elements } = event.currentTarget
        const field = elements.namedItem('key')
        const box = elements.namedItem('remember')
        const onDevice = box instanceof HTMLInputElement && box.checked
        if (field instanceof HTMLInputElement && !trying) void use(field, onDevice)
      }}
    >
      <label for="key">{words.key.label}</label>
      <div class="box">
        <input
          id="key"
          name="key"
          type="password"
          required
          autocomplete="off"
          spellcheck={false}
          aria-describedby="key-hint key-problem"
          aria-invalid={problem !== ''}
        />
        <button type="submit" class="primary">
          {IS_CITED ? words.cite.show : ARTICLE_ID === null ? words.key.use : words.results.open}
        </button>
      </div>
      <p id="key-problem" class={trying ? '' : 'problem'} role="alert">
        {trying ? words.key.trying : problem}
      </p>
      {isSecureContext && (
        <label class="row remember">
          <input type="checkbox" name="remember" />
          {words.key.remember}
        </label>
      )}
      <p id="key-hint" class="hint">
        {words.key.hint}
      </p>
    </form>
  )
}

// This comes first, so that the key leaves the address at once.
const offered = takeKeyFromAddress()
const place = document.getElementById('page')
const speech = await loadSpeech(preferredLanguage())
if (place !== null) render(<Explorer firstSpeech={speech} offered={offered} />, place)
performance.mark('perscope.ready')
