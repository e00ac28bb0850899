import { setImmediate } from 'node:timers/promises'
import type { PgBoss } from 'pg-boss'
import { sealWhenDue } from '../../../search/merge/scheduler.ts'
import type { Client, Pool } from '../../postgres/pool.ts'
import { transaction } from '../../postgres/transaction.ts'
import { promiseEmbedding } from '../../promises/boss.ts'
import type { Indexed, NewArticle } from '../article.ts'
import { claimIdentities } from './identity.ts'
import { insertArticles, type PreparedArticle, prepareArticle } from './insertion.ts'
import { ensurePartitions } from './partitions.ts'
import { registerPeople } from './people.ts'
import { storable } from './text.ts'

/** Articles made visible by one transaction: more gain nothing and hold the clock longer. */
export const BATCH = 50

export interface IndexOptions {
  /** ms until the articles are to be embedded. */
  embedDelay: number
  /**
   * More work for the same transaction, once for each batch, before its articles are numbered: marks pages as done.
   * Results stand in the order of the batch's articles.
   */
  within?: (client: Client, results: Outcome[], articles: NewArticle[]) => Promise<void>
  /** Many more articles are to follow at once: waits when too many of them are without a segment. */
  bulk?: boolean
}

export type Outcome = Pick<Indexed, 'outcome' | 'id'>

/**
 * Makes articles visible to searches, in batches of at most 50, each whole or not at all, each with the promise of its
 * embeddings. An article whose outlet is known to have it already, at any of its addresses, is `known` and stays as it
 * is. Results stand in the order of `articles`. What is indexed later is stamped later (decision 23).
 *
 * @throws what the database throws; earlier batches stay
 */
export async function indexArticles(
  pool: Pool,
  boss: PgBoss,
  articles: NewArticle[],
  options: IndexOptions,
): Promise<Indexed[]> {
  const batches = split(articles.map(storableNames))
  const results: Indexed[] = []
  // While the database inserts a batch, the words of the next are cut.
  let next = batches[0] === undefined ? null : prepareBatch(pool, batches[0])
  for (let number = 1; next !== null; number++) {
    const inserting = insertBatch(pool, boss, await next, options)
    const following = batches[number]
    next = following === undefined ? null : prepareBatch(pool, following)
    next?.catch(() => {}) // heard of when its turn comes
    const inserted = await inserting
    results.push(...inserted)
    await sealWhenDue(pool, rooms.get(pool)?.last ?? 0n, options.bulk ?? false)
  }
  return results
}

/** An article whose names Postgres can hold, as `prepareText` makes its texts: one name would stop a whole batch. */
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

/** Text of one transaction, in code units: a batch of megabytes would hold the clock for seconds. */
const BATCH_TEXT = 1_000_000

function split(articles: NewArticle[]): NewArticle[][] {
  const batches: NewArticle[][] = []
  let text = 0
  for (const article of articles) {
    const length = article.title.length + (article.body?.length ?? 0)
    const last = batches.at(-1)
    if (last === undefined || last.length === BATCH || text + length > BATCH_TEXT) {
      batches.push([article])
      text = length
    } else {
      last.push(article)
      text += length
    }
  }
  return batches
}

interface Batch {
  articles: NewArticle[]
  prepared: PreparedArticle[]
}

/** Longest the event loop is held at a time, but for a single article of megabytes. */
const SLICE = 5

async function prepareBatch(pool: Pool, articles: NewArticle[]): Promise<Batch> {
  await roomFor(pool)
  const people = await registerPeople(pool, articles)
  const prepared: PreparedArticle[] = []
  let start = performance.now()
  for (const article of articles) {
    prepared.push(prepareArticle(article, people))
    if (performance.now() - start < SLICE) continue
    await setImmediate()
    start = performance.now()
  }
  return { articles, prepared }
}

/** Two writers that give each other's articles ids in opposite order can deadlock; one of them tries again. */
const ATTEMPTS = 3

async function insertBatch(pool: Pool, boss: PgBoss, batch: Batch, options: IndexOptions): Promise<Indexed[]> {
  const { articles, prepared } = batch
  for (let attempt = 1; ; attempt++) {
    try {
      const results = await transaction(pool, async client => {
        const claims = await claimIdentities(client, articles)
        const outcomes = claims.map(({ id, known }): Outcome => ({ outcome: known ? 'known' : 'indexed', id }))
        await options.within?.(client, outcomes, articles)
        const fresh = claims.flatMap(({ id, known }, index) => (known ? [] : [{ ...prepared[index]!, id }]))
        if (fresh.length === 0) return withNumbers(outcomes, 0n)
        const first = await insertArticles(client, fresh, new Date(Date.now() + options.embedDelay))
        const numbered = withNumbers(outcomes, first)
        const seqs = numbered.flatMap(result => (result.outcome === 'indexed' ? [result.seq] : []))
        await promiseEmbedding(boss, client, seqs, options.embedDelay)
        return numbered
      })
      noteNumbers(pool, results)
      return results
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

/** The number up to which partitions are known to be there, per database. */
const rooms = new WeakMap<Pool, { last: bigint; room: bigint }>()

async function roomFor(pool: Pool): Promise<void> {
  const known = rooms.get(pool)
  if (known !== undefined && known.last + MARGIN < known.room) return
  const { rows } = await pool.query<{ last_seq: bigint }>('select last_seq from ingest_clock')
  const last = rows[0]!.last_seq
  rooms.set(pool, { last, room: await ensurePartitions(pool, last) })
}

/** Far more than all processes together index between two looks at the clock. */
const MARGIN = 524_288n

function noteNumbers(pool: Pool, results: Indexed[]): void {
  const known = rooms.get(pool)
  if (known === undefined) return
  for (const result of results) {
    if (result.outcome === 'indexed' && result.seq > known.last) known.last = result.seq
  }
}
