import type { Country, Language } from '../../shared/articles/article.ts'
import type { Client, Queryable } from '../../shared/postgres/pool.ts'
import { atOnce, type Pace } from '../merge/pace.ts'
import type { Range } from '../merge/policy.ts'
import type { BuiltSegment, SegmentSource } from '../segment/builder.ts'

/** An article as `SOURCE_COLUMNS` give it. */
export interface SourceRow {
  seq: bigint
  id: string
  published: number | null
  ingested: number | null
  publisher_no: number
  author_nos: number[]
  country: Country
  language: Language
}

/** What the index of words knows of an article besides its words, of `articles a`. */
export const SOURCE_COLUMNS = `
  a.seq, a.id, (extract(epoch from a.published_at) * 1000)::float8 as published,
  (extract(epoch from a.ingested_at) * 1000)::float8 as ingested, a.publisher_no, a.author_nos, a.country, a.language`

export function sourceOf(row: SourceRow): SegmentSource {
  const { seq, id, published, ingested, country, language, publisher_no, author_nos } = row
  return { seq, id, published, ingested, country, language, publisherNo: publisher_no, authorNos: author_nos }
}

/** What a segment knows of its articles besides their words. */
export async function readSegmentArticles(db: Queryable, { first, last }: Range): Promise<SegmentSource[]> {
  const { rows } = await db.query<SourceRow>(`select ${SOURCE_COLUMNS} from articles a where a.seq between $1 and $2`, [
    first,
    last,
  ])
  return rows.map(sourceOf)
}

/**
 * One transaction: a search sees either that the articles are fresh (or in smaller segments), or the new segment.
 *
 * @returns numbers of the segments that it replaces, ascending
 */
export async function storeSegment(
  client: Client,
  range: Range,
  articles: SegmentSource[],
  built: BuiltSegment,
  pace: Pace = atOnce,
): Promise<number[]> {
  const replaced = await client.query<{ segment_no: number }>(
    'delete from segments where first_seq >= $1 and last_seq <= $2 returning segment_no',
    [range.first, range.last],
  )
  const numbers = replaced.rows.map(row => row.segment_no).sort((a, b) => a - b)
  await client.query('delete from segment_buckets where segment_no = any($1::int[])', [numbers])
  const published = extent(articles.map(article => article.published))
  const ingested = extent(articles.map(article => article.ingested))
  const added = await client.query<{ segment_no: number }>(ADD_SEGMENT, [
    range.first,
    range.last,
    built.bucketBits,
    ...published,
    ...ingested,
    articles.filter(article => article.published === null).length,
    built.columns,
  ])
  for (const part of parts(built.buckets)) {
    pace()
    await client.query('insert into segment_buckets select $1, * from unnest($2::int[], $3::bytea[])', [
      added.rows[0]!.segment_no,
      part.map(one => one.bucket),
      part.map(one => one.block),
    ])
  }
  await client.query('update segments_version set version = version + 1')
  return numbers
}

// $1 $2 range, $3 bits, $4 $5 published, $6 $7 ingested, $8 undated, $9 columns
const ADD_SEGMENT = `
  insert into segments (first_seq, last_seq, bucket_bits,
    first_published, last_published, first_ingested, last_ingested, undated, columns)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
  returning segment_no`

function extent(times: (number | null)[]): [Date | null, Date | null] {
  let [first, last] = [Infinity, -Infinity]
  for (const time of times) {
    if (time === null) continue
    if (time < first) first = time
    if (time > last) last = time
  }
  return first > last ? [null, null] : [new Date(first), new Date(last)]
}

/** Bytes of one insert. */
const INSERT_BYTES = 1_000_000

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
