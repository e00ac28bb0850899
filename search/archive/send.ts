import { setTimeout as pause } from 'node:timers/promises'
import { createNameCache } from '../cache/names.ts'
import type { Filled } from '../store/archive-store.ts'
import type { ArticleSource, ArticleWords } from '../store/article-source.ts'
import type { SegmentRange } from '../store/segment-store.ts'
import { recordOf } from './answers.ts'
import { type ArchiveClient, ArchiveFailure } from './client.ts'
import { createDocuments } from './documents.ts'
import { writingAlias } from './indices.ts'

/** Sends articles to indices. */
export interface Sender {
  /**
   * Sends the articles of a range; those that the index has already are replaced.
   *
   * @returns the times of the articles; null: it was interrupted
   */
  send(index: string, range: SegmentRange, signal: AbortSignal): Promise<Filled | null>
}

/** Articles that are read at a time. */
const PART = 512n
/** Characters of one request, unless an article alone is longer. */
const REQUEST = 4_000_000
/** Requests at a time: OpenSearch works on one while the next is made. */
const AT_ONCE = 2
/** Bytes of names that are kept. */
const NAMES = 16_000_000
/** ms for one request, with all tries. */
const WITHIN = 300_000
const EACH = 60_000
/** Tries of a request of which OpenSearch refused a part, with growing pauses: some minutes. */
const TRIES = 8

export function createSender({
  client,
  source,
  worked,
}: {
  client: ArchiveClient
  source: ArticleSource
  worked(articles: number): Promise<void>
}): Sender {
  const names = createNameCache(source, NAMES)
  const documentOf = createDocuments()

  /** Each article as the two lines of a bulk request. */
  async function* linesOf(range: SegmentRange, filled: Filled): AsyncGenerator<string> {
    const articles = await source.readSources(range)
    const words = new Map<bigint, ArticleWords>()
    for await (const one of source.readWords(range)) words.set(one.seq, one)
    const named = await names.read(
      articles.map(article => article.publisherNo),
      articles.flatMap(article => article.authorNos),
    )
    for (const article of articles) {
      const own = words.get(article.seq)
      if (own === undefined) throw new Error(`article ${article.seq} has no words; run "npm run reindex" first`)
      extend(filled, article)
      yield `{"index":{"_id":"${article.seq}"}}\n${JSON.stringify(documentOf(article, own, named))}\n`
    }
  }
  return {
    async send(index, range, signal) {
      const filled: Filled = { published: null, ingested: null, undated: 0 }
      const pipe = createPipe(body => sendBulk(client, index, body))
      try {
        for (const part of partsOf(range)) {
          if (signal.aborted) return null
          for await (const lines of linesOf(part, filled)) await pipe.add(lines)
          await worked(Number(part.last - part.first) + 1)
        }
      } finally {
        await pipe.end()
      }
      return filled
    },
  }
}

/** Gathers lines into requests, and sends a few at a time. */
function createPipe(send: (body: string) => Promise<void>) {
  let lines: string[] = []
  let length = 0
  const running = new Set<Promise<void>>()
  const flush = async () => {
    if (lines.length === 0) return
    const body = lines.join('')
    lines = []
    length = 0
    while (running.size >= AT_ONCE) await Promise.race(running)
    const sending = send(body)
    running.add(sending)
    // A failure is told by the race or by the end, which wait for it.
    const remove = () => void running.delete(sending)
    sending.then(remove, () => {})
  }
  return {
    async add(text: string) {
      if (length + text.length > REQUEST) await flush()
      lines.push(text)
      length += text.length
    },
    async end() {
      await flush()
      await Promise.all(running)
    },
  }
}

function* partsOf({ first, last }: SegmentRange): Generator<SegmentRange> {
  for (let from = first; from <= last; from += PART) {
    const to = from + PART - 1n
    yield { first: from, last: to < last ? to : last }
  }
}

function extend(filled: Filled, { published, ingested }: { published: number | null; ingested: number | null }): void {
  filled.published = including(filled.published, published)
  filled.ingested = including(filled.ingested, ingested)
  if (published === null) filled.undated++
}

function including(span: Filled['published'], time: number | null): Filled['published'] {
  if (time === null) return span
  if (span === null) return { first: time, last: time }
  return { first: Math.min(span.first, time), last: Math.max(span.last, time) }
}

/** @throws ArchiveFailure when OpenSearch refuses an article for good */
async function sendBulk(client: ArchiveClient, index: string, body: string): Promise<void> {
  const path = `/${writingAlias(index)}/_bulk?require_alias=true&filter_path=errors,items.*.status,items.*.error.reason`
  for (let attempt = 1; ; attempt++) {
    const answer = recordOf(await client.send({ method: 'POST', path, body, within: WITHIN, each: EACH }))
    if (answer.errors === false) return
    const { status, reason } = firstRefusal(answer.items)
    const isBusy = status === 429 || status === 503
    if (!isBusy || attempt === TRIES)
      throw new ArchiveFailure(`OpenSearch refused an article of ${index} (${status}: ${reason}).`, status)
    await pause(500 * 2 ** attempt)
  }
}

function firstRefusal(items: unknown): { status: number; reason: string } {
  for (const item of Array.isArray(items) ? items : []) {
    const { status, error } = recordOf(recordOf(item).index)
    if (typeof status === 'number' && status >= 300) return { status, reason: String(recordOf(error ?? {}).reason) }
  }
  return { status: 0, reason: 'no reason was given' }
}
