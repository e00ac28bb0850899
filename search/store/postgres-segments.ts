import { type Queryable, readRow } from '../postgres.ts'
import { decodeColumns } from '../segment/columns.ts'
import { decodeLexicon, LEXICON_BUCKET, lexiconOfTerms } from '../segment/lexicon.ts'
import { bucketOf, entryStart } from '../segment/postings.ts'
import {
  type IndexMeta,
  type IndexReads,
  type IndexState,
  type ListKey,
  type SegmentMeta,
  type SegmentStore,
  SegmentsChanged,
  type Statement,
} from './segment-store.ts'

/*
 * Searches read segments from any server, including standbys. Every statement returns the version
 * that it saw. A search does not use rows of another version than its own.
 */

/**
 * Settings for the connections of searches. Every statement looks rows up by a key. The planner
 * must not choose a sequential scan because a table is small, and must not plan again for each
 * search.
 */
export const SEARCH_SETTINGS = {
  enable_seqscan: 'off',
  plan_cache_mode: 'force_generic_plan',
  jit: 'off',
}

/** Reads segments from Postgres: tables `segments`, `segment_buckets`, `segments_version`. */
export function openSegmentStore(reads: IndexReads): SegmentStore {
  return {
    async readSnapshot() {
      const [row] = await reads.newest<IndexState>({ name: 'search-snapshot', text: STATE })
      return row!
    },

    async readMeta(version) {
      const rows = await reads.rows<MetaRow>({ text: META }, { version }, isOf(version))
      const segments = rows.flatMap(({ version, removals, ...row }) =>
        row.no === null ? [] : [row],
      )
      const { version: found, removals } = rows[0]!
      const covered = segments.at(-1)?.last ?? 0n
      return { version: found, segments, covered, removals } satisfies IndexMeta
    },

    async readRemoved(after, version) {
      const statement = { name: 'search-removed', text: REMOVED, values: [after] }
      const rows = await readAt<Versioned & { seqs: Buffer | null }>(reads, statement, version)
      const seqs = rows[0]?.seqs ?? Buffer.alloc(0)
      return Array.from({ length: seqs.length / 8 }, (_, at) => Number(seqs.readBigInt64BE(at * 8)))
    },

    async readColumns(segmentNos, version) {
      const statement = { name: 'search-columns', text: COLUMNS, values: [segmentNos] }
      const rows = await readAt<Versioned & { segment_no: number | null; columns: Buffer }>(
        reads,
        statement,
        version,
      )
      return rows.flatMap(({ segment_no: no, columns }) =>
        no === null ? [] : [{ no, columns: decodeColumns(columns), bytes: columns.length }],
      )
    },

    async readBuckets(keys, version) {
      const blocks: (Buffer | undefined)[] = []
      for (let from = 0; from < keys.length; from += KEYS_PER_STATEMENT) {
        blocks.push(
          ...(await readBuckets(reads, keys.slice(from, from + KEYS_PER_STATEMENT), version)),
        )
      }
      return blocks
    },

    readDictionary: (segment, version) => readDictionary(reads, segment, version),

    async readLexicon(segment, version) {
      const values = [segment.no, LEXICON_BUCKET, BUCKETS_END]
      const statement = { name: 'search-lexicon', text: DICTIONARY, values }
      const rows = await readAt<BucketRow>(reads, statement, version)
      const blocks = rows.flatMap(({ bucket, block }) => (bucket === null ? [] : [block]))
      if (blocks.length > 0) return decodeLexicon(Buffer.concat(blocks))
      return lexiconOfTerms((await readDictionary(reads, segment, version)).blocks)
    },

    readAhead: () => reads.newest<SegmentMeta>({ name: 'search-ahead', text: STORED_AHEAD }),

    async readColumnsAhead(segmentNo) {
      const statement = { name: 'search-columns-ahead', text: COLUMNS_AHEAD, values: [segmentNo] }
      const [row] = await reads.newest<{ columns: Buffer }>(statement)
      return row === undefined
        ? null
        : { columns: decodeColumns(row.columns), bytes: row.columns.length }
    },

    async isStored(segmentNo) {
      const statement = { name: 'search-is-stored', text: IS_STORED, values: [segmentNo] }
      const [row] = await reads.newest<{ stored: boolean }>(statement)
      return row!.stored
    },
  }
}

