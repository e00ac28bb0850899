import type { KnownCount } from '../cache/cache.ts'
import type { SegmentCache } from '../cache/segment-cache.ts'
import type { Pace } from '../pace.ts'
import type { QueryNode } from '../query/parse.ts'
import type { Columns } from '../segment/columns.ts'
import { type DocIdSet, difference, rangeSet } from '../segment/doc-id-set.ts'
import { countBetween } from '../segment/postings-builder.ts'
import type { ArticleSource } from '../store/article-source.ts'
import { type ListKey, type SegmentMeta, sizeOf } from '../store/segment-store.ts'
import type { Collector, Question, SegmentReader } from './collector.ts'
import type { IndexPart, StoredMeta } from './index-parts.ts'
import {
  type Ahead,
  applyFilter,
  inOrder,
  type MatchOrder,
  passingPart,
  type SearchPlan,
  valuesOf,
} from './plan.ts'
import { compile, type SegmentMatches, type TwoPhaseMatches, verifyMatches } from './two-phase.ts'

/*
 * A search takes stored segments in batches, in its own order, and stops when its collectors are
 * complete. Posting lists and columns decide most documents. The search reads the words of the
 * others only.
 */

/** The parts of an index that matching needs. */
interface StoredContext {
  cache: SegmentCache
  pace: Pace
  source: ArticleSource
  meta: StoredMeta
}

/** The stored segments as a part of the index. A search matches them in its own order. */
export function storedSegments(
  context: StoredContext,
  plan: SearchPlan,
  order: MatchOrder,
): IndexPart {
  const ahead = inOrder(context.meta.segments, order, plan.filter)
  return {
    startsAt: ahead[0]?.startsAt ?? null,
    match: collectors => matchAhead(context, plan, order, ahead, collectors),
  }
}

async function matchAhead(
  context: StoredContext,
  plan: SearchPlan,
  order: MatchOrder,
  ahead: Ahead<SegmentMeta>[],
  collectors: readonly Collector[],
): Promise<void> {
  const known = openKnownCounts(context, plan)
  const [counters, others] = partition(collectors)
  let open = ahead.filter(({ segment }) => !known.hasNone(segment))
  let count = 0
  let seenArticles = 0
  let articles = order.first
  /**
   * Whether more segments are matched before words are read, because one statement then reads the
   * words of all. This holds while even all candidates cannot complete the count, so that the
   * search needs the next segment anyway.
   */
  const isWorthMore = (found: readonly SegmentMatches[], next: SegmentMeta): boolean => {
    const candidates = countCandidates(found)
    const undecided = candidates - sumOf(found, ({ matches }) => matches.confirmed.count)
    if (undecided === 0 || undecided >= READ_TOGETHER) return false
    return count + candidates < order.limit && !(counters.length > 0 && known.has(next))
  }
  for (let next = open[0]; next !== undefined; next = open[0]) {
    const { startsAt } = next
    if (others.every(collector => collector.isComplete(startsAt))) {
      open = open.filter(({ segment }) => !known.count(segment, counters))
      if (open.length === 0 || counters.every(collector => collector.isComplete(startsAt))) break
    }
    const batch: Ahead<SegmentMeta>[] = []
    const found: SegmentMatches[] = []
    do {
      const taken = takeArticles(open, articles)
      open = open.slice(taken.length)
      const segments = taken.map(one => one.segment)
      batch.push(...taken)
      found.push(...(await matchSegments(context, segments, plan)))
      for (const segment of segments) seenArticles += sizeOf(segment)
      articles = nextArticles(count + countCandidates(found), seenArticles, order.limit)
    } while (open.length > 0 && isWorthMore(found, open[0]!.segment))
    const matches = await verifyMatches(context, found, plan.verification, context.meta.version)
    known.add(found, matches)
    count += await collectFrom(context, batch, found, matches, collectors)
    articles = nextArticles(count, seenArticles, order.limit)
  }
  known.keep()
}

/** The search matches no more segments before it reads the words of this many documents. */
const READ_TOGETHER = 256

const countCandidates = (found: readonly SegmentMatches[]): number =>
  sumOf(found, ({ matches }) => matches.candidates.count)

const sumOf = <T>(all: readonly T[], of: (one: T) => number): number =>
  all.reduce((sum, one) => sum + of(one), 0)

/**
 * Hands the matches of a batch to collectors.
 *
 * @returns the number of matches
 */
