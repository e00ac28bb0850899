import { hash } from 'node:crypto'
import { byteaArray } from '../binary-arrays.ts'
import { type Brake, noBrake } from '../pace.ts'
import {
  type Client,
  keepingAlive,
  locking,
  type Pool,
  type Queryable,
  readColumn,
  readRow,
  readValue,
  transaction,
  withSession,
} from '../postgres.ts'
import type { BuiltSegment, SegmentSource } from '../segment/builder.ts'
import type { NewSegment, NumberedSegment, SegmentRange, SegmentWork } from './segment-store.ts'
import { readLastRemoval, UNCLEARED } from './tombstones.ts'

/*
 * Advisory locks only keep two processes from doing the same work. The rows keep the index right:
 * only one transaction at a time changes segments, and it checks which segments it replaces. So a
 * process that lost its lock does no harm.
 */

/**
 * The numbers of advisory locks are arbitrary. They never change, so that processes of two versions
 * take the same locks.
 */
const LOCKS: Record<SegmentWork, bigint> = { flush: 7_211_004_223n, merge: 7_211_004_224n }

/**
 * A stopped process loses its lock after this time, so that another process does its work. A flush
 * takes seconds, a merge takes a minute or two at an eighth of a core.
 */
const HOLDS_LOCK: Record<SegmentWork, string> = { flush: '2 min', merge: '10 min' }

interface ReplaceOptions {
  brake?: Brake
  /** Numbers of the segments to replace. The function throws when the range has other segments. */
  expects?: number[]
  /** More work in Postgres, in the transaction that makes the segment visible. */
  within?: (client: Client) => Promise<void>
}

export interface SegmentWriter {
  /** Ranges of the stored segments, ascending. */
  readRanges(): Promise<SegmentRange[]>
  /** `seq` of the newest article. */
  readLastSeq(): Promise<bigint>
  /**
   * Articles up to this `seq` have a stored segment, which may be in use or ahead; 0: there is no
   * segment.
   */
  readStoredTo(): Promise<bigint>
  /** Ranges of the segments that may have words of articles that were taken out, ascending. */
  readUncleared(): Promise<SegmentRange[]>
  /** The number of the last removal. */
  readLastRemoval(): Promise<bigint>
  /**
   * Removes segments that end beyond the clock or overlap another segment. `reindex` then makes
   * them anew.
   */
  removeWrong(): Promise<void>
  /**
   * Ranges of articles that lack a segment, ascending.
   *
   * @param most articles that may wait for a flush after the last segment
   */
  readGaps(most: bigint): Promise<SegmentRange[]>
  /** The segments within a range, in ascending order of `seq`. */
  readNumbers(range: SegmentRange): Promise<NumberedSegment[]>
  /**
   * Stores a segment in place of the segments within its range, in one transaction. A search sees
   * either the old state or the new one. The caller then calls `removeUnused`. Searches cannot
   * read this segment ahead. With `prepare` and `publish` they can.
   *
   * @returns its number; no other segment gets it, except after a failover
   */
  replace(segment: NewSegment, options?: ReplaceOptions): Promise<number>
  /**
   * Stores a segment that is not used yet, so that searches can read it ahead. The caller works
   * `exclusively` until it publishes the segment. This also removes a segment of the same kind
   * that a killed process has prepared.
   *
   * @returns its number; no other segment gets it, except after a failover
   */
  prepare(kind: SegmentWork, segment: NewSegment, brake?: Brake): Promise<number>
  /**
   * Stores the segment of an import ahead: searches do not use it yet. Its articles are numbered
   * from 1. They get their own numbers and times of ingestion when the segment is used. This also
   * removes segments that were prepared more than ten minutes ago, for instance by a killed
   * import.
   */
  prepareImported(segment: NewSegment): Promise<AheadSegment>
  /**
   * Puts a prepared segment in place of the segments within its range, as `replace` does.
   *
   * @param expects numbers of the segments to replace. Throws when the range has other segments.
   */
  publish(segmentNo: number, expects: number[]): Promise<void>
  /**
   * Removes the posting lists of replaced segments, including those that a killed process left.
   * These lists are as large as the new segment. In the transaction that replaces segments, their
   * removal would make searches wait for a second.
   */
  removeUnused(brake?: Brake): Promise<void>
  /**
   * Runs work while no other process does work of this kind.
   *
   * @param wait true: waits for the process that does it; false: gives up at once
   * @returns the result of the work; null: another process does work of this kind
   */
  exclusively<T>(kind: SegmentWork, wait: boolean, work: () => Promise<T>): Promise<T | null>
  /** Runs work while no process stores segments. Waits for processes that do. */
  withoutWriters<T>(work: () => Promise<T>): Promise<T>
}

