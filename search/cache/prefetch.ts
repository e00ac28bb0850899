import type { Queryable } from '../../shared/postgres/pool.ts'
import { type DocSet, emptySet } from '../segment/doc-id-set.ts'
import { bucketOf, readEntries } from '../segment/postings.ts'
import { articlesOf, type Catalogue, expectVersion, type Segment, SegmentsChanged } from '../store/segment-store.ts'

/**
 * The dictionaries of the latest segments, whole. These are small, come every few seconds when much is written, and go again into
 * a large one: were their lists read as they are asked for, the first search for anything after each would have to wait for them.
 */
export interface WholeSegments {
  /** The documents with a lexeme; undefined: this segment is not here. */
  list(segment: Segment, lexeme: string): DocSet | undefined
  /**
   * Keeps the latest segments that hold so many articles together, and drops all others. Returns at once: they are read
   * between other work, and nothing waits for them.
   */
  follow(db: Queryable, catalogue: Catalogue, articles: number): void
}

/** So many articles of the latest segments: some 80 MB. What is older was mostly asked for already. */
export const LATEST_ARTICLES = 32_768

interface Dictionary {
  blocks: Buffer
  /** Bucket n is `blocks` from `starts[n]` to before `starts[n + 1]`. */
  starts: Uint32Array
}

export function createWholeSegments(): WholeSegments {
  const dictionaries = new Map<number, Dictionary>()
  let followed: { version: bigint; articles: number; segments: Segment[] } | null = null
  let newest = -1n
  let warned = -1n
  let reading = false

  async function readAll(db: Queryable): Promise<void> {
    reading = true
    for (;;) {
      const goal = followed
      const missing = goal?.segments.find(segment => !dictionaries.has(segment.no))
      if (goal === null || missing === undefined) break
      const dictionary = await readDictionary(db, missing, goal.version).catch((error: unknown) => {
        // Segments come and go; anything else is said once.
        if (!(error instanceof SegmentsChanged) && warned < goal.version) {
          warned = goal.version
          process.emitWarning(`A segment could not be read ahead: ${error}`)
        }
        return null
      })
      if (dictionary !== null) {
        if (followed?.segments.some(segment => segment.no === missing.no)) dictionaries.set(missing.no, dictionary)
      } else if (followed === goal) {
        // Replaced, or the database is away: the next search begins anew, and until then lists are read as they are asked for.
        followed = null
      }
    }
    reading = false
  }

  return {
    list(segment, lexeme) {
      const dictionary = dictionaries.get(segment.no)
      if (dictionary === undefined) return undefined
      const { blocks, starts } = dictionary
      const bucket = bucketOf(lexeme, segment.bucketBits)
      const size = articlesOf(segment)
      const block = blocks.subarray(starts[bucket], starts[bucket + 1])
      return readEntries(block, [lexeme], size).get(lexeme) ?? emptySet(size)
    },

    follow(db, catalogue, articles) {
      const { version } = catalogue
      if (version < newest || (followed?.version === version && followed.articles === articles)) return
      newest = version
      followed = { version, articles, segments: latest(catalogue, articles) }
      const wanted = new Set(followed.segments.map(segment => segment.no))
      for (const no of dictionaries.keys()) if (!wanted.has(no)) dictionaries.delete(no)
      if (!reading) void readAll(db)
    },
  }
}

/** Latest first. */
function latest({ segments }: Catalogue, articles: number): Segment[] {
  let sum = 0
  return segments.toReversed().filter(segment => {
    sum += articlesOf(segment)
    return sum <= articles
  })
}

/** Buckets of one statement: some hundred kB, a millisecond of the event loop. */
const PART = 256

async function readDictionary(db: Queryable, segment: Segment, version: bigint): Promise<Dictionary> {
  const buckets = 1 << segment.bucketBits
  const starts = new Uint32Array(buckets + 1)
  const blocks: Buffer[] = []
  let bytes = 0
  let next = 0
  const startTo = (bucket: number) => {
    while (next <= bucket) starts[next++] = bytes
  }
  for (let from = 0; from < buckets; from += PART) {
    const { rows } = await db.query<{ version: bigint; bucket: number | null; block: Buffer }>({
      name: 'search-dictionary',
      text: DICTIONARY,
      values: [segment.no, from, from + PART - 1],
    })
    expectVersion(version, rows[0]?.version)
    for (const { bucket, block } of rows) {
      if (bucket === null) continue
      startTo(bucket)
      blocks.push(block)
      bytes += block.length
    }
  }
  startTo(buckets)
  return { blocks: Buffer.concat(blocks), starts }
}

// $1 segment, $2 $3 buckets from and to. Index: the primary key.
const DICTIONARY = `
  select v.version, b.bucket, b.block
  from segments_version v
  left join segment_buckets b on b.segment_no = $1 and b.bucket between $2 and $3
  order by b.bucket`