async function collectFrom(
  context: StoredContext,
  batch: Ahead<SegmentMeta>[],
  found: SegmentMatches[],
  matches: DocIdSet[],
  collectors: readonly Collector[],
): Promise<number> {
  const terms = collectors.flatMap(collector => collector.terms ?? [])
  const segments = batch.map(one => one.segment)
  const lists =
    terms.length === 0 ? [] : await readTerms(context.cache, segments, terms, context.meta.version)
  const { pace } = context
  let count = 0
  for (const [index, { segment, columns }] of found.entries()) {
    const own = matches[index]!
    // A rare word has no match in most segments. Making a reader for each segment would then take
    // most of the time.
    if (own.count === 0) continue
    count += own.count
    const reader = readerOf(segment, columns, batch[index]!.startsAt, lists[index] ?? NO_LISTS)
    for (const collector of collectors) collector.collect(own, reader)
    if (pace.isDue()) await pace.rest()
  }
  return count
}

/**
 * How many articles to match next: as many as are likely to complete the collectors, and at most
 * four times those seen so far. A wrong guess then costs little.
 *
 * @param count matches in the `seen` articles
 */
function nextArticles(count: number, seen: number, limit: number): number {
  // A search without matches so far takes long steps, because each step costs a statement.
  const needed = limit > count ? ((limit - count) * seen) / count : seen
  return Math.min(needed, seen * 4)
}

const NO_LISTS: ReadonlyMap<string, DocIdSet> = new Map()

/** Reads posting lists of some terms. The result has a map by term for each segment. */
export async function readTerms(
  cache: SegmentCache,
  segments: SegmentMeta[],
  terms: readonly string[],
  version: bigint,
): Promise<Map<string, DocIdSet>[]> {
  const known = segments.map(() => new Map<string, DocIdSet>())
  const wanted: (ListKey & { own: Map<string, DocIdSet> })[] = []
  segments.forEach((segment, index) => {
    const own = known[index]!
    for (const term of terms) {
      const list = cache.list(segment, term)
      if (list === undefined) wanted.push({ segment, term, own })
      else own.set(term, list)
    }
  })
  const read = wanted.length === 0 ? [] : await cache.readLists(wanted, version)
  for (const [index, { own, term }] of wanted.entries()) own.set(term, read[index]!)
  return known
}

/** The next segments, until they have this many articles together. Takes at least one segment. */
function takeArticles(ahead: Ahead<SegmentMeta>[], articles: number): Ahead<SegmentMeta>[] {
  let to = 0
  for (let sum = 0; to < ahead.length && sum < articles; to++) sum += sizeOf(ahead[to]!.segment)
  return ahead.slice(0, to)
}

function readerOf(
  segment: SegmentMeta,
  columns: Columns,
  startsAt: number,
  lists: ReadonlyMap<string, DocIdSet>,
): SegmentReader {
  const { published, ingested, dated, offsets } = columns
  return {
    published,
    ingested,
    dated,
    startsAt,
    values: valuesOf(columns),
    list: term => lists.get(term)!,
    seqOf: doc => segment.first + BigInt(offsets[doc]!),
    offsets,
    idOf: () => null,
    addressOf: doc => ({ kind: 'stored', segment, doc }),
  }
}

/** Matches some segments by their posting lists and columns. Words are not read. */
async function matchSegments(
  { cache, meta, pace }: StoredContext,
  segments: SegmentMeta[],
  { node, filter }: SearchPlan,
): Promise<SegmentMatches[]> {
  const columns = await cache.columns(segments, meta.version)
  const matches =
    node === null ? null : await evaluate({ cache, pace }, segments, columns, node, meta.version)
  const found: SegmentMatches[] = []
  for (const [index, segment] of segments.entries()) {
    const own = columns[index]!
    const { confirmed, candidates } = matches?.[index] ?? everything(own.size)
    const passed = applyFilter(candidates, segment, own, filter)
    const exact = confirmed.count === candidates.count
    const removed = meta.removed.docsOf(segment, own.offsets)
    const shown = (set: DocIdSet) => (removed === null ? set : difference(set, removed))
    const left = shown(passed)
    found.push({
      segment,
      columns: own,
      isWhole: passed.count === candidates.count,
      matches: {
        confirmed: exact ? left : shown(applyFilter(confirmed, segment, own, filter)),
        candidates: left,
      },
    })
    if (pace.isDue()) await pace.rest()
  }
  return found
}

function everything(size: number): TwoPhaseMatches {
  const all = rangeSet(0, size, size)
  return { confirmed: all, candidates: all }
}

/**
 * Evaluates a query on some segments. The evaluation tells which posting lists it needs. Missing
 * lists are read together, and the evaluation starts again. `held` keeps the lists that were read,
 * because the cache may drop them.
 */