/**
 * The most keys of one statement. To write its parameters and read its rows holds the event loop
 * for a millisecond or two. Other searches get their turn between two statements.
 */
const KEYS_PER_STATEMENT = 1_024

async function readBuckets(reads: IndexReads, keys: ListKey[], version: bigint | null) {
  const starts = new Map<string, Buffer>()
  const startOf = (term: string) => {
    const start = starts.get(term) ?? entryStart(term)
    starts.set(term, start)
    return start
  }
  const values = [
    keys.map(({ segment }) => segment.no),
    keys.map(({ segment, term }) => bucketOf(term, segment.bucketBits)),
    keys.map(({ term }) => startOf(term)),
  ]
  const statement = { name: 'search-buckets', text: BUCKETS, values }
  const rows = await readAt<Versioned & { place: number | null; block: Buffer }>(
    reads,
    statement,
    version,
  )
  const blocks: (Buffer | undefined)[] = keys.map(() => undefined)
  for (const { place, block } of rows) if (place !== null) blocks[place - 1] = block
  return blocks
}

interface Versioned {
  version: bigint
}

/**
 * The rows of a statement. Throws when the statement saw another version.
 *
 * @param version null: any version, read on the primary, for a segment that is not used yet
 */
async function readAt<Row extends Versioned>(
  reads: IndexReads,
  statement: Statement,
  version: bigint | null,
) {
  if (version === null) return reads.newest<Row>(statement)
  const rows = await reads.rows<Row>(statement, { version }, isOf(version))
  expectVersion(version, rows[0]?.version)
  return rows
}

/**
 * Makes a test of whether rows have a version. A standby may have a later version than the primary
 * shows, because it may show a commit before the primary does.
 */
const isOf = (version: bigint) => (rows: Versioned[]) => rows[0]?.version === version

/**
 * Throws when a statement saw another version than the search began with. A flush or a merge raises
 * the version.
 */
function expectVersion(expected: bigint, seen: bigint | undefined): void {
  if (seen !== expected) throw new SegmentsChanged('segments were replaced during a search')
}

/**
 * SQL: the columns and tables of the index state, for use within another statement. The API reads
 * the state together with the key of a request. So a search needs no statement of its own for it.
 * Each table has one row.
 */
export const INDEX_STATE = {
  columns: 'last_seq as "lastSeq", segments_version.version, words_version as "wordsVersion"',
  tables: 'ingest_clock, segments_version',
}

const STATE = `select ${INDEX_STATE.columns} from ${INDEX_STATE.tables}`

type MetaRow = { version: bigint; removals: bigint } & (SegmentMeta | { no: null })

/** The columns of a `SegmentMeta`. */
const SEGMENT_COLUMNS = `
  segment_no as no, first_seq as first, last_seq as last, bucket_bits as "bucketBits", undated,
  ${spanOf('published')} as published, ${spanOf('ingested')} as ingested`

/** SQL: the first and the last time of a segment, ms since 1970; null: no article has one. */
export function spanOf(axis: 'published' | 'ingested'): string {
  const ms = (end: 'first' | 'last') => `round(date_part('epoch', ${end}_${axis}) * 1000)`
  return `case when first_${axis} is not null then json_build_object('first', ${ms('first')}, 'last', ${ms('last')}) end`
}

const META = `
  select v.version, (select last_removal from ingest_clock) as removals, ${SEGMENT_COLUMNS}
  from segments_version v left join segments s on true
  order by s.first_seq`

