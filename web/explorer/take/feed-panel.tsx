import { useCallback, useEffect, useState } from 'preact/hooks'
import { CopyButton, Segments } from '../../parts/controls.tsx'
import { FailureNotice } from '../../parts/failure-notice.tsx'
import { ask, askFile, type Failure, hasList, isRecord } from '../../parts/request.ts'
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
    ask('/explore/feeds', isFeeds, { key: secret, signal: end.signal }).then(
      answer => {
        if (answer.kind === 'ok') setFeeds(answer.value.feeds)
        if (answer.kind === 'failure') setFailure(answer)
      },
      () => {}, // the panel is gone
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
      const body = { search: String(writeSearch(search)), title }
      const answer = await ask('/explore/feeds', isFeed, { key: secret, method: 'POST', body })
      if (answer.kind === 'failure') setFailure(answer)
      if (answer.kind !== 'ok') return
      setMade(answer.value)
      look()
    },
    async end(id: string) {
      const answer = await askFile(`/explore/feeds/${encodeURIComponent(id)}`, { key: secret, method: 'DELETE' })
      if (answer.kind === 'failure') return setFailure(answer)
      if (made?.id === id) setMade(null)
      look()
    },
    async save() {
      const answer = await askFile('/explore/feeds.opml', { key: secret })
      if (answer.kind === 'ok') saveFile(answer.value, 'perscope-feeds.opml')
      else setFailure(answer)
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
  urls?: Record<string, string>
}

const isFeed = (json: unknown): json is SearchFeed => isRecord(json) && typeof json.id === 'string'
const isFeeds = (json: unknown): json is { feeds: SearchFeed[] } => hasList(json, 'feeds')
