import type { Pool, Queryable } from '../../shared/postgres/pool.ts'
import { transaction } from '../../shared/postgres/transaction.ts'
import { createSegmentBuilder } from '../segment/builder.ts'
import { readSegmentArticles, storeSegment } from '../store/postgres-segments.ts'
import { atOnce, createPace, type Pace } from './pace.ts'
import { mergesDue, nextNew, type Range, SEGMENT_SIZES, type SegmentSizes } from './policy.ts'

/**
 * Segments are made in two ways, which never touch the same articles and so may go on at once: a large one takes a quarter of a minute of
 * computing, in which new articles must not pile up.
 */
export const WAYS = ['new', 'major'] as const
export type Way = (typeof WAYS)[number]

/** What is due, and for what part of the time it is worked on where nobody waits. */
interface Due {
  range: Range
  part: number
}

/** Any numbers will do as locks: one process makes segments in one way at a time, the others leave it to that one. */
const HOW: Record<Way, { lock: bigint; due(live: Range[], last: bigint, sizes: SegmentSizes): Due | null }> = {
  new: {
    lock: 7_211_004_223n,
    due(live, last, sizes) {
      const range = nextNew(live, last, sizes)
      return range && { range, part: 1 }
    },
  },
  major: {
    lock: 7_211_004_224n,
    // There is time, because smaller segments are searched as well; but not when the next block is half there.
    due(live, _last, sizes) {
      const [range] = mergesDue(live, sizes)
      return range === undefined
        ? null
        : { range, part: live.at(-1)!.last - range.last >= sizes.major / 2n ? 1 : 1 / 2 }
    },
  },
}

export interface SealingOptions {
  /** Where another process is at it, waits for that one; otherwise it is left to it. */
  waits?: readonly Way[]
  /** Works for a part of the time only, where that is enough. */
  gently?: boolean
  ways?: readonly Way[]
}

/** Makes all segments that are due. Returns how many. What a killed process left undone is done by the next. */
export async function sealArticles(
  pool: Pool,
  sizes: SegmentSizes = SEGMENT_SIZES,
  options: SealingOptions = {},
): Promise<number> {
  let made = 0
  for (let before = -1; before < made; ) {
    before = made
    // What another process makes while this one waits for it may make the next way's work due: small ones first.
    for (const way of WAYS) {
      if (options.ways?.includes(way) === false) continue
      while (await sealNext(pool, sizes, way, options)) made++
    }
  }
  return made
}

/** One segment at a time, so that somebody who waits gets a turn. */
async function sealNext(
  pool: Pool,
  sizes: SegmentSizes,
  way: Way,
  { waits, gently }: SealingOptions,
): Promise<boolean> {
  const { lock, due } = HOW[way]
  const client = await pool.connect()
  try {
    if (waits?.includes(way)) await client.query('select pg_advisory_lock($1)', [lock])
    else {
      const { rows } = await client.query<{ held: boolean }>('select pg_try_advisory_lock($1) as held', [lock])
      if (rows[0]?.held !== true) return false
    }
    try {
      const clock = await pool.query<{ last_seq: bigint }>('select last_seq from ingest_clock')
      const next = due(await readRanges(pool), clock.rows[0]!.last_seq, sizes)
      if (next !== null) await seal(pool, next.range, gently && next.part < 1 ? createPace(next.part) : atOnce)
      return next !== null
    } finally {
      await client.query('select pg_advisory_unlock($1)', [lock])
    }
  } finally {
    client.release()
  }
}

/** What a version before held while it made segments of a size that is no more. */
const FORMER_LOCK = 7_211_004_225n

/** Runs work while nobody makes segments; waits for those that are being made. */
export async function withoutSealing<T>(pool: Pool, work: () => Promise<T>): Promise<T> {
  const client = await pool.connect()
  try {
    try {
      // Versions before took the locks that they knew in this order.
      for (const lock of [HOW.major.lock, FORMER_LOCK, HOW.new.lock]) {
        await client.query('select pg_advisory_lock($1)', [lock])
      }
      return await work()
    } finally {
      await client.query('select pg_advisory_unlock_all()')
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

async function seal(pool: Pool, range: Range, pace: Pace): Promise<void> {
  const replaced = await readNumbers(pool, range)
  const articles = await readSegmentArticles(pool, range)
  const builder = createSegmentBuilder(articles, range.first, pace)
  for await (const { seq, title, body } of readWords(pool, range)) builder.addWords(seq, title, body)
  const built = builder.build()
  await transaction(pool, async client => {
    const found = await storeSegment(client, range, articles, built, pace)
    // A process of another version may hold other locks: what it made anew meanwhile is not replaced by what was read before.
    if (found.join() !== replaced.join())
      throw new Error('others made segments of the same articles; it is tried again')
  })
}

/** Numbers of the segments within a range, ascending. */
async function readNumbers(db: Queryable, { first, last }: Range): Promise<number[]> {
  const { rows } = await db.query<{ segment_no: number }>(
    'select segment_no from segments where first_seq >= $1 and last_seq <= $2 order by segment_no',
    [first, last],
  )
  return rows.map(row => row.segment_no)
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