async function evaluate(
  { cache, pace }: Pick<StoredContext, 'cache' | 'pace'>,
  segments: SegmentMeta[],
  columns: Columns[],
  node: QueryNode,
  version: bigint,
): Promise<TwoPhaseMatches[]> {
  const held = new Map<SegmentMeta, Map<string, DocIdSet>>()
  const compiled = compile(node)
  for (;;) {
    // The lists of the cache by term. They are valid until this function awaits, because the cache
    // may then drop lists.
    let cached = new Map<string, ReturnType<SegmentCache['listsOf']>>()
    const ofTerm = (term: string) => {
      let known = cached.get(term)
      if (known === undefined) {
        known = cache.listsOf(term)
        cached.set(term, known)
      }
      return known
    }
    const wanted: ListKey[] = []
    const asked = new Set<string>()
    const matches: TwoPhaseMatches[] = []
    for (const [index, segment] of segments.entries()) {
      if (pace.isDue()) {
        await pace.rest()
        cached = new Map()
      }
      const own = held.get(segment)
      const lists = (term: string) => {
        const known = own?.get(term) ?? ofTerm(term)(segment, columns[index]!)
        if (known !== undefined) return known
        const key = `${segment.no} ${term}`
        if (!asked.has(key)) wanted.push({ segment, term })
        asked.add(key)
        return null
      }
      matches.push(compiled(lists, sizeOf(segment), null))
    }
    if (wanted.length === 0) return matches
    const lists = await cache.readLists(wanted, version)
    wanted.forEach(({ segment, term }, index) => {
      const own = held.get(segment)
      if (own === undefined) held.set(segment, new Map([[term, lists[index]!]]))
      else own.set(term, lists[index]!)
    })
  }
}

/** A collector that needs only the number of matches. */
type Counter = Collector & { question: Extract<Question, { kind: 'count' }> }

/** Separates the collectors that only count from the others. */
function partition(collectors: readonly Collector[]): [Counter[], Collector[]] {
  const isCounter = (collector: Collector): collector is Counter =>
    collector.question.kind === 'count'
  return [collectors.filter(isCounter), collectors.filter(collector => !isCounter(collector))]
}

/**
 * Numbers of matches that earlier searches with the same words and filters have counted in the
 * segments (`CountCache`).
 */
function openKnownCounts(
  { cache, meta }: Pick<StoredContext, 'cache' | 'meta'>,
  { node, verification, filter }: SearchPlan,
) {
  // A removal makes counts of before wrong.
  const key = JSON.stringify([node, verification, Number(meta.removed.last)])
  // Without a query all documents of a segment match, and their number is known.
  const counts = node === null ? null : cache.counts.of(key)
  let grown = false

  /** Matches of a segment that pass the filter; null: not known. */
  function passed(segment: SegmentMeta): number | null {
    const known = counts?.get(segment.no)
    if (known === undefined || known.all === 0) return known?.all ?? null
    const part = passingPart(segment, known, filter)
    return part === null ? null : known[part]
  }
  return {
    /** Whether a segment is known to have no match. */
    hasNone: (segment: SegmentMeta) => passed(segment) === 0,

    has: (segment: SegmentMeta) => passed(segment) !== null,

    /** Adds the known number of matches of a segment to the counters; false: it is not known. */
    count(segment: SegmentMeta, counters: readonly Counter[]): boolean {
      const known = passed(segment)
      if (known === null) return false
      for (const counter of counters) counter.question.take(known)
      return true
    },

    /** @param matches the matches of each segment of `found`, in the same order */
    add(found: readonly SegmentMatches[], matches: readonly DocIdSet[]): void {
      if (counts === null) return
      for (const [index, one] of found.entries()) {
        const { no } = one.segment
        const before = counts.get(no)
        const learned = learnedFrom(
          one,
          matches[index]!,
          passingPart(one.segment, one.columns, filter),
        )
        if (learned === null || before?.[learned.all === null ? 'dated' : 'all'] != null) continue
        counts.set(no, learned)
        grown = true
      }
    },

    /** Keeps the counts for later searches. */
    keep(): void {
      if (counts === null || !grown) return
      cache.counts.keep(
        key,
        counts,
        meta.segments.map(segment => segment.no),
      )
    },
  }
}

/** @param part the documents of the segment that passed the filter */
function learnedFrom(
  { segment, columns, isWhole }: SegmentMatches,
  matches: DocIdSet,
  part: 'all' | 'dated' | null,
): KnownCount | null {
  const { allIngested, dated } = columns
  if (isWhole || part === 'all') {
    const all = matches.count
    return {
      all,
      dated: segment.undated === 0 ? all : countBetween(matches, 0, dated),
      allIngested,
    }
  }
  return part === null ? null : { all: null, dated: matches.count, allIngested }
}
