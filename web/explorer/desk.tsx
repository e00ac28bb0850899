import { useCallback, useEffect, useState } from 'preact/hooks'
import { useWork } from '../parts/controls.tsx'
import { FailureNotice } from '../parts/failure-notice.tsx'
import { ask, askFile, type Failure, hasList, isRecord, type Outcome } from '../parts/request.ts'
import { useSpeech } from '../words/index.ts'
import { Made } from './take/take.tsx'

// Parts that are read when they are shown first. They are one file, which compresses well.
export { CitePage } from './take/cite.tsx'
export { Take } from './take/take.tsx'

interface KeptSearch {
  id: string
  name: string
  search: string
  position: number
  feed: object | null
}

/** How many articles are new since the mark of this device. */
interface Fresh {
  id: string
  new: number
  more: boolean
  mark: string
}

type Urls = Record<string, string>

const isList = (json: unknown): json is { data: KeptSearch[] } => hasList(json, 'data')
const isFresh = (json: unknown): json is { data: Fresh[] } => hasList(json, 'data')
const isFeed = (json: unknown): json is { data: { urls: Urls } } => isRecord(json) && isRecord(json.data)

/** The marks stay on this device: colleagues with one key do not eat each other's news. */
const MARKS = 'perscope.marks'
const readMarks = (): Record<string, string> => JSON.parse(localStorage.getItem(MARKS) ?? '{}')

function useKept(secret: string) {
  const [kept, setKept] = useState<KeptSearch[] | null>(null)
  const [fresh, setFresh] = useState<ReadonlyMap<string, Fresh>>(new Map())
  const [failure, setFailure] = useState<Failure | null>(null)
  const [urls, setUrls] = useState<Urls | null>(null)
  const look = useCallback(
    async (signal?: AbortSignal) => {
      setFailure(null)
      const answer = await ask('/explore/searches', isList, { key: secret, signal })
      if (answer.kind === 'failure') return setFailure(answer)
      setKept(answer.value.data)
      const known = readMarks()
      // A search by meaning has no new articles.
      const asked = answer.value.data.filter(({ search }) => !/(^|&)search=semantic(&|$)/.test(search))
      const marks = Object.fromEntries(asked.map(({ id }) => [id, known[id] ?? null]))
      if (asked.length === 0) return
      const body = { marks }
      const news = await ask('/explore/searches/new', isFresh, { key: secret, signal, method: 'POST', body })
      if (news.kind === 'failure') return
      setFresh(new Map(news.value.data.map(one => [one.id, one])))
      // What has no mark yet is new from now on.
      const begun = news.value.data.filter(({ id }) => known[id] === undefined).map(({ id, mark }) => [id, mark])
      localStorage.setItem(MARKS, JSON.stringify({ ...known, ...Object.fromEntries(begun) }))
    },
    [secret],
  )
  useWork(look)
  const done = async (answer: Outcome<unknown>) => (answer.kind === 'failure' ? setFailure(answer) : look())
  const at = (id: string) => `/explore/searches/${encodeURIComponent(id)}`
  return {
    ...{ kept, fresh, failure, urls, look: () => look() },
    /** The articles are seen: the next look counts from here. */
    see(id: string) {
      const mark = fresh.get(id)?.mark
      if (mark !== undefined) localStorage.setItem(MARKS, JSON.stringify({ ...readMarks(), [id]: mark }))
    },
    change: async (id: string, body: { name: string } | { position: number }) =>
      done(await ask(at(id), isRecord, { key: secret, method: 'PATCH', body })),
    remove: async (id: string) => done(await askFile(at(id), { key: secret, method: 'DELETE' })),
    async feed(id: string) {
      const answer = await ask(`${at(id)}/feed`, isFeed, { key: secret, method: 'PUT' })
      setUrls(answer.kind === 'ok' ? answer.value.data.urls : null)
      await done(answer)
    },
  }
}

/** The searches that the key keeps: what is new in each, and how they are named and ordered. */
export function KeptPage({ secret, onForget }: { secret: string; onForget(): void }) {
  const { words, number } = useSpeech()
  const { kept, fresh, failure, urls, look, see, change, remove, feed } = useKept(secret)
  useEffect(() => {
    document.title = `${words.kept.title} – Perscope`
  }, [words])
  return (
    <main class="wide alone" id="results" aria-busy={kept === null}>
      <h1>{words.kept.title}</h1>
      {failure !== null && <FailureNotice failure={failure} onAgain={look} onForget={onForget} />}
      {kept?.length === 0 && <p>{words.kept.none}</p>}
      <ul class="feed-list">
        {kept?.map(({ id, name, search, position }, at) => {
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
                <button
                  type="button"
                  disabled={at === 0}
                  aria-label={words.app.named(words.kept.up, name)}
                  onClick={() => change(id, { position: kept[at - 1]?.position ?? position })}
                >
                  ↑
                </button>
                <button type="button" aria-label={words.app.named(words.take.feed, name)} onClick={() => feed(id)}>
                  {words.take.feed}
                </button>
                <button type="button" aria-label={words.app.named(words.kept.remove, name)} onClick={() => remove(id)}>
                  {words.kept.remove}
                </button>
              </p>
            </li>
          )
        })}
      </ul>
      <div role="status">{urls !== null && <Made urls={urls} />}</div>
    </main>
  )
}
