import type { RefObject, VNode } from 'preact'
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { LIMITS } from '../../../services/api/contract/parameters.ts'
import {
  Button,
  CopyButton,
  Segments,
  useAsking,
  useNow,
  useStateOf,
  useWork,
} from '../../parts/controls.tsx'
import { FailureNotice } from '../../parts/failure-notice.tsx'
import { ask, askFile, hasList, isRecord } from '../../parts/request.ts'
import { beginOf, daysBefore, localDay } from '../../parts/time.ts'
import { type Speech, useSpeech } from '../../words/index.ts'
import { useCounts } from '../insights/counts.tsx'
import { inWords } from '../search/in-words.ts'
import { type Search, type Way, writeSearch } from '../search/search.ts'
import { CitePanel } from './cite.tsx'
import { CODE_LANGUAGES, type CodeLanguage, codeOf } from './code.ts'
import { Compare } from './compare.tsx'
import {
  type Download,
  FORMATS,
  type Format,
  openSink,
  type Progress,
  saveFile,
  startDownload,
  WRITERS,
} from './download.ts'

/**
 * The open panel. Panels that were opened before stay hidden on the page, so that a download
 * continues.
 *
 * @param props.open null: no panel
 */
export function Take({
  search,
  secret,
  open,
}: {
  search: Search
  secret: string
  open: Way | null
}): VNode {
  const [opened, setOpened] = useState<Way[]>([])
  useEffect(() => {
    if (open !== null) setOpened(before => [...new Set([...before, open])])
  }, [open])
  return (
    <>
      {opened.map(way => (
        <div key={way} class="take" hidden={way !== open}>
          {way === 'download' && <DownloadPanel search={search} secret={secret} />}
          {way === 'feed' && <FeedPanel search={search} secret={secret} />}
          {way === 'code' && <Code search={search} />}
          {way === 'cite' && <CitePanel search={search} secret={secret} />}
          {way === 'compare' && <Compare search={search} secret={secret} />}
        </div>
      ))}
    </>
  )
}

function Code({ search }: { search: Search }) {
  const { words } = useSpeech()
  const [language, setLanguage] = useState<CodeLanguage>('curl')
  const code = codeOf(search, location.origin, language)
  return (
    <section class="code">
      <h3>{words.take.code}</h3>
      <p class="hint">{words.take.codeAbout}</p>
      <div class="row">
        <Segments
          label={words.take.code}
          name="code"
          values={CODE_LANGUAGES}
          value={language}
          nameOf={one => one}
          onChoose={one => setLanguage(one)}
        />
        <CopyButton text={code} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: keys scroll what is wider than the screen */}
      <pre tabIndex={0}>
        <code>{code}</code>
      </pre>
    </section>
  )
}

/**
 * All results as a file. The download shows its progress, can pause, and leaves nothing when it is
 * cancelled.
 */
function DownloadPanel({ search, secret }: { search: Search; secret: string }) {
  const speech = useSpeech()
  const { words } = speech
  const [progress, setProgress] = useState<Progress | null>(null)
  const running = useRef<Download | null>(null)
  // A download keeps its search, and continues while the user makes other searches. It ends when
  // this panel is removed from the page.
  useEffect(() => () => running.current?.cancel(), [])
  const over = progress === null || progress.kind === 'done' || progress.kind === 'tooLarge'
  useWarning(!over)
  // Draws the panel again each second, for a countdown.
  useNow(progress?.kind === 'waiting' ? 1_000 : null)

  const start = async (format: Format) => {
    const sink = await openSink(`perscope-${localDay(new Date())}.${format}`, WRITERS[format].type)
    if (sink === null) return
    running.current = startDownload({ search, key: secret, format, sink, tell: setProgress })
  }
  const end = () => {
    running.current?.cancel()
    running.current = null
    setProgress(null)
  }
  return (
    <section class="download">
      <h3>{words.take.download}</h3>
      <p class="hint">{words.take.downloadAbout}</p>
      {over ? (
        <p class="row">
          {FORMATS.map(format => (
            <Button key={format} onClick={() => start(format)} text={format.toUpperCase()} />
          ))}
        </p>
      ) : (
        <Running progress={progress} running={running} onEnd={end} />
      )}
      <p role="status">{progress && sentenceOf(progress, speech)}</p>
      {progress?.kind === 'paused' && progress.failure !== null && (
        <FailureNotice failure={progress.failure} onAgain={() => running.current?.resume()} />
      )}
    </section>
  )
}

