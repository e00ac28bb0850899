import type { Pool, Queryable } from '../postgres/pool.ts'
import { transaction } from '../postgres/transaction.ts'
import { createSegmentBuilder } from './builder.ts'
import { nextRange, type Range, SEGMENT_SIZES, type SegmentSizes } from './planning.ts'
import { readSegmentArticles, storeSegment } from './storing.ts'

// Any number: one process seals at a time, the others leave it to that one.
const SEALING_LOCK = 7_211_004_223n

/**
 * Makes all segments that are due. Returns how many; none more when another process is at it, unless it is to `wait` for that.
 * What a killed process left undone is done by the next.
 */
export async function sealArticles(pool: Pool, sizes: SegmentSizes = SEGMENT_SIZES, wait = false): Promise<number> {
  let made = 0
  while (await sealNext(pool, sizes, wait)) made++
  return made
}

/** One segment at a time, so that somebody who waits gets a turn. */
async function sealNext(pool: Pool, sizes: SegmentSizes, wait: boolean): Promise<boolean> {
  const client = await pool.connect()
  try {
    if (wait) await client.query('select pg_advisory_lock($1)', [SEALING_LOCK])
    else {
      const lock = await client.query<{ held: boolean }>('select pg_try_advisory_lock($1) as held', [SEALING_LOCK])
      if (lock.rows[0]?.held !== true) return false
    }
    try {
      const range = await due(pool, sizes)
      if (range !== null) await seal(pool, range)
      return range !== null
    } finally {
      await client.query('select pg_advisory_unlock($1)', [SEALING_LOCK])
    }
  } finally {
    client.release()
  }
}

/** Runs work while nobody makes segments; waits for one that is being made. */
export async function withoutSealing<T>(pool: Pool, work: () => Promise<T>): Promise<T> {
  const client = await pool.connect()
  try {
    await client.query('select pg_advisory_lock($1)', [SEALING_LOCK])
    try {
      return await work()
    } finally {
      await client.query('select pg_advisory_unlock($1)', [SEALING_LOCK])
    }
  } finally {
    client.release()
  }
}

/** Ranges of the present segments, ascending. */
export async function readRanges(db: Queryable): Promise<Range[]> {
  const { rows } = await db.query<{ first_seq: bigint; last_seq: bigint }>(
    'select first_seq, last_seq from segments order by first_seq',
  )
  return rows.map(row => ({ first: row.first_seq, last: row.last_seq }))
}

async function due(db: Queryable, sizes: SegmentSizes): Promise<Range | null> {
  const clock = await db.query<{ last_seq: bigint }>('select last_seq from ingest_clock')
  return nextRange(await readRanges(db), clock.rows[0]!.last_seq, sizes)
}

async function seal(pool: Pool, range: Range): Promise<void> {
  const articles = await readSegmentArticles(pool, range)
  const builder = createSegmentBuilder(articles, range.first)
  for await (const { seq, title, body } of readWords(pool, range)) builder.addWords(seq, title, body)
  const built = builder.build()
  await transaction(pool, client => storeSegment(client, range, articles, built))
}

/** Articles whose words are in memory at a time. */
const PART = 1_024n

async function* readWords(db: Queryable, { first, last }: Range) {
  for (let from = first; from <= last; from += PART) {
    const { rows } = await db.query<{ seq: bigint; title: string; body: string }>(
      'select seq, title, body from article_words where seq between $1 and $2',
      [from, from + PART - 1n < last ? from + PART - 1n : last],
    )
    yield* rows
  }
}
