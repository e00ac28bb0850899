import { setTimeout as pause } from 'node:timers/promises'
import { createNameCache } from '../cache/stored-articles.ts'
import type { ArticleSource, ArticleWords } from '../store/article-source.ts'
import { partsOf, type SegmentRange } from '../store/segment-store.ts'
import { numberOf, recordOf } from './answers.ts'
import { type ArchiveClient, ArchiveFailure } from './client.ts'
import { documentOf, type IndexShape, indexBody } from './documents.ts'
import type { ArchiveStore, Filled } from './state.ts'

/** How many articles are read from Postgres at a time. */
const PART = 512n
/** The most characters of one request. A longer article gets a request of its own. */
const REQUEST = 4_000_000
/** The most bytes of names that are kept. */
const NAMES = 16_000_000
/** `WITHIN`: ms for one request with all its tries. `EACH`: ms for one try. */
const WITHIN = 300_000
const EACH = 60_000
/**
 * The most tries of a bulk request while OpenSearch is too busy for some of its articles. The
 * pauses between the tries grow, and take some minutes together.
 */
const TRIES = 8

export interface Sender {
  /**
   * Sends the articles of a range. An article that the index has already is replaced.
   *
   * @returns the times of the articles; null: `signal` interrupted it
   */
  send(index: string, range: SegmentRange, signal: AbortSignal): Promise<Filled | null>
}