type Unfinished = Exclude<Progress, { kind: 'done' | 'tooLarge' }>

function Running(props: {
  progress: Unfinished
  running: RefObject<Download | null>
  onEnd(): void
}) {
  const { progress, running, onEnd } = props
  const { words } = useSpeech()
  return (
    <>
      <progress
        aria-label={words.take.download}
        max={Math.max(1, progress.total)}
        {...(progress.estimate ? {} : { value: progress.written })}
      />
      <p class="row">
        {progress.kind === 'paused' ? (
          <Button
            class="primary"
            onClick={() => running.current?.resume()}
            text={words.take.resume}
          />
        ) : (
          <Button onClick={() => running.current?.pause()} text={words.take.pause} />
        )}
        <Button onClick={onEnd} text={words.take.cancel} />
      </p>
    </>
  )
}

/** Makes the browser ask before it leaves the page. */
function useWarning(on: boolean): void {
  useEffect(() => {
    if (!on) return
    const warn = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', warn)
    return () => removeEventListener('beforeunload', warn)
  }, [on])
}

function sentenceOf(progress: Progress, speech: Speech): string {
  const { words, number } = speech
  const written = number(progress.written)
  switch (progress.kind) {
    case 'done':
      return words.take.done(written, progress.written === 1)
    case 'tooLarge':
      return words.take.tooLarge
    case 'waiting': {
      const seconds = Math.max(1, Math.ceil((progress.until - performance.now()) / 1_000))
      return `${words.failure.rate_limit_exceeded} ${words.failure.in(speech.wait(seconds))}.`
    }
    default:
      return words.take.writtenOf(
        written,
        `${number(progress.total)}${progress.estimate ? '+' : ''}`,
      )
  }
}

/** The feeds of a key, and the functions that change them. */
function useFeeds(search: Search, secret: string) {
  const [feeds, setFeeds] = useState<SearchFeed[]>([])
  const [made, setMade] = useState<SearchFeed | null>(null)
  const [isKept, setKept] = useStateOf(search, false)
  const { failure, told } = useAsking()
  const look = useCallback(
    async (signal?: AbortSignal) => {
      const answer = await told(ask('/explore/feeds', isFeeds, { key: secret, signal }))
      if (answer !== null) setFeeds(answer.feeds)
    },
    [secret, told],
  )
  useWork(look)
  const asking = (more: { title: string } | { name: string }) => ({
    key: secret,
    method: 'POST' as const,
    body: { search: String(writeSearch(search)), ...more },
  })
  return {
    feeds,
    made,
    isKept,
    failure,
    look: () => look(),
    async make(title: string) {
      const feed = await told(ask('/explore/feeds', isFeed, asking({ title })))
      if (feed === null) return
      setMade(feed)
      await look()
    },
    async keep(name: string) {
      setKept((await told(ask('/explore/searches', isRecord, asking({ name })))) !== null)
    },
    async end(id: string) {
      const path = `/explore/feeds/${encodeURIComponent(id)}`
      if ((await told(askFile(path, { key: secret, method: 'DELETE' }))) === null) return
      if (made?.id === id) setMade(null)
      await look()
    },
    async save() {
      const file = await told(askFile('/explore/feeds.opml', { key: secret }))
      if (file !== null) saveFile(file, 'perscope-feeds.opml')
    },
  }
}