// $1 number of a removal. Index: the primary key.
const REMOVED = `
  select v.version, (select string_agg(int8send(seq), '') from tombstones where number > $1 and seq > 0) as seqs
  from segments_version v`

const STORED_AHEAD = `
  select ${SEGMENT_COLUMNS}, kind = 'import' as imported
  from segments_ahead`

// $1 segment. Index: the primary key.
const COLUMNS_AHEAD = 'select columns from segments_ahead where segment_no = $1'

// $1 segment. Indexes: the primary keys.
const IS_STORED = `
  select exists (select from segments where segment_no = $1)
    or exists (select from segments_ahead where segment_no = $1) as stored`

// Most terms of a long query (stems of five languages) are in few segments or in none. So Postgres
// sends a bucket only if the first bytes of the term's entry occur in it. These bytes may also
// occur by chance, so `readEntry` checks again. $1 segments, $2 buckets, $3 starts of entries.
// Index: the primary key.
const BUCKETS = `
  select v.version, b.place::int, b.block
  from segments_version v
  left join lateral (
    select w.place, b.block
    from unnest($1::int[], $2::int[], $3::bytea[]) with ordinality as w (segment_no, bucket, start, place)
    join segment_buckets b on b.segment_no = w.segment_no and b.bucket = w.bucket
    where position(w.start in b.block) > 0
  ) b on true`

// $1 segments
const COLUMNS = `
  select v.version, s.segment_no, s.columns
  from segments_version v left join segments s on s.segment_no = any ($1::int[])`

/**
 * How many buckets one statement reads. Their bytes, some hundred kB, hold the event loop for about
 * a millisecond.
 */
const BUCKETS_PER_STATEMENT = 256

type BucketRow = Versioned & { bucket: number | null; block: Buffer }

/** No bucket has this number or a higher one. */
const BUCKETS_END = 2 ** 31 - 1

async function readDictionary(reads: IndexReads, segment: SegmentMeta, version: bigint | null) {
  const buckets = 1 << segment.bucketBits
  const starts = new Uint32Array(buckets + 1)
  const blocks: Buffer[] = []
  let bytes = 0
  let next = 0
  const startUpTo = (bucket: number) => {
    while (next <= bucket) starts[next++] = bytes
  }
  for (let from = 0; from < buckets; from += BUCKETS_PER_STATEMENT) {
    const values = [segment.no, from, Math.min(from + BUCKETS_PER_STATEMENT, buckets) - 1]
    const statement = { name: 'search-dictionary', text: DICTIONARY, values }
    const rows = await readAt<BucketRow>(reads, statement, version)
    for (const { bucket, block } of rows) {
      if (bucket === null) continue
      startUpTo(bucket)
      blocks.push(block)
      bytes += block.length
    }
  }
  startUpTo(buckets)
  return { blocks: Buffer.concat(blocks), starts }
}

// $1 segment, $2 $3 buckets from and to. Index: the primary key.
const DICTIONARY = `
  select v.version, b.bucket, b.block
  from segments_version v
  left join segment_buckets b on b.segment_no = $1 and b.bucket between $2 and $3
  order by b.bucket`

/** The size of the index and of the backlog, for operators. */
export interface IndexSize {
  segments: number
  /** The number of the last article in a segment. */
  covered: number
  /** Articles that have no stored segment yet. Those that were taken out do not count. */
  backlog: number
}

export const readIndexSize = async (db: Queryable): Promise<IndexSize> =>
  (await readRow<IndexSize>(db, { name: 'index-state', text: INDEX_SIZE }))!

const INDEX_SIZE = `
  select count(s.segment_no)::int as segments, coalesce(max(s.last_seq), 0)::float8 as covered, (
      ingest_clock.last_seq - coalesce(max(s.last_seq), 0)
      - (select count(*) from tombstones t where t.seq > coalesce(max(s.last_seq), 0)))::int as backlog
  from ingest_clock left join segments s on true
  group by ingest_clock.last_seq`