/** Sends articles to indices. */
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

  /** Makes the two lines of a bulk request for each article. */
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
      if (own === undefined)
        throw new Error(`article ${article.seq} has no words; run "npm run reindex" first`)
      extend(filled, article)
      yield `{"index":{"_id":"${article.seq}"}}\n${JSON.stringify(documentOf(article, own, named))}\n`
    }
  }
  return {
    async send(index, range, signal) {
      const filled: Filled = { published: null, ingested: null, undated: 0 }
      const pipe = createPipe(body => sendBulk(client, index, body))
      try {
        for (const part of partsOf(range, PART)) {
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

/** Gathers lines into requests. While OpenSearch works on one request, the next one is made. */
function createPipe(send: (body: string) => Promise<void>) {
  let lines: string[] = []
  let length = 0
  let sending: Promise<void> = Promise.resolve()
  const flush = async () => {
    await sending
    if (lines.length === 0) return
    sending = send(lines.join(''))
    sending.catch(() => {}) // the next `await sending` reports it
    lines = []
    length = 0
  }
  return {
    async add(text: string) {
      if (length + text.length > REQUEST) await flush()
      lines.push(text)
      length += text.length
    },
    async end() {
      await flush()
      await sending
    },
  }
}

function extend(
  filled: Filled,
  { published, ingested }: { published: number | null; ingested: number | null },
): void {
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
    const answer = recordOf(
      await client.send({ method: 'POST', path, body, within: WITHIN, each: EACH }),
    )
    if (answer.errors === false) return
    const { status, reason } = firstRefusal(answer.items)
    const isBusy = status === 429 || status === 503
    if (!isBusy || attempt === TRIES)
      throw new ArchiveFailure(
        `OpenSearch refused an article of ${index} (${status}: ${reason}).`,
        status,
      )
    await pause(500 * 2 ** attempt)
  }
}

function firstRefusal(items: unknown): { status: number; reason: string } {
  for (const item of Array.isArray(items) ? items : []) {
    const { index, delete: deleted } = recordOf(item)
    const { status, error } = recordOf(index ?? deleted)
    if (typeof status === 'number' && status >= 300)
      return { status, reason: String(recordOf(error ?? {}).reason) }
  }
  return { status: 0, reason: 'no reason was given' }
}

/**
 * ms for requests that make, delete, refresh or count an index. The limit is long, because other
 * requests may keep the nodes busy.
 */
const WITHIN_INDICES = 120_000

/**
 * The alias under which articles are sent to an index. When the index is lost, OpenSearch refuses
 * articles for the alias. For the name of the index, it would make an empty index by itself.
 */
const writingAlias = (index: string) => `${index}-w`

/** The most numbers of one clause. */
const CLAUSE = 10_000

/** Clauses that match the documents of some articles. */
export const among = (seqs: number[]): object[] =>
  Array.from({ length: Math.ceil(seqs.length / CLAUSE) }, (_, at) => ({
    terms: { seq: seqs.slice(at * CLAUSE, (at + 1) * CLAUSE) },
  }))

/** Deletes the documents of articles, also those that no search finds yet. */
export async function deleteDocuments(
  client: ArchiveClient,
  index: string,
  seqs: number[],
): Promise<void> {
  for (let from = 0; from < seqs.length; from += CLAUSE) {
    const part = seqs.slice(from, from + CLAUSE)
    const lines = part.map(seq => `{"delete":{"_id":"${seq}"}}\n`)
    await sendBulk(client, index, lines.join('')).catch(error => {
      // What was lost has no words.
      if (!isMissing(error)) throw error
    })
  }
}

/** Whether an index has the document of an article, searchable or not yet. */
export async function hasDocument(
  client: ArchiveClient,
  index: string,
  seq: bigint,
): Promise<boolean> {
  try {
    await client.send({ method: 'GET', path: `/${index}/_doc/${seq}?_source=false` })
    return true
  } catch (error) {
    if (isMissing(error)) return false
    throw error
  }
}

/** ms until the documents of an index are gone from its disks, and between two looks. */
const WITHIN_PURGE = 3_600_000
const LOOK_AGAIN = 3_000

/**
 * Writes those parts of an index again that have deleted documents. OpenSearch keeps a deleted
 * document until a merge, and until no lease of a copy wants it, which takes twelve hours. With a
 * short lease it takes half a minute.
 *
 * @throws ArchiveFailure when deleted documents are still there
 */
export async function purge(
  client: ArchiveClient,
  name: string,
  signal: AbortSignal,
): Promise<void> {
  const send = async (method: 'GET' | 'POST' | 'PUT', path: string, body?: object) =>
    recordOf(
      await client.send({
        method,
        path: `/${name}/${path}`,
        within: WITHIN_INDICES,
        ...(body && { body: JSON.stringify(body) }),
      }),
    )
  const lease = (period: string | null) =>
    send('PUT', '_settings', {
      'index.merge.policy.expunge_deletes_allowed': 0,
      'index.soft_deletes.retention_lease.period': period,
    })
  const end = performance.now() + WITHIN_PURGE
  try {
    await lease('1s')
    for (;;) {
      const all = recordOf((await send('GET', '_stats/docs,merge'))._all)
      const { docs, merges } = recordOf(all.total)
      if (numberOf(recordOf(docs).deleted) === 0) break
      if (signal.aborted || performance.now() > end)
        throw new ArchiveFailure(`${name} still has deleted documents.`, null)
      if (numberOf(recordOf(merges).current) === 0) {
        await send('POST', '_flush?force=true')
        await send('POST', '_forcemerge?only_expunge_deletes=true&wait_for_completion=false')
      }
      await pause(LOOK_AGAIN)
    }
    // The files of before stay until no search and no commit needs them.
    await send('POST', '_refresh')
    await send('POST', '_flush?force=true')
    await lease(null)
  } catch (error) {
    if (!isMissing(error)) throw error
  }
}

/** Makes an index, unless it exists. */
export async function createIndex(
  client: ArchiveClient,
  name: string,
  shape: IndexShape,
): Promise<void> {
  try {
    const body = JSON.stringify({ ...indexBody(shape), aliases: { [writingAlias(name)]: {} } })
    await client.send({ method: 'PUT', path: `/${name}`, body, within: WITHIN_INDICES })
  } catch (error) {
    const isThere =
      error instanceof ArchiveFailure && error.message.includes('resource_already_exists_exception')
    if (!isThere) throw error
  }
}

/** Deletes an index, if it exists. */
export async function deleteIndex(client: ArchiveClient, name: string): Promise<void> {
  try {
    await client.send({ method: 'DELETE', path: `/${name}`, within: WITHIN_INDICES })
  } catch (error) {
    if (!isMissing(error)) throw error
  }
}

const isMissing = (error: unknown) => error instanceof ArchiveFailure && error.status === 404

/**
 * Makes all articles that were sent to an index searchable, on every copy of its shards. Then
 * checks that the index has every article of the range.
 *
 * @param readRemoved reads which articles of a range were taken out
 * @throws ArchiveFailure when a shard was not refreshed, or an article is missing
 */
export async function makeSearchable(
  client: ArchiveClient,
  name: string,
  range: SegmentRange,
  readRemoved: ArchiveStore['readRemoved'],
): Promise<void> {
  const { _shards: shards } = recordOf(
    await client.send({ method: 'POST', path: `/${name}/_refresh`, within: WITHIN_INDICES }),
  )
  const { failed, successful } = recordOf(shards)
  if (failed !== 0 || numberOf(successful) < 1)
    throw new ArchiveFailure(
      `A shard of ${name} was not refreshed; the same command goes on.`,
      null,
    )
  if (await hasAll(client, name, range, readRemoved)) return
  throw new ArchiveFailure(
    `${name} misses articles that were put into it; the same command builds it anew.`,
    null,
  )
}

/** Whether an index has every article of a range, beside those that were taken out. */
export async function hasAll(
  client: ArchiveClient,
  name: string,
  range: SegmentRange,
  readRemoved: ArchiveStore['readRemoved'],
): Promise<boolean> {
  const first = Number(range.first)
  const last = Number(range.last)
  const filter = [{ range: { seq: { gte: first, lte: last } } }]
  const query = { bool: { filter, must_not: among(await readRemoved(range)) } }
  try {
    const path = `/${name}/_count`
    const answer = recordOf(
      await client.send({
        method: 'POST',
        path,
        body: JSON.stringify({ query }),
        within: WITHIN_INDICES,
      }),
    )
    if (recordOf(answer._shards).failed !== 0)
      throw new ArchiveFailure(
        `A shard of ${name} is away; run the same command when OpenSearch is whole.`,
        null,
      )
    // `seq` has no gaps, so the number of documents tells whether one is missing. Others may have
    // been taken out meanwhile.
    const { length: removed } = await readRemoved(range)
    return numberOf(answer.count) + removed > last - first
  } catch (error) {
    if (isMissing(error)) return false
    throw error
  }
}
