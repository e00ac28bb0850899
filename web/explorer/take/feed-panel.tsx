import { useCallback, useEffect, useState } from 'preact/hooks'
import { CopyButton, Segments } from '../../parts/controls.tsx'
import { FailureNotice } from '../../parts/failure-notice.tsx'
import { ask, askFile, type Failure, isRecord } from '../../parts/request.ts'
import { useSpeech } from '../../words/index.ts'
import { useChips } from '../search/filters.tsx'
import { type Search, writeSearch } from '../search/search.ts'
import { saveFile } from './download.ts'

/** The feeds of a key, and what can be done with them. */
function useFeeds(search: Search, secret: string) {
  const [feeds, setFeeds] = useState<SearchFeed[]>([])
  const [made, setMade] = useState<SearchFeed | null>(null)
  const [failure, setFailure] = useState<Failure | null>(null)
  const look = useCallback(() => {
    setFailure(null)
    const end = new AbortController()
    listFeeds(secret, end.signal).then(
      listed => (Array.isArray(listed) ? setFeeds(listed) : setFailure(listed)),
      () => {
        // The panel is gone.
      },
    )
    return () => end.abort()
  }, [secret])
  useEffect(look, [look])
  return {
    feeds,
    made,
    failure,
    look,
    async make(title: string) {
      const answer = await makeFeed(search, title, secret)
      if ('kind' in answer) return setFailure(answer)
      setMade(answer)
      look()
    },
    async end(id: string) {
      const problem = await endFeed(id, secret)
      if (problem !== null) return setFailure(problem)
      if (made?.id === id) setMade(null)
      look()
    },
    async save() {
      const file = await feedsAsOpml(secret)
      if (file instanceof Blob) saveFile(file, 'perscope-feeds.opml')
      else setFailure(file)
    },
  }
}

/** The search as a feed for a feed reader, and the feeds that the key has already. */
export function FeedPanel({ search, secret }: { search: Search; secret: string }) {
  const { words } = useSpeech()
  const { feeds, made, failure, look, make, end, save } = useFeeds(search, secret)
  const usual = useTitle(search)
  const [title, setTitle] = useState<string | null>(null)
  useEffect(() => setTitle(null), [usual])
  return (
    <section class="feeds">
      <h3>{words.take.feed}</h3>
      <p class="hint">{words.take.feedAbout}</p>
      {search.mode === 'semantic' && <p class="hint">{words.take.feedMeaning}</p>}
      <label>
        {words.take.feedName}
        <input
          value={title ?? usual}
          maxLength={LONGEST_TITLE}
          onInput={event => setTitle(event.currentTarget.value)}
        />
      </label>
      <p class="row">
        <button type="button" class="primary" onClick={() => make(title?.trim() || usual)}>
          {words.take.subscribe}
        </button>
        {feeds.length > 0 && (
          <button type="button" onClick={save}>
            {words.take.opml}
          </button>
        )}
      </p>
      <div role="status">{made?.urls && <Made urls={made.urls} />}</div>
      {failure !== null && <FailureNotice failure={failure} onAgain={look} />}
      {feeds.length > 0 && (
        <ul class="feed-list" aria-label={words.take.feeds}>
          {feeds.map(({ id, title }) => (
            <li key={id}>
              <span class="feed-title">{title}</span>
              <button
                type="button"
                class="quiet"
                onClick={() => end(id)}
                aria-label={`${words.take.endFeed}: ${title}`}
              >
                {words.take.endFeed}
              </button>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

const FORMATS = ['rss', 'atom', 'json'] as const
type Format = (typeof FORMATS)[number]
const FORMAT_NAMES: Record<Format, string> = { rss: 'RSS', atom: 'Atom', json: 'JSON Feed' }

/** The secret address, which is shown this once. */
function Made({ urls }: { urls: Record<string, string> }) {
  const { words } = useSpeech()
  const [format, setFormat] = useState<Format>('rss')
  const url = urls[format] ?? ''
  return (
    <div class="made">
      <p>{words.take.feedMade}</p>
      <Segments
        label={words.take.feedFormat}
        name="format"
        values={FORMATS}
        value={format}
        nameOf={(one: Format) => FORMAT_NAMES[one]}
        onChoose={(one: Format) => setFormat(one)}
      />
      <p class="row">
        <input
          readOnly
          aria-label={words.take.feedAddress}
          value={url}
          onFocus={event => event.currentTarget.select()}
        />
        <CopyButton text={url} />
      </p>
    </div>
  )
}

/** Characters of a title; the API counts code points, of which there are as many at most. */
const LONGEST_TITLE = 191

/** What the feed is called unless somebody names it: its words, and the filters that are on. */
function useTitle(search: Search): string {
  const { words } = useSpeech()
  const chips = useChips(search)
  const [first, rest] = [search.q.trim() || words.app.tagline, chips.map(({ text }) => text).join(', ')]
  return [...(rest === '' ? first : `${first} – ${rest}`)].slice(0, LONGEST_TITLE).join('')
}

/** A search as a feed of this key; its secret address is known only when it is made. */
interface SearchFeed {
  id: string
  title: string
  /** By format. */
  urls: Record<string, string> | null
}

async function listFeeds(key: string, signal: AbortSignal): Promise<SearchFeed[] | Failure> {
  const answer = await ask('/explore/feeds', readFeeds, { key, signal })
  return answer.kind === 'ok' ? answer.value : answer.kind === 'failure' ? answer : []
}

async function makeFeed(search: Search, title: string, key: string): Promise<SearchFeed | Failure> {
  const body = { search: String(writeSearch(search)), title }
  const answer = await ask('/explore/feeds', readFeed, { key, method: 'POST', body })
  if (answer.kind === 'unchanged') throw new Error('A new feed cannot be unchanged.')
  return answer.kind === 'ok' ? answer.value : answer
}

/** null: it has ended */
async function endFeed(id: string, key: string): Promise<Failure | null> {
  const answer = await ask(`/explore/feeds/${encodeURIComponent(id)}`, () => true, { key, method: 'DELETE' })
  return answer.kind === 'failure' ? answer : null
}

async function feedsAsOpml(key: string): Promise<Blob | Failure> {
  const answer = await askFile('/explore/feeds.opml', { key })
  return answer.kind === 'ok' ? answer.value : answer
}

function readFeeds(json: unknown): SearchFeed[] | null {
  if (!isRecord(json) || !Array.isArray(json.feeds)) return null
  return json.feeds.map(readFeed).filter(feed => feed !== null)
}

function readAddresses(json: unknown): SearchFeed['urls'] {
  if (!isRecord(json)) return null
  return Object.fromEntries(Object.entries(json).map(([format, url]) => [format, String(url)]))
}

function readFeed(json: unknown): SearchFeed | null {
  if (!isRecord(json) || typeof json.id !== 'string' || typeof json.title !== 'string') return null
  return { id: json.id, title: json.title, urls: readAddresses(json.urls) }
}
