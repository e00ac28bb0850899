import { byteaArray } from '../../shared/postgres/binary-arrays.ts'
import type { Client, Pool } from '../../shared/postgres/pool.ts'
import { transaction } from '../../shared/postgres/transaction.ts'
import type { BuiltSegment } from '../segment/builder.ts'
import { immediately, type Pace } from '../segment/pace.ts'
import { showUpTo } from './hidden-articles.ts'
import type { NewSegment, SegmentRange, SegmentWork, SegmentWriter } from './segment-store.ts'

/**
 * Advisory locks. The numbers are arbitrary and never change: processes of two versions must meet.
 */
const LOCKS: Record<SegmentWork, bigint> = { flush: 7_211_004_223n, merge: 7_211_004_224n }

/** A former version held this lock while it built segments of a third size. */
const FORMER_LOCK = 7_211_004_225n

/** Writes segments to Postgres: tables `segments`, `segment_buckets`, `segments_version`. */
export function postgresSegmentWriter(pool: Pool): SegmentWriter {
  return {
    async readRanges() {
      const { rows } = await pool.query<{ first_seq: bigint; last_seq: bigint }>(
        'select first_seq, last_seq from segments order by first_seq',
      )
      return rows.map(row => ({ first: row.first_seq, last: row.last_seq }))
    },

    async readLastSeq() {
      const { rows } = await pool.query<{ last_seq: bigint }>('select last_seq from ingest_clock')
      return rows[0]!.last_seq
    },

    async readNumbers({ first, last }) {
      const { rows } = await pool.query<{ segment_no: number }>(
        'select segment_no from segments where first_seq >= $1 and last_seq <= $2 order by segment_no',
        [first, last],
      )
      return rows.map(row => row.segment_no)
    },

    async replace(segment, { pace = immediately, expects, within } = {}) {
      return await transaction(pool, async client => {
        // The caller's own statements may take longer than a holder of the clock is allowed to
        // idle.
        if (within) await client.query('set local idle_in_transaction_session_timeout = 0')
        await within?.(client)
        const { replaced, added } = await replaceSegments(client, segment, pace)
        // A process of another version may hold other locks. Its newer segments are not replaced by
        // older data.
        if (expects !== undefined && replaced.join() !== expects.join())
          throw new Error('another process stored segments of the same articles; the next attempt starts from those')
        return added
      })
    },

    async removeUnused(pace = immediately) {
      const { rows } = await pool.query<{ no: number }>(UNUSED)
      for (const { no } of rows) await removeBuckets(pool, no, pace)
    },

    async exclusively(kind, wait, work) {
      const client = await pool.connect()
      try {
        if (wait) await client.query('select pg_advisory_lock($1)', [LOCKS[kind]])
        else {
          const { rows } = await client.query<{ held: boolean }>('select pg_try_advisory_lock($1) as held', [
            LOCKS[kind],
          ])
          if (rows[0]?.held !== true) return null
        }
        try {
          return await work()
        } finally {
          await client.query('select pg_advisory_unlock($1)', [LOCKS[kind]])
        }
      } finally {
        client.release()
      }
    },

    async withoutWriters(work) {
      const client = await pool.connect()
      try {
        try {
          // In the order in which former versions took the locks that they knew.
          for (const lock of [LOCKS.merge, FORMER_LOCK, LOCKS.flush]) {
            await client.query('select pg_advisory_lock($1)', [lock])
          }
          return await work()
        } finally {
          await client.query('select pg_advisory_unlock_all()')
        }
      } finally {
        client.release()
      }
    },
  }
}