/** The search as a feed for a feed reader, and the existing feeds of the key. */
function FeedPanel({ search, secret }: { search: Search; secret: string }) {
  const speech = useSpeech()
  const { words } = speech
  const { feeds, made, isKept, failure, look, make, keep, end, save } = useFeeds(search, secret)
  const usual = [...inWords(search, speech)].slice(0, LONGEST_TITLE).join('')
  const [title, setTitle] = useStateOf<string | null>(search, null)
  return (
    <section class="feeds">
      <h3>{words.take.feed}</h3>
      <p class="hint">{words.take.feedAbout}</p>
      {search.mode === 'semantic' && <p class="hint">{words.take.feedMeaning}</p>}
      <FeedSize search={search} secret={secret} />
      <label>
        {words.take.feedName}
        <input
          value={title ?? usual}
          maxLength={LONGEST_TITLE}
          onInput={event => setTitle(event.currentTarget.value)}
        />
      </label>
      <p class="row">
        <Button
          class="primary"
          onClick={() => make(title?.trim() || usual)}
          text={words.take.subscribe}
        />
        <Button onClick={() => keep(title?.trim() || usual)} text={words.kept.keep} />
        <a href="/searches">{words.kept.title}</a>
        {feeds.length > 0 && <Button onClick={save} text={words.take.opml} />}
      </p>
      <p role="status">{isKept && words.kept.kept}</p>
      <div role="status">{made?.urls && <Made urls={made.urls} />}</div>
      {failure !== null && <FailureNotice failure={failure} onAgain={look} />}
      {feeds.length > 0 && (
        <ul class="feed-list" aria-label={words.take.feeds}>
          {feeds.map(({ id, title }) => (
            <li key={id} class="row">
              <span class="feed-title">{title}</span>
              <Button class="quiet" onClick={() => end(id)} of={title} text={words.take.endFeed} />
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

/** Articles of a feed whose search gives no number. */
const FEED_SIZE = LIMITS.perPage.maximum

/** Says how many articles the feed holds, and whether a day of this week had more. */
function FeedSize({ search, secret }: { search: Search; secret: string }) {
  const { words, number } = useSpeech()
  const week = useMemo(() => {
    const publishedAfter = beginOf(daysBefore(new Date(), 6))
    // This does not apply to feeds of a search by meaning, and a search with an end finds nothing
    // new.
    const isFollowed = search.mode !== 'semantic' && search.publishedBefore === ''
    return isFollowed && !(search.publishedAfter > publishedAfter)
      ? { ...search, publishedAfter }
      : null
  }, [search])
  const { counts } = useCounts(week, 'day', secret, 0)
  const most = Math.max(0, ...(counts?.data ?? []).map(({ count }) => count))
  return (
    <>
      <p class="hint">{words.take.feedHolds(number(FEED_SIZE))}</p>
      {most > FEED_SIZE && (
        <p class="hint" role="status">
          {words.take.feedFull(number(most), number(FEED_SIZE))}
        </p>
      )}
    </>
  )
}

// Atom comes first, because all readers support it, and unlike RSS it has the snippets.
const FEED_FORMATS = ['atom', 'rss', 'json'] as const
type FeedFormat = (typeof FEED_FORMATS)[number]
const FORMAT_NAMES: Record<FeedFormat, string> = { rss: 'RSS', atom: 'Atom', json: 'JSON Feed' }

/** The secret address, which is shown only once. */
export function Made({ urls }: { urls: Record<string, string> }): VNode {
  const { words } = useSpeech()
  const [format, setFormat] = useState<FeedFormat>('atom')
  const url = urls[format] ?? ''
  return (
    <div class="made">
      <p>{words.take.feedMade}</p>
      <Segments
        label={words.take.feed}
        name="format"
        values={FEED_FORMATS}
        value={format}
        nameOf={(one: FeedFormat) => FORMAT_NAMES[one]}
        onChoose={(one: FeedFormat) => setFormat(one)}
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

/** The most UTF-16 units of a title. The API counts code points, of which a text never has more. */
const LONGEST_TITLE = 191

/**
 * A search as a feed of this key. Only the answer that makes the feed contains its secret address.
 */
interface SearchFeed {
  id: string
  title: string
  /** The addresses of the feed, by format. */
  urls?: Record<string, string>
}

const isFeed = (json: unknown): json is SearchFeed => isRecord(json) && typeof json.id === 'string'
const isFeeds = (json: unknown): json is { feeds: SearchFeed[] } => hasList(json, 'feeds')
