import type { SegmentCache } from '../cache/segment-cache.ts'
import type { ScoringTerm } from '../query/match.ts'
import { type DocIdSet, has } from '../segment/doc-id-set.ts'
import type { SegmentMeta } from '../store/segment-store.ts'
import { TERMS } from '../terms.ts'

/** The scores of some documents of stored segments, in their order. */
export async function scoreStored(
  cache: SegmentCache,
  hits: { segment: SegmentMeta; doc: number }[],
  scoring: ScoringTerm[],
  version: bigint,
): Promise<number[]> {
  const terms = [...new Set(scoring.flatMap(one => [one.term, TERMS.language(one.language)]))]
  const segments = [...new Set(hits.map(hit => hit.segment))]
  const lists = await readLists(cache, segments, terms, version)
  const scorers = new Map(
    segments.map(segment => {
      const own = lists.get(segment)!
      return [
        segment,
        scoring.map(({ language, term, weight }) => ({
          inLanguage: own.get(TERMS.language(language))!,
          withTerm: own.get(term)!,
          weight,
        })),
      ]
    }),
  )
  return hits.map(({ segment, doc }) => {
    let score = 0
    for (const { inLanguage, withTerm, weight } of scorers.get(segment)!) {
      if (has(inLanguage, doc) && has(withTerm, doc)) score += weight
    }
    return score
  })
}

async function readLists(
  cache: SegmentCache,
  segments: SegmentMeta[],
  terms: string[],
  version: bigint,
): Promise<Map<SegmentMeta, Map<string, DocIdSet>>> {
  const lists = new Map(segments.map(segment => [segment, new Map<string, DocIdSet>()]))
  const missing: { segment: SegmentMeta; term: string }[] = []
  for (const [segment, own] of lists) {
    for (const term of terms) {
      const known = cache.list(segment, term)
      if (known === undefined) missing.push({ segment, term })
      else own.set(term, known)
    }
  }
  const read = missing.length === 0 ? [] : await cache.readLists(missing, version)
  missing.forEach(({ segment, term }, index) => void lists.get(segment)!.set(term, read[index]!))
  return lists
}
