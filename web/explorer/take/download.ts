import type { ArticleObject } from '#services/api/contract/resources'
import { CSV_COLUMNS, csvHead, csvLine } from '#shared/articles/csv'
import type { Search } from '#web/explorer/search/search'
import { askCopies, askPage, type First, parametersOf } from '#web/explorer/search/use-results'
import type { Failure } from '#web/parts/request'
import { rest } from '#web/parts/time'

/*
 * A download loads the pages of a search, so the plan's minute limits its speed. It can pause, wait
 * and continue. It needs little memory where the browser can write to a file.
 */

export type Progress =
  | ({ kind: 'running' } & Seen)
  /**
   * The plan's minute is used up. The download continues by itself at `until`, in ms of the page's
   * clock.
   */
  | ({ kind: 'waiting'; until: number } & Seen)
  /**
   * `failure`: the request that failed. Null: the reader paused the download, or the file could not
   * be written.
   */
  | ({ kind: 'paused'; failure: Failure | null } & Seen)
  | { kind: 'done'; written: number }
  | { kind: 'tooLarge'; written: number }

export interface Download {
  pause(): void
  resume(): void
  /** Ends the download and leaves no file. */
  cancel(): void
}

/** The place of a download: everything that it needs to continue. */
interface Reached extends Seen {
  /** null: everything is written. */
  cursor: string | null
  /** The page at the cursor, whose copies are still missing; it is not requested again. */
  page: First['page'] | null
}

interface Seen {
  written: number
  total: number
  estimate: boolean
}

interface DownloadOptions {
  search: Search
  format: Format
  sink: Sink
  tell(progress: Progress): void
}

/**
 * Writes all articles of a search to a file, page by page. It waits when the API says so, and keeps
 * its place when it is paused or the network is down.
 */
export function startDownload(options: DownloadOptions): Download {
  const { sink, tell } = options
  const place: Reached = { cursor: '', page: null, written: 0, total: 0, estimate: false }
  const writing = WRITERS[options.format].open()
  let step = new AbortController()
  let last = Promise.resolve()

  function run(): void {
    step = new AbortController()
    const { signal } = step
    // The previous run may still be writing a page to the file.
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
    cancel() {
      step.abort()
      sink.abort().catch(() => {})
    },
  }
}

const seen = ({ written, total, estimate }: Seen) => ({ written, total, estimate })

/**
 * A page of 100 articles. Each article gets its agencies, and the id of the first article with the
 * same text.
 */
async function askBoth(search: Search, place: Reached, signal: AbortSignal) {
  const cursor = place.cursor || null
  if (place.page === null) {
    const answer = await askPage(search, cursor, { signal }, 100)
    if (answer.kind === 'failure' || answer.value.articles.length === 0) return answer
    place.page = answer.value
  }
  const { page } = place
  const copies = await askCopies(String(parametersOf(search, cursor, 100)), { signal })
  if (copies.kind === 'failure') return copies
  const byId = new Map(
    copies.value.data.map(({ id, first, agencies }) => [id, { first, agencies }]),
  )
  return {
    ...copies,
    value: { ...page, articles: page.articles.map(one => ({ ...one, ...byId.get(one.id) })) },
  }
}

/** Writes from the place on, until the end or a failure. */
async function walk(
  options: DownloadOptions,
  writing: Writing,
  place: Reached,
  signal: AbortSignal,
): Promise<void> {
  const { search, sink, tell } = options
  while (place.cursor !== null) {
    tell({ kind: 'running', ...seen(place) })
    const answer = await askBoth(search, place, signal)
    if (answer.kind === 'failure') {
      if (answer.code !== 'rate_limit_exceeded')
        return tell({ kind: 'paused', ...seen(place), failure: answer })
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

/** The target of a download. */
interface Sink {
  write(part: Part): Promise<void>
  /** Completes the file. */
  close(): Promise<void>
  /** Removes the file. */
  abort(): Promise<void>
}

/**
 * The most characters or bytes that are kept in memory, in a browser that cannot write to a file.
 */
const MEMORY_LIMIT = 100_000_000

/** The download has become too large for the memory. */
class TooLarge extends Error {}

/**
 * Asks the reader for a file, if the browser can write to a file part by part. Otherwise it keeps
 * the parts in memory, within a limit, and saves them when all are there.
 *
 * @returns null: the reader has cancelled
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

/** Saves a file like a download of the browser. */
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

/** A format of files for articles. */
interface Writer {
  type: string
  open(): Writing
}

interface Writing {
  /** The next part of the file. It is empty while the format collects more articles. */
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
  // The byte-order mark tells spreadsheets that the file is UTF-8.
  csv: {
    type: 'text/csv',
    open: lines(`\uFEFF${csvHead(COLUMNS)}`, article => csvLine(article, COLUMNS)),
  },
  /** The article object of the API, one a line. */
  ndjson: {
    type: 'application/x-ndjson',
    open: lines('', article => `${JSON.stringify(article)}\n`),
  },
  parquet: {
    type: 'application/vnd.apache.parquet',
    open() {
      // This module is a separate file, so that the first view does not wait for it.
      const parquet = import('#shared/articles/parquet').then(made => made.createParquet(COLUMNS))
      return {
        add: async articles => (await parquet).add(articles),
        end: async () => (await parquet).end(),
      }
    },
  },
}
