import { setImmediate } from 'node:timers/promises'
import type { PgBoss } from 'pg-boss'
import type { Indexer } from '../../search/indexer.ts'
import { type Client, type Pool, transaction } from '../postgres/pool.ts'
import { scheduleEmbedding } from '../queues/delayed-jobs.ts'
import { claimIdentities } from './identity.ts'
import { insertArticles, type PreparedArticle, prepareArticle } from './insertion.ts'
import type { Indexed, NewArticle } from './new-article.ts'
import { registerNames } from './outlets-and-authors.ts'
import { ensurePartitions } from './partitions.ts'
import { storable } from './text.ts'

/** Articles made visible by one transaction: more gain nothing and hold the clock longer. */
export const BATCH = 50

/**
 * Where many more follow at once, larger batches cost the database less. They grow and shrink with
 * the time of the transactions: others wait for the clock meanwhile.
 */
const BULK = { most: 200, quick: 50, slow: 100 }

/** Makes articles visible to searches. */
export interface ArticleWriter {
  /**
   * Writes articles in batches of at most 50, or 200 with `bulk`. Each batch is written whole or
   * not at all, with its delayed embedding jobs. An article that is stored already, under any of
   * its addresses, is `known` and stays as it is. Results stand in the order of `articles`.
   * Articles that are written later have later stamps (decision 23).
   *
   * @throws the database's error; earlier batches stay
   */
  write(articles: NewArticle[], options?: WriteOptions): Promise<Indexed[]>
}

export interface WriteOptions {
  /**
   * More work for the same transaction, once for each batch, before its articles are numbered. The
   * normaliser marks pages as done. Results stand in the order of the batch's articles.
   */
  within?: (client: Client, results: Outcome[], articles: NewArticle[]) => Promise<void>
  /**
   * Many more articles follow at once, so batches are larger, and the writer waits while too many
   * articles have no segment.
   */
  bulk?: boolean
}

export type Outcome = Pick<Indexed, 'outcome' | 'id'>

interface WriterParts {
  pool: Pool
  boss: PgBoss
  indexer: Indexer
  /** ms until the articles are to be embedded. */
  embedDelay: number
}

export function openArticleWriter(parts: WriterParts): ArticleWriter {
  const { pool, indexer } = parts
  const partitions = createPartitionRoom(pool)
  const bulk = createBulkSize()
  return {
    async write(articles, options = {}) {
      const batches = split(articles.map(storableNames), options.bulk ? bulk.size() : BATCH)
      const results: Indexed[] = []
      const prepare = async (batch: NewArticle[]) => {
        await partitions.ensure()
        return prepareBatch(pool, batch)
      }
      // While the database inserts a batch, the next one is tokenised.
      let next = batches[0] === undefined ? null : prepare(batches[0])
      for (let number = 1; next !== null; number++) {
        const inserting = insertBatch(parts, await next, { ...options, took: bulk.note })
        const following = batches[number]
        next = following === undefined ? null : prepare(following)
        next?.catch(() => {}) // reported when its turn comes
        const inserted = await inserting
        partitions.note(inserted)
        results.push(...inserted)
        await indexer.notify(partitions.last(), options.bulk ?? false)
      }
      return results
    },
  }
}

/**
 * Makes an article's names storable in Postgres, as `prepareText` does for its texts. One bad name
 * would fail a whole batch.
 */
function storableNames(article: NewArticle): NewArticle {
  const { authors, outlet } = article
  const { name, domain } = outlet
  if ([...authors, name ?? '', domain ?? ''].every(one => storable(one) === one)) return article
  return {
    ...article,
    authors: authors.map(storable),
    outlet: { name: name && storable(name), domain: domain && storable(domain) },
  }
}

/**
 * Text of one transaction, in code units: a batch of megabytes would hold the clock for seconds.
 */
const BATCH_TEXT = 1_000_000

