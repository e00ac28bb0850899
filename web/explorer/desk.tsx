import type { VNode } from 'preact'
import { useCallback, useEffect, useState } from 'preact/hooks'
import type {
  Alert,
  AlertTerms,
  KeptSearch,
  WhatIsNew,
} from '../../clients/typescript/src/index.ts'
import { Button, useAsking, useWork } from '../parts/controls.tsx'
import { FailureNotice } from '../parts/failure-notice.tsx'
import { ask, askFile, isListOf, isOneOf, isRecord, type Outcome } from '../parts/request.ts'
import { useSpeech } from '../words/index.ts'
import { Made } from './take/take.tsx'

// The browser loads these parts when it first shows one of them. They are one file, because one
// file compresses well.
export { CitePage } from './take/cite.tsx'
export { Take } from './take/take.tsx'

type Urls = Record<string, string>

const byMeaning = (search: string) => /(^|&)search=semantic(&|$)/.test(search)

/**
 * The storage key of this device's marks: for each kept search, the place up to which its articles
 * were seen. Colleagues with the same key have marks of their own.
 */
const MARKS = 'perscope.marks'
const readMarks = (): Record<string, string> => JSON.parse(localStorage.getItem(MARKS) ?? '{}')

function useKept(secret: string) {
  const [kept, setKept] = useState<KeptSearch[] | null>(null)
  const [fresh, setFresh] = useState<ReadonlyMap<string, WhatIsNew>>(new Map())
  const { failure, told } = useAsking()
  const [urls, setUrls] = useState<Urls | null>(null)
  const look = useCallback(
    async (signal?: AbortSignal) => {
      const answer = await told(
        ask('/explore/searches', isListOf<KeptSearch>, { key: secret, signal }),
      )
      if (answer === null) return
      setKept(answer.data)
      const known = readMarks()
      // New articles cannot be counted for a search by meaning.
      const asked = answer.data.filter(({ search }) => !byMeaning(search))
      const marks = Object.fromEntries(asked.map(({ id }) => [id, known[id] ?? null]))
      if (asked.length === 0) return
      const body = { marks }
      const news = await ask('/explore/searches/new', isListOf<WhatIsNew>, {
        key: secret,
        signal,
        method: 'POST',
        body,
      })
      if (news.kind === 'failure') {
        // After a failover or a restore, marks end. The next look begins anew.
        if ('marks' in news.errors) localStorage.removeItem(MARKS)
        return
      }
      setFresh(new Map(news.value.data.map(one => [one.id, one])))
      // A search without a mark gets its first mark, so that later articles count as new.
      const begun = news.value.data
        .filter(({ id }) => known[id] === undefined)
        .map(({ id, mark }) => [id, mark])
      localStorage.setItem(MARKS, JSON.stringify({ ...known, ...Object.fromEntries(begun) }))
    },
    [secret, told],
  )
  useWork(look)
  const done = async (asked: Promise<Outcome<NonNullable<unknown>>>) => {
    if ((await told(asked)) !== null) await look()
  }
  const at = (id: string) => `/explore/searches/${encodeURIComponent(id)}`
  return {
    kept,
    fresh,
    failure,
    urls,
    look: () => look(),
    /** Records that the articles of a search are seen. The next count begins after them. */
    see(id: string) {
      const mark = fresh.get(id)?.mark
      if (mark !== undefined)
        localStorage.setItem(MARKS, JSON.stringify({ ...readMarks(), [id]: mark }))
    },
    change: (id: string, body: { name: string } | { position: number }) =>
      done(ask(at(id), isRecord, { key: secret, method: 'PATCH', body })),
    remove: (id: string) => done(askFile(at(id), { key: secret, method: 'DELETE' })),
    /** @returns a mistake in the terms, or the secret of a webhook's signatures */
    async alert(id: string, terms: AlertTerms) {
      const answer = await ask(`${at(id)}/alert`, isOneOf<Alert>, {
        key: secret,
        method: 'PUT',
        body: terms,
      })
      if (answer.kind === 'failure')
        return { wrong: Object.values(answer.errors).flat().join(' ') || answer.message }
      await look()
      return { secret: answer.value.data.secret ?? '' }
    },
    endAlert: (id: string) => done(askFile(`${at(id)}/alert`, { key: secret, method: 'DELETE' })),
    async feed(id: string) {
      const answer = await told(
        ask(`${at(id)}/feed`, isOneOf<{ urls: Urls }>, { key: secret, method: 'PUT' }),
      )
      setUrls(answer?.data.urls ?? null)
      if (answer !== null) await look()
    },
  }
}

