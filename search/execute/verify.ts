import type { SegmentCache } from '../cache/segment-cache.ts'
import type { Verification } from '../query/match.ts'
import type { Columns } from '../segment/columns.ts'
import {
  bytesOf,
  type DocIdSet,
  difference,
  docsOf,
  emptySet,
  intersection,
  ownCopy,
  passing,
  union,
} from '../segment/doc-id-set.ts'
import type { ArticleSource } from '../store/article-source.ts'
import type { SegmentMeta } from '../store/segment-store.ts'
import { isExact, type TwoPhaseMatches } from './two-phase.ts'

/** The matches of a segment as far as posting lists and columns tell. */
export interface SegmentMatches {
  segment: SegmentMeta
  columns: Columns
  /** Whether times and `seq` excluded none. */
  isWhole: boolean
  matches: TwoPhaseMatches
}

/**
 * The second phase of matching: looks at the words of the documents that posting lists leave open.
 * The result is cached, so later pages of the same search need not look again.
 *
 * @returns the matching documents of each segment
 */
export async function verifyMatches(
  source: ArticleSource,
  cache: SegmentCache,
  found: SegmentMatches[],
  verification: Verification | null,
  version: bigint,
): Promise<DocIdSet[]> {
  if (found.every(({ matches }) => isExact(matches))) return found.map(one => one.matches.candidates)
  const key = JSON.stringify(verification)
  const states = found.map(one => stateOf(one, cache, key))
  const seqs = states.flatMap(({ of, unknown }) => seqsOf(of, unknown))
  const passed = new Set(
    verification === null || seqs.length === 0 ? [] : await source.verify(seqs, verification, version),
  )
  return states.map(({ of, open, known, unknown }) => {
    const { segment, columns, matches } = of
    if (open.count === 0) return matches.candidates
    const matching = passing(unknown, doc => passed.has(segment.first + BigInt(columns.offsets[doc]!)))
    const yes = union([known.yes, matching], open.size)
    if (unknown.count > 0) {
      const no = union([known.no, difference(unknown, matching)], open.size)
      const verified = { yes: ownCopy(yes), no: ownCopy(no) }
      cache.verified.set({ segment, key }, verified, bytesOf(verified.yes) + bytesOf(verified.no) + key.length)
    }
    return union([matches.confirmed, intersection(open, yes)], open.size)
  })
}

/**
 * The open documents of a segment: those that the cache knows, and those whose words must be read.
 */
function stateOf(of: SegmentMatches, cache: SegmentCache, key: string) {
  const { confirmed, candidates } = of.matches
  const none = emptySet(candidates.size)
  const open = isExact(of.matches) ? none : difference(candidates, confirmed)
  const cached = open.count > 0 ? cache.verified.get({ segment: of.segment, key }) : undefined
  const known = cached ?? { yes: none, no: none }
  return { of, open, known, unknown: difference(difference(open, known.yes), known.no) }
}

function seqsOf({ segment, columns }: SegmentMatches, set: DocIdSet): bigint[] {
  return Array.from(docsOf(set), doc => segment.first + BigInt(columns.offsets[doc]!))
}
