import type { Hit } from '../execute/plan.ts'
import { ArchiveFailure } from './client.ts'
import { LAST } from './documents.ts'

/** A bucket of an aggregation whose buckets come in pages. */
export interface CompositeBucket {
  key: Readonly<Record<string, unknown>>
  count: number
  /** The date of the newest document, ms since 1970; NaN: the request did not ask for it. */
  newest: number
}

/** A match. NaN: the article has no such time, or the request did not ask for it. */
export interface ArchiveHit extends Hit {
  published: number
  ingested: number
}

/** The parts of an answer of `_search` that we use. */
export interface SearchAnswer {
  /** Matches, counted up to the limit of the request; null: the request asked for no count. */
  total: number | null
  hits: ArchiveHit[]
  /** How many documents each bucket of an aggregation has, in the order of the buckets. */
  counts(name: string): number[]
  composite(name: string): { buckets: CompositeBucket[]; after: unknown }
}

/**
 * Reads an answer of `_search`. Refuses an answer that lacks the matches of some shards.
 *
 * @param isScored whether hits carry scores between sort value and id
 * @throws ArchiveFailure
 */
export function readAnswer(answer: unknown, isScored: boolean): SearchAnswer {
  const { timed_out: timedOut, _shards: shards, hits, aggregations } = recordOf(answer)
  if (timedOut !== false || recordOf(shards).failed !== 0)
    throw new ArchiveFailure(
      'OpenSearch answered with a part of the matches; see the health of its shards.',
      null,
    )
  const { total, hits: list } = recordOf(hits ?? {})
  const aggregation = (name: string) => recordOf(recordOf(aggregations)[name])
  return {
    total: total === undefined ? null : numberOf(recordOf(total).value),
    hits: listOf(list ?? []).map(hit => hitOf(recordOf(hit), isScored)),
    counts(name) {
      const { buckets, doc_count: single } = aggregation(name)
      if (single !== undefined) return [numberOf(single)]
      return listOf(buckets).map(bucket => numberOf(recordOf(bucket).doc_count))
    },
    composite(name) {
      const { buckets, after_key: after } = aggregation(name)
      const read = listOf(buckets).map(bucket => {
        const { key, doc_count: count, ...found } = recordOf(bucket)
        return { key: recordOf(key), count: numberOf(count), newest: newestOf(found) }
      })
      return { buckets: read, after }
    },
  }
}

function hitOf({ fields, sort }: Record<string, unknown>, isScored: boolean): ArchiveHit {
  const values = listOf(sort)
  const value = numberOf(values[0])
  const { seq, published, ingested } = recordOf(fields)
  const timeOf = (field: unknown) => (field === undefined ? Number.NaN : numberOf(listOf(field)[0]))
  return {
    seq: BigInt(numberOf(listOf(seq)[0])),
    published: timeOf(published),
    ingested: timeOf(ingested),
    value: Math.abs(value) === LAST ? null : value,
    score: isScored ? numberOf(values[1]) : 0,
    id: String(values.at(-1)),
    address: null,
  }
}

/** The later of the two times that `NEWEST` asks for (`archive.ts`). */
function newestOf({ dated, undated }: Record<string, unknown>): number {
  if (dated === undefined) return Number.NaN
  const times = [recordOf(dated).value, recordOf(recordOf(undated).ingested).value]
  return Math.max(...times.filter(time => time !== null).map(numberOf))
}

/** @throws ArchiveFailure when the value is no object */
export function recordOf(value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null) throw strange()
  return Object.fromEntries(Object.entries(value))
}

function listOf(value: unknown): unknown[] {
  if (!Array.isArray(value)) throw strange()
  return value
}

/** @throws ArchiveFailure when the value is no number */
export function numberOf(value: unknown): number {
  if (typeof value !== 'number') throw strange()
  return value
}

const strange = () =>
  new ArchiveFailure(
    'OpenSearch answered in a form that is not understood; is OPENSEARCH_URL its address?',
    null,
  )