/**
 * Writes segments to Postgres. Locks keep processes from doing the same work.
 *
 * @param holdsLock tests make it short
 */
export function openSegmentWriter(
  pool: Pool,
  holdsLock: Record<SegmentWork, string> = HOLDS_LOCK,
): SegmentWriter {
  return {
    async readRanges() {
      const { rows } = await pool.query<SegmentRange>(
        'select first_seq as first, last_seq as last from segments order by first_seq',
      )
      return rows
    },

    readLastSeq: async () => (await readValue<bigint>(pool, 'select last_seq from ingest_clock'))!,

    readStoredTo: async () => (await readValue<bigint>(pool, STORED_TO))!,

    async readUncleared() {
      const { rows } = await pool.query<SegmentRange>(
        `select first_seq as first, last_seq as last from segments s where ${UNCLEARED} order by 1`,
      )
      return rows
    },

    readLastRemoval: () => readLastRemoval(pool),

    removeWrong: () =>
      transaction(pool, async client => {
        await lockSegments(client)
        await client.query(`delete from segments s using ingest_clock c where ${WRONG}`)
      }),

    async readGaps(most) {
      const { rows } = await pool.query<SegmentRange>(gaps('$1::bigint'), [most])
      return rows
    },

    async readNumbers({ first, last }) {
      const { rows } = await pool.query<NumberedSegment>(
        `select segment_no as no, first_seq as first, digest, not ${UNCLEARED} as "isClear" from segments s
         where first_seq >= $1 and last_seq <= $2 order by first_seq`,
        [first, last],
      )
      return rows
    },

    async replace(segment, { brake = noBrake, expects, within } = {}) {
      return await transaction(pool, async client => {
        // The caller's work may leave the transaction idle for longer than the pool allows. A
        // stopped process still loses its transaction.
        if (within)
          await client.query(`set local idle_in_transaction_session_timeout = '${holdsLock.merge}'`)
        await within?.(client)
        // The kind can be any, because no other process sees this segment before it is used.
        const { no } = await storeAhead(client, 'merge', segment, brake)
        await replaceSegments(client, no, expects)
        return no
      })
    },

    prepare: (kind, segment, brake = noBrake) =>
      transaction(pool, async client => {
        await client.query('delete from segments_ahead where kind = $1', [kind])
        return (await storeAhead(client, kind, segment, brake)).no
      }),

    prepareImported: segment =>
      transaction(pool, async client => {
        await client.query(REMOVE_ABANDONED)
        return storeAhead(client, 'import', segment, noBrake)
      }),

    publish: (segmentNo, expects) =>
      transaction(pool, client => replaceSegments(client, segmentNo, expects)),

    removeUnused: (brake = noBrake) => removeUnused(pool, brake),

    exclusively: <T>(kind: SegmentWork, wait: boolean, work: () => Promise<T>): Promise<T | null> =>
      withSession(pool, holdsLock[kind], session => locking(session, LOCKS[kind], wait, work)),

    withoutWriters: <T>(work: () => Promise<T>): Promise<T> =>
      withSession(pool, holdsLock.flush, session =>
        keepingAlive(session, async () => {
          for (const lock of [LOCKS.merge, LOCKS.flush])
            await session.query('select pg_advisory_lock($1)', [lock])
          return await work()
        }),
      ),
  }
}

/*
 * Segments as rows in `segments`, `segments_ahead`, `segment_buckets` and `segments_version`. A
 * segment is stored ahead, then used, then replaced. Its buckets are stored in the first step. They
 * are removed some time after the last step.
 */

