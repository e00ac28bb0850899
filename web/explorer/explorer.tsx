import { useCallback, useEffect, useState } from 'preact/hooks'
import type { Language } from '../../shared/articles/article.ts'
import { Footer, Header } from '../parts/controls.tsx'
import { forgetKey, knownKey, rememberKey, takeKeyFromAddress } from '../parts/request.ts'
import { loadSpeech, rememberLanguage, type Speech, SpeechContext, useSpeech } from '../words/index.ts'
import { SearchPage } from './search-page.tsx'

/** The whole page: without a key what it is and how to get one, with a key the search. */
export function Explorer({ firstSpeech }: { firstSpeech: Speech }) {
  const [speech, setSpeech] = useState(firstSpeech)
  const [key, setKey] = useState(knownKey)
  const [said, setSaid] = useState('')
  const [isPasted, setPasted] = useState(false)
  const { words, language } = speech

  useEffect(() => {
    document.documentElement.lang = language
    document.title = `Perscope – ${words.search.title}`
  }, [language, words])

  useEffect(() => {
    // Somebody opens an address with a key in a tab that is open already.
    const look = () => takeKeyFromAddress() && setKey(knownKey())
    addEventListener('hashchange', look)
    return () => removeEventListener('hashchange', look)
  }, [])

  const use = useCallback((pasted: string) => {
    rememberKey(pasted)
    setSaid('')
    setPasted(true)
    setKey(pasted)
  }, [])
  const forget = useCallback(() => {
    forgetKey()
    setSaid(words.key.forgotten)
    setKey('')
  }, [words])
  const speak = useCallback((chosen: Language) => {
    rememberLanguage(chosen)
    void loadSpeech(chosen).then(setSpeech)
  }, [])

  return (
    <SpeechContext.Provider value={speech}>
      <a class="skip" href="#results">
        {words.app.skip}
      </a>
      <Header onLanguage={speak} onForget={key === '' ? null : forget} />
      {key === '' ? (
        <Welcome said={said} onKey={use} />
      ) : (
        <SearchPage secret={key} isPasted={isPasted} onForget={forget} />
      )}
      <Footer />
    </SpeechContext.Provider>
  )
}

/** What somebody without a key sees: what this is, how to get a key, and where to put it. */
function Welcome({ said, onKey }: { said: string; onKey(key: string): void }) {
  const { words } = useSpeech()
  return (
    <main class="welcome" id="results">
      <h1>{words.app.tagline}</h1>
      <p role="status" class="said">
        {said}
      </p>
      <p class="lead">{words.key.about}</p>
      <KeyForm onKey={onKey} />
      <h2>{words.key.title}</h2>
      <p>{words.key.how}</p>
      <pre>
        <code>npm run keys -- create --name me --countries NL,BE,LU --history-days 365 --rate 60</code>
      </pre>
      <p>{words.key.started}</p>
    </main>
  )
}

function KeyForm({ onKey }: { onKey(key: string): void }) {
  const { words } = useSpeech()
  const [problem, setProblem] = useState('')
  return (
    <form
      class="key-form"
      onSubmit={event => {
        event.preventDefault()
        const field = event.currentTarget.elements.namedItem('key')
        const key = field instanceof HTMLInputElement ? field.value.trim() : ''
        if (key === '') setProblem(words.key.empty)
        else onKey(key)
      }}
    >
      <label for="key">{words.key.label}</label>
      <div class="row">
        <input
          id="key"
          name="key"
          type="password"
          autocomplete="off"
          spellcheck={false}
          aria-describedby="key-hint key-problem"
          aria-invalid={problem !== ''}
        />
        <button type="submit" class="primary">
          {words.key.use}
        </button>
      </div>
      <p id="key-problem" class="problem" role="alert">
        {problem}
      </p>
      <p id="key-hint" class="hint">
        {words.key.hint}
      </p>
    </form>
  )
}