/**
 * The searches that the key keeps, with the number of new articles in each, their names and their
 * order.
 */
export function KeptPage({ secret, onForget }: { secret: string; onForget(): void }): VNode {
  const { words, number } = useSpeech()
  const { kept, fresh, failure, urls, look, see, change, remove, feed, alert, endAlert } =
    useKept(secret)
  useEffect(() => {
    document.title = `${words.kept.title} – Perscope`
  }, [words])
  return (
    <main class="wide alone" id="results" aria-busy={kept === null}>
      <h1>{words.kept.title}</h1>
      {failure !== null && <FailureNotice failure={failure} onAgain={look} onForget={onForget} />}
      {kept?.length === 0 && <p>{words.kept.none}</p>}
      <ul class="feed-list">
        {kept?.map(({ id, name, search, position, alert: own }, at) => {
          const { new: count = 0, more = false } = fresh.get(id) ?? {}
          return (
            <li key={id}>
              <p class="row">
                <a href={`/?${search}`} onClick={() => see(id)}>
                  {name}
                </a>
                {count > 0 && <b>{words.kept.fresh(`${number(count)}${more ? '+' : ''}`)}</b>}
              </p>
              <p class="row">
                <input
                  value={name}
                  aria-label={words.app.named(words.kept.rename, name)}
                  onChange={event => change(id, { name: event.currentTarget.value })}
                />
                <Button
                  disabled={at === 0}
                  aria-label={words.app.named(words.kept.up, name)}
                  onClick={() => change(id, { position: kept[at - 1]?.position ?? position })}
                  text="↑"
                />
                <Button of={name} onClick={() => feed(id)} text={words.take.feed} />
                <Button of={name} onClick={() => remove(id)} text={words.kept.remove} />
              </p>
              {!byMeaning(search) && (
                <AlertForm
                  {...{ name, own }}
                  onSet={terms => alert(id, terms)}
                  onEnd={() => endAlert(id)}
                />
              )}
            </li>
          )
        })}
      </ul>
      <div role="status">{urls !== null && <Made urls={urls} />}</div>
    </main>
  )
}

const AT_ONCE = 'at once'

/**
 * The form of an alert: where a search reports new articles, and when: at once, or each day at a
 * time in this device's zone.
 */
function AlertForm(props: {
  name: string
  own: Alert | null
  onSet(terms: AlertTerms): Promise<{ wrong?: string; secret?: string }>
  onEnd(): void
}) {
  const { name, own, onSet, onEnd } = props
  const { words } = useSpeech()
  const { alert } = words
  const [to, setTo] = useState(own?.to.replace(/^mailto:/, '') ?? '')
  const [when, setWhen] = useState(own?.when ?? '08:00')
  const [{ wrong, secret }, setAnswer] = useState<{ wrong?: string; secret?: string }>({})
  const set = async (event: Event) => {
    event.preventDefault()
    const address = /^[^:/]+@/.test(to.trim()) ? `mailto:${to.trim()}` : to
    const time_zone = Intl.DateTimeFormat().resolvedOptions().timeZone
    setAnswer(await onSet({ to: address, when, time_zone }))
  }
  return (
    <details>
      <summary>
        {alert.title}
        {own !== null && `: ${alert.states[own.state]}`}
        <span class="unseen"> ({name})</span>
      </summary>
      <form class="row" onSubmit={set}>
        <label>
          {alert.to}
          <input
            required
            maxLength={2_000}
            value={to}
            onInput={event => setTo(event.currentTarget.value)}
          />
        </label>
        <label>
          {alert.when}
          <select
            value={when === AT_ONCE ? when : ''}
            onChange={event => setWhen(event.currentTarget.value || '08:00')}
          >
            <option value={AT_ONCE}>{alert.atOnce}</option>
            <option value="">{alert.daily}</option>
          </select>
        </label>
        {when !== AT_ONCE && (
          <input
            type="time"
            required
            aria-label={alert.daily}
            value={when}
            onInput={event => setWhen(event.currentTarget.value)}
          />
        )}
        <button type="submit" class="primary">
          {alert.set}
        </button>
        {own !== null && <Button onClick={onEnd} text={alert.end} />}
      </form>
      {own !== null && own.reason !== null && <p class="hint">{own.reason}</p>}
      <div role="status">
        {own?.state === 'asked' && <p>{alert.asked}</p>}
        {secret && (
          <p class="row">
            {alert.secret} <code>{secret}</code>
          </p>
        )}
      </div>
      {wrong && <p role="alert">{wrong}</p>}
    </details>
  )
}