function split(articles: NewArticle[], most: number): NewArticle[][] {
  const batches: NewArticle[][] = []
  let text = 0
  for (const article of articles) {
    const length = article.prepared?.units ?? article.title.length + (article.body?.length ?? 0)
    const last = batches.at(-1)
    if (last === undefined || last.length === most || text + length > BATCH_TEXT) {
      batches.push([article])
      text = length
    } else {
      last.push(article)
      text += length
    }
  }
  return batches
}

/** The size of the next batches with `bulk`. */
function createBulkSize() {
  let size = BATCH
  return {
    size: () => size,
    /** @param ms that a transaction took */
    note(ms: number) {
      if (ms > BULK.slow) size = Math.max(BATCH, size / 2)
      else if (ms < BULK.quick) size = Math.min(BULK.most, size * 2)
    },
  }
}

interface Batch {
  articles: NewArticle[]
  prepared: PreparedArticle[]
}

/** ms after which the event loop runs others; a single article of megabytes may take longer. */
const SLICE = 5

async function prepareBatch(pool: Pool, articles: NewArticle[]): Promise<Batch> {
  const names = await registerNames(pool, articles)
  const prepared: PreparedArticle[] = []
  let start = performance.now()
  for (const article of articles) {
    prepared.push(prepareArticle(article, names))
    if (performance.now() - start < SLICE) continue
    await setImmediate()
    start = performance.now()
  }
  return { articles, prepared }
}

/**
 * Two writers that claim each other's ids in opposite order can deadlock; one of them tries again.
 */
const ATTEMPTS = 3

async function insertBatch(
  { pool, boss, embedDelay }: WriterParts,
  { articles, prepared }: Batch,
  { within, took }: WriteOptions & { took: (ms: number) => void },
): Promise<Indexed[]> {
  const insert = async (client: Client): Promise<Indexed[]> => {
    const claims = await claimIdentities(client, articles)
    const outcomes = claims.map(({ id, known }): Outcome => ({ outcome: known ? 'known' : 'indexed', id }))
    await within?.(client, outcomes, articles)
    const added = claims.flatMap(({ id, known }, index) => (known ? [] : [{ ...prepared[index]!, id }]))
    if (added.length === 0) return withNumbers(outcomes, 0n)
    const first = await insertArticles(client, added, new Date(Date.now() + embedDelay))
    const numbered = withNumbers(outcomes, first)
    const seqs = numbered.flatMap(result => (result.outcome === 'indexed' ? [result.seq] : []))
    await scheduleEmbedding(boss, client, seqs, embedDelay)
    return numbered
  }
  for (let attempt = 1; ; attempt++) {
    try {
      const start = performance.now()
      const indexed = await transaction(pool, insert)
      took(performance.now() - start)
      return indexed
    } catch (error) {
      const deadlocked = error instanceof Error && 'code' in error && error.code === '40P01'
      if (!deadlocked || attempt === ATTEMPTS) throw error
    }
  }
}

function withNumbers(outcomes: Outcome[], first: bigint): Indexed[] {
  let next = first
  return outcomes.map(({ outcome, id }) => (outcome === 'known' ? { outcome, id } : { outcome, id, seq: next++ }))
}

/** Far more articles than all processes together write between two checks of the clock. */
const MARGIN = 524_288n

/** Makes sure that the articles of the next batches have a partition. */
function createPartitionRoom(pool: Pool) {
  /** `seq` of the newest known article, and the `seq` up to which partitions exist. */
  let known: { last: bigint; room: bigint } | null = null
  return {
    async ensure() {
      if (known !== null && known.last + MARGIN < known.room) return
      const { rows } = await pool.query<{ last_seq: bigint }>('select last_seq from ingest_clock')
      const last = rows[0]!.last_seq
      known = { last, room: await ensurePartitions(pool, last) }
    },
    note(results: Indexed[]) {
      for (const result of results) {
        if (known !== null && result.outcome === 'indexed' && result.seq > known.last) known.last = result.seq
      }
    },
    last: () => known?.last ?? 0n,
  }
}
