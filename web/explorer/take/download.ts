import { ask, type Failure, isRecord } from '../../parts/request.ts'
import { type Search, writeSearch } from '../search/search.ts'
import { type Format, WRITERS } from './formats.ts'
import { type Sink, TooLarge } from './sink.ts'

export type Progress =
  | { kind: 'running'; written: number; total: number; estimate: boolean }
  /** The plan's minute is used up; it goes on by itself at `until`, in ms of the page's clock. */
  | { kind: 'waiting'; written: number; total: number; estimate: boolean; until: number }
  /** By the reader (no failure), or because something is in the way. */
  | { kind: 'paused'; written: number; total: number; estimate: boolean; failure: Failure | null }
  | { kind: 'done'; written: number }
  | { kind: 'tooLarge'; written: number }

export interface Download {
  pause(): void
  resume(): void
  /** Ends it and leaves no file. */
  cancel(): void
}

/** A page of a download: the articles as the API writes them. */
interface Page {
  articles: Record<string, unknown>[]
  next: string | null
  total: number
  estimate: boolean
}

/** Where a download stands: all that it needs to go on. */
interface Place {
  /** null: all is written. */
  cursor: string | null
  written: number
  total: number
  estimate: boolean
}

interface DownloadOptions {
  search: Search
  key: string
  format: Format
  sink: Sink
  tell(progress: Progress): void
}

/**
 * Writes all articles of a search to a file by walking the cursor, one request after another. It
 * waits when the API says so, and keeps its place when it is paused or the network is away.
 */
export function startDownload(options: DownloadOptions): Download {
  const { sink, tell } = options
  const place: Place = { cursor: '', written: 0, total: 0, estimate: false }
  let step = new AbortController()
  let last = Promise.resolve()

  function run(): void {
    step = new AbortController()
    const { signal } = step
    // A page may still be on its way to the file.
    const work = last.then(() => walk(options, place, signal))
    last = work.catch(async error => {
      if (signal.aborted) return
      await sink.abort().catch(() => {})
      if (error instanceof TooLarge) tell({ kind: 'tooLarge', written: place.written })
      else tell({ kind: 'paused', ...seen(place), failure: null })
    })
  }

  run()
  return {
    pause() {
      step.abort()
      tell({ kind: 'paused', ...seen(place), failure: null })
    },
    resume: run,
    cancel() {
      step.abort()
      sink.abort().catch(() => {})
    },
  }
}

const seen = ({ written, total, estimate }: Place) => ({ written, total, estimate })

/** Writes from the place on, to the end or to what is in the way. */
async function walk(options: DownloadOptions, place: Place, signal: AbortSignal): Promise<void> {
  const { search, key, format, sink, tell } = options
  const writer = WRITERS[format]
  while (place.cursor !== null) {
    tell({ kind: 'running', ...seen(place) })
    const answer = await askPage(search, key, place.cursor, signal)
    if (answer.kind === 'unchanged') return
    if (answer.kind === 'failure') {
      if (answer.code !== 'rate_limit_exceeded') return tell({ kind: 'paused', ...seen(place), failure: answer })
      await waitFor((answer.retryAfter ?? 60) * 1_000, signal, until =>
        tell({ kind: 'waiting', ...seen(place), until }),
      )
      continue
    }
    const { articles, next, total, estimate } = answer.value
    await sink.write((place.cursor === '' ? writer.head : '') + articles.map(writer.line).join(''))
    Object.assign(place, { cursor: next, written: place.written + articles.length, total, estimate })
  }
  await sink.close()
  tell({ kind: 'done', written: place.written })
}

const PER_PAGE = '100'

function askPage(search: Search, key: string, cursor: string, signal: AbortSignal) {
  const parameters = writeSearch(search)
  parameters.set('per_page', PER_PAGE)
  if (cursor !== '') parameters.set('cursor', cursor)
  return ask(`/v1/articles?${parameters}`, readPage, { key, signal })
}

function readPage(json: unknown): Page | null {
  if (!isRecord(json) || !Array.isArray(json.articles)) return null
  return {
    articles: json.articles.filter(isRecord),
    next: typeof json.next_cursor === 'string' ? json.next_cursor : null,
    total: typeof json.total_results === 'number' ? json.total_results : 0,
    estimate: json.total_results_is_estimate === true,
  }
}

function waitFor(ms: number, signal: AbortSignal, tell: (until: number) => void): Promise<void> {
  tell(performance.now() + ms)
  return new Promise((resolve, reject) => {
    const end = setTimeout(resolve, ms)
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(end)
        reject(signal.reason)
      },
      { once: true },
    )
  })
}