/** @returns numbers of the replaced segments, ascending, and of the new one */
async function replaceSegments(
  client: Client,
  { range, articles, built }: NewSegment,
  pace: Pace,
): Promise<{ replaced: number[]; added: number }> {
  const { rows } = await client.query<{ segment_no: number }>(NEXT_NUMBER)
  const number = rows[0]!.segment_no
  for (const part of parts(built.buckets)) {
    pace()
    await client.query('insert into segment_buckets select $1, * from unnest($2::int[], $3::bytea[])', [
      number,
      part.map(one => one.bucket),
      byteaArray(part.map(one => one.block)),
    ])
  }
  // From here on nothing rests: others may wait for the rows of the old segments.
  const replaced = await deleteWithin(client, range)
  const published = extent(articles.map(article => article.published))
  const ingested = extent(articles.map(article => article.ingested))
  await client.query(ADD_SEGMENT, [
    number,
    range.first,
    range.last,
    built.bucketBits,
    ...published,
    ...ingested,
    articles.filter(article => article.published === null).length,
    built.columns,
  ])
  await client.query('update segments_version set version = version + 1')
  // Last, because nobody can write articles from here to the commit.
  await showUpTo(client, range.last)
  return { replaced, added: number }
}

/** Their buckets stay, and are removed by `removeUnused`. @returns their numbers, ascending */
async function deleteWithin(client: Client, { first, last }: SegmentRange): Promise<number[]> {
  const { rows } = await client.query<{ segment_no: number }>(
    'delete from segments where first_seq >= $1 and last_seq <= $2 returning segment_no',
    [first, last],
  )
  return rows.map(row => row.segment_no).sort((a, b) => a - b)
}

/** Buckets of one statement: some hundred kB. */
const BUCKETS_PER_STATEMENT = 256

/** Removes the buckets of a segment in small steps. */
async function removeBuckets(pool: Pool, segmentNo: number, pace: Pace): Promise<void> {
  for (let after: number | null = -1; after !== null; ) {
    pace()
    const { rows }: { rows: { last: number | null }[] } = await pool.query({
      name: 'remove-buckets',
      text: REMOVE_BUCKETS,
      values: [segmentNo, after, BUCKETS_PER_STATEMENT],
    })
    after = rows[0]!.last
  }
}

// $1 segment, $2 after which bucket, $3 how many. Index: the primary key.
const REMOVE_BUCKETS = `
  with removed as (
    delete from segment_buckets where segment_no = $1 and bucket in (
      select bucket from segment_buckets where segment_no = $1 and bucket > $2 order by bucket limit $3)
    returning bucket
  )
  select max(bucket) as last from removed`

// The numbers in `segment_buckets` that no segment has any more. Each number is one step in the
// primary key. A segment and its buckets are added in one transaction.
const UNUSED = `
  with recursive numbers (no) as (
    select min(segment_no) from segment_buckets
    union all
    select (select min(segment_no) from segment_buckets where segment_no > numbers.no)
    from numbers where numbers.no is not null
  )
  select no from numbers
  where no is not null and not exists (select from segments where segment_no = no)`

const NEXT_NUMBER = "select nextval(pg_get_serial_sequence('segments', 'segment_no'))::int as segment_no"

// $1 number, $2 $3 range, $4 bits, $5 $6 published, $7 $8 ingested, $9 undated, $10 columns
const ADD_SEGMENT = `
  insert into segments (segment_no, first_seq, last_seq, bucket_bits,
    first_published, last_published, first_ingested, last_ingested, undated, columns)
  overriding system value
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`

function extent(times: (number | null)[]): [Date | null, Date | null] {
  let [first, last] = [Infinity, -Infinity]
  for (const time of times) {
    if (time === null) continue
    if (time < first) first = time
    if (time > last) last = time
  }
  return first > last ? [null, null] : [new Date(first), new Date(last)]
}

/** Bytes of one insert. Searches on the same server wait behind it. */
const INSERT_BYTES = 250_000

function* parts(buckets: BuiltSegment['buckets']): Generator<BuiltSegment['buckets']> {
  let part: BuiltSegment['buckets'] = []
  let bytes = 0
  for (const one of buckets) {
    part.push(one)
    bytes += one.block.length
    if (bytes < INSERT_BYTES) continue
    yield part
    part = []
    bytes = 0
  }
  if (part.length > 0) yield part
}