/**
 * A segment that is stored and not used yet. After a failover another segment may get the same
 * number. `storedAt` tells the two apart.
 */
export interface AheadSegment {
  no: number
  storedAt: Date
}

/** Stores a segment that is not used yet. */
export async function storeAhead(
  client: Client,
  kind: SegmentWork | 'import',
  { range, articles, built, cleared = 0n }: NewSegment,
  brake: Brake,
): Promise<AheadSegment> {
  const number = await readValue<number>(client, NEXT_NUMBER)
  for (const part of parts(built.buckets)) {
    brake()
    await client.query(
      'insert into segment_buckets select $1, * from unnest($2::int[], $3::bytea[])',
      [number, part.map(one => one.bucket), byteaArray(part.map(one => one.block))],
    )
  }
  const published = extent(articles.map(article => article.published))
  const ingested = extent(articles.map(article => article.ingested))
  const added = await readRow<AheadSegment>(client, ADD_AHEAD, [
    number,
    kind,
    range.first,
    range.last,
    built.bucketBits,
    ...published,
    ...ingested,
    articles.filter(article => article.published === null).length,
    built.columns,
    idsDigest(articles),
    cleared,
  ])
  return added!
}

/** Computes the same digest of ids as `digestOf` does in SQL. */
export function idsDigest(articles: Pick<SegmentSource, 'seq' | 'id'>[]): Buffer {
  const inOrder = articles.toSorted((a, b) => (a.seq < b.seq ? -1 : 1))
  return hash('sha256', inOrder.map(({ id }) => id).join('\n'), 'buffer')
}

/**
 * SQL: the digest of the ids of the articles in a range, in order of `seq`. Each segment keeps this
 * digest, so it is never used for articles other than its own.
 */
export const digestOf = (first: string, last: string): string => `(
  select sha256(convert_to(string_agg(id, E'\\n' order by seq), 'UTF8')) from articles
  where seq between ${first} and ${last})`

/**
 * Throws if a segment was made of other articles than those in the range that it would get.
 *
 * @param before added to the numbers of the segment's articles. For an import, whose articles are
 *   numbered from 1, it is the `seq` before the first article; otherwise 0.
 */
async function refuseOthers(client: Client, segmentNo: number, before: bigint): Promise<void> {
  const { rowCount } = await client.query(HOLDS_OTHERS, [segmentNo, before])
  if (rowCount !== 0)
    throw new Error(
      `segment ${segmentNo} was made of other articles than those it would stand for; it is not used`,
    )
}

/**
 * Puts a stored segment in place of the segments within its range.
 *
 * @param expects numbers of the segments to replace. Throws when the range has other segments.
 */
export async function replaceSegments(
  client: Client,
  segmentNo: number,
  expects: number[] | undefined,
): Promise<void> {
  await refuseOthers(client, segmentNo, 0n)
  await lockSegments(client)
  const range = await readRow<SegmentRange>(client, RANGE_AHEAD, [segmentNo])
  if (range === undefined) throw new Error(REMOVED)
  const replaced = await deleteWithin(client, range)
  // An import stores segments without a lock, and a stopped process loses its lock. So another
  // process may have stored newer segments. Older data must not replace them.
  const overlapping = await client.query(OVERLAPPING, [range.first, range.last])
  if ((expects !== undefined && replaced.join() !== expects.join()) || overlapping.rowCount !== 0)
    throw new Error(
      'another process stored segments of the same articles; the next attempt starts from those',
    )
  const used = await client.query(USE, [segmentNo])
  // If the new segment was removed, this keeps the old ones. Otherwise their articles would be in
  // no segment.
  if (used.rowCount !== 1) throw new Error(REMOVED)
  // Removes the row of the used segment, and rows that a killed process left for the same articles.
  await client.query(
    "delete from segments_ahead where kind <> 'import' and first_seq >= $1 and last_seq <= $2",
    [range.first, range.last],
  )
}

