import type { Queryable } from '../../shared/postgres/pool.ts'
import { type Columns, decodeColumns } from '../segment/columns.ts'
import { bytesOf, type DocSet, emptySet } from '../segment/doc-id-set.ts'
import { bucketOf, readEntries } from '../segment/postings.ts'
import { articlesOf, expectVersion, type Segment } from '../store/segment-store.ts'
import { createMemory, type Memory, type Table } from './cache.ts'
import { createWholeSegments, type WholeSegments } from './prefetch.ts'

/**
 * Bytes of lists and of columns that a process keeps. A million articles have 30 MB of columns; a word in many of them, 128 kB of
 * lists. Between half of the bytes and all of them are used (`memory.ts`).
 */
const LISTS_BYTES = 512 << 20
const COLUMNS_BYTES = 512 << 20
const FINDINGS_BYTES = 24 << 20

/**
 * What of the segments is in memory. Segments never change, so nothing on the shelf is ever out of date; what is on it may
 * be gone a moment later.
 */
export interface Shelf {
  /** The documents with a lexeme; undefined: to be read first. */
  list(segment: Segment, lexeme: string): DocSet | undefined
  /** Reads lists and gives them back in the same order. */
  readLists(db: Queryable, wanted: WantedList[], version: bigint): Promise<DocSet[]>
  /** The columns of some segments, read where they are not on the shelf. */
  columns(db: Queryable, segments: Segment[], version: bigint): Promise<Columns[]>
  /** What was found out of the documents of a segment, by whatever key. */
  findings: Memory<OfSegment, Findings>
  whole: WholeSegments
}

/** Something of a segment. */
interface OfSegment {
  segment: Segment
  key: string
}

export interface WantedList {
  segment: Segment
  lexeme: string
}

/** Documents that were looked at: those that match and those that do not. */
export interface Findings {
  yes: DocSet
  no: DocSet
}

const shelves = new WeakMap<Queryable, Shelf>()

export function shelfOf(db: Queryable): Shelf {
  let shelf = shelves.get(db)
  if (shelf === undefined) {
    shelf = createShelf()
    shelves.set(db, shelf)
  }
  return shelf
}

/** By key, then by segment: a search asks for the same few lists of every segment, and looks at memory that it has just looked at. */
function createTable<V>(): Table<OfSegment, V> {
  const keys = new Map<string, Map<number, V>>()
  return {
    get: ({ segment, key }) => keys.get(key)?.get(segment.no),
    set({ segment, key }, value) {
      const own = keys.get(key)
      if (own === undefined) keys.set(key, new Map([[segment.no, value]]))
      else own.set(segment.no, value)
    },
    delete({ segment, key }) {
      const own = keys.get(key)
      if (own?.delete(segment.no) && own.size === 0) keys.delete(key)
    },
  }
}

function createShelf(): Shelf {
  const lists = createMemory<OfSegment, DocSet>(LISTS_BYTES, createTable)
  const columns = createMemory<number, Columns>(COLUMNS_BYTES)
  const whole = createWholeSegments()
  const keep = (segment: Segment, key: string, set: DocSet) => {
    lists.set({ segment, key }, set, bytesOf(set))
  }
  return {
    findings: createMemory(FINDINGS_BYTES, createTable),
    whole,

    list(segment, lexeme) {
      const known = lists.get({ segment, key: lexeme })
      if (known !== undefined) return known
      const read = whole.list(segment, lexeme)
      if (read !== undefined) keep(segment, lexeme, read)
      return read
    },

    async readLists(db, wanted, version) {
      const buckets = new Map<string, { segment: Segment; bucket: number; wanted: WantedList[] }>()
      for (const one of wanted) {
        const bucket = bucketOf(one.lexeme, one.segment.bucketBits)
        const key = `${one.segment.no} ${bucket}`
        const present = buckets.get(key)
        if (present === undefined) buckets.set(key, { segment: one.segment, bucket, wanted: [one] })
        else present.wanted.push(one)
      }
      const asked = [...buckets.values()]
      const { rows } = await db.query<{ version: bigint; place: number | null; block: Buffer }>({
        name: 'search-buckets',
        text: BUCKETS,
        values: [asked.map(one => one.segment.no), asked.map(one => one.bucket)],
      })
      expectVersion(version, rows[0]?.version)
      const blocks = new Map(rows.map(row => [row.place, row.block]))
      const found = new Map<WantedList, DocSet>()
      asked.forEach(({ segment, wanted }, place) => {
        const size = articlesOf(segment)
        const block = blocks.get(place + 1)
        const entries =
          block === undefined
            ? null
            : readEntries(
                block,
                wanted.map(one => one.lexeme),
                size,
              )
        for (const one of wanted) {
          const set = entries?.get(one.lexeme) ?? emptySet(size)
          found.set(one, set)
          keep(segment, one.lexeme, set)
        }
      })
      return wanted.map(one => found.get(one)!)
    },

    async columns(db, segments, version) {
      const found = new Map(segments.map(segment => [segment.no, columns.get(segment.no)]))
      const unread = segments.filter(segment => found.get(segment.no) === undefined)
      if (unread.length > 0) {
        const { rows } = await db.query<{ version: bigint; segment_no: number | null; columns: Buffer }>({
          name: 'search-columns',
          text: COLUMNS,
          values: [unread.map(segment => segment.no)],
        })
        expectVersion(version, rows[0]?.version)
        for (const row of rows) {
          if (row.segment_no === null) continue
          const decoded = decodeColumns(row.columns)
          columns.set(row.segment_no, decoded, row.columns.length)
          found.set(row.segment_no, decoded)
        }
      }
      return segments.map(segment => found.get(segment.no)!)
    },
  }
}

// $1 segments, $2 buckets. Index: the primary key.
const BUCKETS = `
  select v.version, b.place::int, b.block
  from segments_version v
  left join lateral (
    select w.place, b.block
    from unnest($1::int[], $2::int[]) with ordinality as w (segment_no, bucket, place)
    join segment_buckets b on b.segment_no = w.segment_no and b.bucket = w.bucket
  ) b on true`

// $1 segments
const COLUMNS = `
  select v.version, s.segment_no, s.columns
  from segments_version v left join segments s on s.segment_no = any ($1::int[])`
