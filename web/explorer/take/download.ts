import type { ArticleObject } from '../../../services/api/contract/resources.ts'
import { CSV_COLUMNS, csvHead, csvLine } from '../../../shared/articles/csv.ts'
import type { Asking, Failure } from '../../parts/request.ts'
import { rest } from '../../parts/time.ts'
import type { Search } from '../search/search.ts'
import { askCopies, askPage, type First, parametersOf } from '../search/use-results.ts'

/*
 * A download walks the pages of a search, so it takes as long as the plan's minute allows. It can
 * pause, wait and go on, and holds no more in memory than it must.
 */

export type Progress =
  | ({ kind: 'running' } & Seen)
  /** The plan's minute is used up; it goes on by itself at `until`, in ms of the page's clock. */
  | ({ kind: 'waiting'; until: number } & Seen)
  /**
   * `failure` is the request that failed. Null: the reader paused the download, or the file could
   * not be written.
   */
  | ({ kind: 'paused'; failure: Failure | null } & Seen)
  | { kind: 'done'; written: number }
  | { kind: 'tooLarge'; written: number }

export type Download = ReturnType<typeof startDownload>

/** Where a download stands: all that it needs to go on. */
interface Reached extends Seen {
  /** null: all is written. */
  cursor: string | null
  /** The page at the cursor whose copies are not known yet; it is not asked for again. */
  page: First['page'] | null
}

interface Seen {
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
export function startDownload(options: DownloadOptions) {
  const { sink, tell } = options
  const place: Reached = { cursor: '', page: null, written: 0, total: 0, estimate: false }
  const writing = WRITERS[options.format].open()
  let step = new AbortController()
  let last = Promise.resolve()

  function run(): void {
    step = new AbortController()
    const { signal } = step
    // The run before may still be writing a page to the file.
    const work = last.then(() => walk(options, writing, place, signal))
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
    /** Ends it and leaves no file. */
    cancel() {
      step.abort()
      sink.abort().catch(() => {})
    },
  }
}

const seen = ({ written, total, estimate }: Seen) => ({ written, total, estimate })

/** A page of 100 articles. Each has its agencies, and the first article that has the same text. */
async function askBoth(search: Search, place: Reached, asking: Asking) {
  const cursor = place.cursor || null
  if (place.page === null) {
    const answer = await askPage(search, cursor, asking, 100)
    if (answer.kind === 'failure' || answer.value.articles.length === 0) return answer
    place.page = answer.value
  }
  const { page } = place
  const copies = await askCopies(String(parametersOf(search, cursor, 100)), asking)
  if (copies.kind === 'failure') return copies
  const byId = new Map(copies.value.data.map(({ id, first, agencies }) => [id, { first, agencies }]))
  return { ...copies, value: { ...page, articles: page.articles.map(one => ({ ...one, ...byId.get(one.id) })) } }
}

/** Writes from the place on, until the end or an obstacle. */
async function walk(options: DownloadOptions, writing: Writing, place: Reached, signal: AbortSignal): Promise<void> {
  const { search, key, sink, tell } = options
  while (place.cursor !== null) {
    tell({ kind: 'running', ...seen(place) })
    const answer = await askBoth(search, place, { key, signal })
    if (answer.kind === 'failure') {
      if (answer.code !== 'rate_limit_exceeded') return tell({ kind: 'paused', ...seen(place), failure: answer })
      const ms = (answer.retryAfter ?? 60) * 1_000
      tell({ kind: 'waiting', ...seen(place), until: performance.now() + ms })
      await rest(ms, signal)
      continue
    }
    const { articles, next_cursor, total_results, total_results_is_estimate } = answer.value
    await sink.write(await writing.add(articles))
    place.written += articles.length
    Object.assign(place, {
      cursor: next_cursor,
      page: null,
      total: total_results,
      estimate: total_results_is_estimate === true,
    })
  }
  await sink.write(await writing.end())
  await sink.close()
  tell({ kind: 'done', written: place.written })
}

type Part = string | Uint8Array<ArrayBuffer>

/** Where a download is written to. */
interface Sink {
  write(part: Part): Promise<void>
  /** Completes the file. */
  close(): Promise<void>
  /** Leaves no file. */
  abort(): Promise<void>
}

/** Most that is kept in memory where the browser cannot write to a file, in characters or bytes. */
const MEMORY_LIMIT = 100_000_000

/** The download has become too large for the memory. */
class TooLarge extends Error {}

/**
 * Asks the reader for a file, if the browser can write to one part by part. Otherwise keeps the
 * parts in memory, within a limit, and saves them when all are there.
 *
 * @returns null: the reader has changed their mind
 */
export async function openSink(name: string, type: string): Promise<Sink | null> {
  const pick = window.showSaveFilePicker
  if (pick === undefined) return memorySink(name, type)
  try {
    const extension = name.slice(name.lastIndexOf('.'))
    const handle = await pick.call(window, {
      suggestedName: name,
      types: [{ description: extension.slice(1).toUpperCase(), accept: { [type]: [extension] } }],
    })
    return await handle.createWritable()
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') return null
    return memorySink(name, type)
  }
}

function memorySink(name: string, type: string): Sink {
  let parts: Part[] = []
  let size = 0
  return {
    async write(part) {
      size += part.length
      if (size > MEMORY_LIMIT) throw new TooLarge()
      parts.push(part)
    },
    async close() {
      saveFile(new Blob(parts, { type }), name)
      parts = []
    },
    async abort() {
      parts = []
    },
  }
}

/** Saves a file as the browser saves downloads. */
export function saveFile(file: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(file)
  link.download = name
  link.click()
  // By then the browser has opened the file.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}

export const FORMATS = ['csv', 'ndjson', 'parquet'] as const
export type Format = (typeof FORMATS)[number]

/** How articles are written to a file. */
interface Writer {
  type: string
  open(): Writing
}

interface Writing {
  /** What to write now. It is empty when the format first gathers more articles. */
  add(articles: readonly ArticleObject[]): Promise<Part>
  end(): Promise<Part>
}

const COLUMNS = CSV_COLUMNS.filter(name => name !== 'body')

const lines = (head: string, lineOf: (article: ArticleObject) => string) => (): Writing => {
  let next = head
  return {
    async add(articles) {
      const text = next + articles.map(lineOf).join('')
      next = ''
      return text
    },
    end: async () => '',
  }
}

export const WRITERS: Record<Format, Writer> = {
  // The mark at the beginning tells spreadsheets that the file is UTF-8.
  csv: { type: 'text/csv', open: lines(`\uFEFF${csvHead(COLUMNS)}`, article => csvLine(article, COLUMNS)) },
  /** The article object of the API, one a line. */
  ndjson: { type: 'application/x-ndjson', open: lines('', article => `${JSON.stringify(article)}\n`) },
  parquet: {
    type: 'application/vnd.apache.parquet',
    open() {
      // The first view does not wait for this module.
      const parquet = import('../../../shared/articles/parquet.ts').then(made => made.createParquet(COLUMNS))
      return { add: async articles => (await parquet).add(articles), end: async () => (await parquet).end() }
    },
  },
}