/**
 * Raises the version. Every transaction that changes segments does this first. The row lock makes
 * such transactions run one at a time.
 */
export async function lockSegments(client: Client): Promise<void> {
  await client.query('update segments_version set version = version + 1')
}

/**
 * Locks the stored segment of an import until it is used, so that no process removes it.
 *
 * @returns its columns; null: the segment was removed
 */
export const lockImported = (
  client: Client,
  { no, storedAt }: AheadSegment,
): Promise<Buffer | null> => readValue<Buffer>(client, LOCK_IMPORTED, [no, storedAt])

export async function removeAhead(db: Queryable, { no, storedAt }: AheadSegment): Promise<void> {
  await db.query('delete from segments_ahead where segment_no = $1 and stored_at = $2', [
    no,
    storedAt,
  ])
}

/**
 * Makes the segment of an import visible. Its articles have their numbers and times by then.
 *
 * @param first `seq` of its first article. Every earlier article has a segment.
 * @param ingested times of its articles, ms since 1970
 */
export async function useImported(
  client: Client,
  segment: AheadSegment,
  { first, columns, ingested }: { first: bigint; columns: Buffer; ingested: (number | null)[] },
): Promise<void> {
  await refuseOthers(client, segment.no, first - 1n)
  await lockSegments(client)
  await client.query(USE_IMPORTED, [segment.no, first - 1n, ...extent(ingested), columns])
  await removeAhead(client, segment)
}

/** Articles up to this `seq` have a segment; 0: there is no segment. */
export const readCovered = async (db: Queryable): Promise<bigint> =>
  (await readValue<bigint>(db, 'select max(last_seq) from segments')) ?? 0n

const REMOVED = 'another process removed a segment before it was used'

/**
 * Deletes the segments within a range. Their buckets stay until `removeUnused` removes them.
 *
 * @returns the numbers of the deleted segments, ascending
 */
async function deleteWithin(client: Client, { first, last }: SegmentRange): Promise<number[]> {
  const deleted = await readColumn<number>(
    client,
    'delete from segments where first_seq >= $1 and last_seq <= $2 returning segment_no',
    [first, last],
  )
  return deleted.sort((a, b) => a - b)
}

const STORED_TO = `
  select greatest(0, (select max(last_seq) from segments), (select max(last_seq) from segments_ahead where kind <> 'import'))`

/** Removes the buckets of all segments that were deleted. */
async function removeUnused(pool: Pool, brake: Brake): Promise<void> {
  await pool.query(REMOVE_ABANDONED)
  for (const no of await readColumn<number>(pool, UNUSED)) await removeBuckets(pool, no, brake)
}

/** How many buckets one statement removes. They have some hundred kB. */
const BUCKETS_PER_STATEMENT = 256

/** Removes the buckets of a segment in small steps. */
async function removeBuckets(pool: Pool, segmentNo: number, brake: Brake): Promise<void> {
  for (let after: number | null = -1; after !== null; ) {
    brake()
    const values: unknown[] = [segmentNo, after, BUCKETS_PER_STATEMENT]
    after = await readValue<number>(pool, { name: 'remove-buckets', text: REMOVE_BUCKETS, values })
  }
}

// $1 segment, $2 after which bucket, $3 how many. Index: the primary key. Postgres uses it for a
// range of buckets, whatever the planner assumes about the table. Each step checks again that the
// segment is gone: the connection may have moved to another server that lacks the last commits.
const REMOVE_BUCKETS = `
  with step as materialized (
    select bucket from segment_buckets
    where segment_no = $1 and bucket > $2
      and not exists (select from segments where segment_no = $1)
      and not exists (select from segments_ahead where segment_no = $1)
    order by bucket limit $3
  ), removed as (
    delete from segment_buckets
    where segment_no = $1 and bucket > $2 and bucket <= (select max(bucket) from step)
  )
  select max(bucket) from step`

// Segments are used some seconds after they were stored, so older ones count as abandoned. A
// process whose segment was removed builds it again.
const REMOVE_ABANDONED = `delete from segments_ahead where stored_at < now() - interval '10 minutes'`

