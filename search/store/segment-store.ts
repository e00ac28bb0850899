import type { Queryable } from '../../shared/postgres/pool.ts'

/** What a search knows of a segment before it reads anything of it. */
export interface Segment {
  no: number
  /** Numbers of its articles, both included. */
  first: bigint
  last: bigint
  bucketBits: number
  /** Earliest and latest, ms since 1970; null: no article has the date. */
  published: { first: number; last: number } | null
  ingested: { first: number; last: number } | null
  /** Articles without a date of publication. */
  undated: number
}

/** How many articles a segment holds. */
export const articlesOf = (segment: Segment) => Number(segment.last - segment.first) + 1

/** All segments of one moment: they hold the articles up to `covered`, each once. */
export interface Catalogue {
  version: bigint
  segments: Segment[]
  covered: bigint
}

/** The segments are others than when the search began; it begins again. */
export class SegmentsChanged extends Error {
  override name = 'SegmentsChanged'
}

/**
 * Every statement of a search tells the version that its snapshot saw, and all must have seen the same: articles move from the
 * fresh ones to a segment, and from smaller segments to a larger, each time with a new version.
 */
export function expectVersion(expected: bigint, seen: bigint | undefined): void {
  if (seen !== expected) throw new SegmentsChanged('segments were replaced during a search')
}

const catalogues = new WeakMap<Queryable, Catalogue>()

/** The segments, read again when their version is not the one that is known. */
export async function readCatalogue(db: Queryable, version: bigint): Promise<Catalogue> {
  const known = catalogues.get(db)
  if (known?.version === version) return known
  const { rows } = await db.query<CatalogueRow>(CATALOGUE)
  const segments = rows.flatMap(row => (row.segment_no === null ? [] : [segmentOf(row)]))
  const catalogue = { version: rows[0]!.version, segments, covered: segments.at(-1)?.last ?? 0n }
  catalogues.set(db, catalogue)
  return catalogue
}

interface CatalogueRow {
  version: bigint
  segment_no: number | null
  first_seq: bigint
  last_seq: bigint
  bucket_bits: number
  first_published: Date | null
  last_published: Date | null
  first_ingested: Date | null
  last_ingested: Date | null
  undated: number
}

function segmentOf(row: CatalogueRow): Segment {
  const span = (first: Date | null, last: Date | null) =>
    first === null || last === null ? null : { first: first.getTime(), last: last.getTime() }
  return {
    no: row.segment_no!,
    first: row.first_seq,
    last: row.last_seq,
    bucketBits: row.bucket_bits,
    published: span(row.first_published, row.last_published),
    ingested: span(row.first_ingested, row.last_ingested),
    undated: row.undated,
  }
}

const CATALOGUE = `
  select v.version, s.segment_no, s.first_seq, s.last_seq, s.bucket_bits,
    s.first_published, s.last_published, s.first_ingested, s.last_ingested, s.undated
  from segments_version v left join segments s on true
  order by s.first_seq`