/**
 * SQL: whether the range of a segment `s` is wrong. A wrong range ends beyond the clock `c`, or
 * begins in another segment.
 */
export const WRONG = `(s.last_seq > c.last_seq or exists (
  select from segments o where s.first_seq between o.first_seq and o.last_seq
  and (o.first_seq, o.segment_no) < (s.first_seq, s.segment_no)))`

/**
 * SQL: ranges of articles that lack a segment, ascending. The clock counts as a segment after the
 * last one.
 *
 * @param most how many articles after the last segment may lack a segment
 */
export const gaps = (most: string): string => `
  select covered + 1 as first, first_seq - 1 as last
  from (select first_seq, allowed, greatest(released_to, lag(last_seq) over (order by first_seq)) as covered
        from (select first_seq, last_seq, 0::bigint as allowed from segments
              union all
              select last_seq + 1, last_seq + 1, ${most} from ingest_clock) as starts, segments_version) as follows
  where first_seq - 1 - covered > allowed order by first_seq`

// The numbers in `segment_buckets` that belong to no segment. The query finds each number with one
// step in the primary key. One transaction adds a segment together with its buckets, and one
// transaction moves it to the other table. So the number of a stored segment never appears here.
export const UNUSED = `
  with recursive numbers (no) as (
    select min(segment_no) from segment_buckets
    union all
    select (select min(segment_no) from segment_buckets where segment_no > numbers.no)
    from numbers where numbers.no is not null
  )
  select no from numbers
  where no is not null
    and not exists (select from segments where segment_no = no)
    and not exists (select from segments_ahead where segment_no = no)`

const NEXT_NUMBER = "select nextval(pg_get_serial_sequence('segments', 'segment_no'))::int"

/** The columns that `segments` and `segments_ahead` have in common. */
const COLUMNS = `segment_no, first_seq, last_seq, bucket_bits,
  first_published, last_published, first_ingested, last_ingested, undated, columns, digest, cleared, stated`

// $1 number, $2 kind, $3 $4 range, $5 bits, $6 $7 published, $8 $9 ingested, $10 undated, $11
// columns, $12 digest, $13 number of a removal
const ADD_AHEAD = `
  insert into segments_ahead (segment_no, kind, first_seq, last_seq, bucket_bits,
    first_published, last_published, first_ingested, last_ingested, undated, columns, digest, cleared, stated)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, true)
  returning segment_no as no, stored_at as "storedAt"`

// $1 number, $2 `seq` before its first article. A segment that an earlier version stored has no
// digest. Index: the primary key of articles.
const HOLDS_OTHERS = `
  select from segments_ahead where segment_no = $1 and digest is not null
    and digest is distinct from ${digestOf('$2::bigint + first_seq', '$2::bigint + last_seq')}`

// $1 number
const RANGE_AHEAD =
  'select first_seq as first, last_seq as last from segments_ahead where segment_no = $1 for update'

// $1 $2 range. Finds segments that have articles of the range.
const OVERLAPPING = 'select from segments where last_seq >= $1 and first_seq <= $2'

// $1 number, $2 moment
const LOCK_IMPORTED =
  'select columns from segments_ahead where segment_no = $1 and stored_at = $2 for update'

// $1 number, $2 `seq` before its first article, $3 $4 ingested, $5 columns
const USE_IMPORTED = `
  insert into segments (${COLUMNS}) overriding system value
  select segment_no, $2 + first_seq, $2 + last_seq, bucket_bits,
    first_published, last_published, $3, $4, undated, $5, digest, cleared, stated
  from segments_ahead where segment_no = $1`

// $1 number
const USE = `
  insert into segments (${COLUMNS}) overriding system value
  select ${COLUMNS} from segments_ahead where segment_no = $1`

function extent(times: (number | null)[]): [Date | null, Date | null] {
  let first = Infinity
  let last = -Infinity
  for (const time of times) {
    if (time === null) continue
    if (time < first) first = time
    if (time > last) last = time
  }
  return first > last ? [null, null] : [new Date(first), new Date(last)]
}

/** How many bytes one insert has. Searches on the same server wait until it ends. */
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
