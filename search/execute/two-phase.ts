import type { SegmentCache } from '../cache/segment-cache.ts'
import type { Pace } from '../pace.ts'
import type { Expression, QueryNode } from '../query/parse.ts'
import type { Columns } from '../segment/columns.ts'
import {
  bytesOf,
  type DocIdSet,
  difference,
  docsOf,
  emptySet,
  intersection,
  intersectionOf,
  ownCopy,
  passing,
  union,
} from '../segment/doc-id-set.ts'
import { isFrequent, NGRAMS } from '../segment/ngrams.ts'
import type { ArticleSource } from '../store/article-source.ts'
import type { SegmentMeta } from '../store/segment-store.ts'
import { TERMS } from '../terms.ts'

/*
 * Matching has two phases (Lucene: TwoPhaseIterator). The first phase evaluates a query on the
 * posting lists of a stored segment. The second phase reads the words of the documents that are
 * still undecided.
 */

/**
 * Documents in `confirmed` match. Documents outside `candidates` do not match. The other candidates
 * must be verified.
 */
export interface TwoPhaseMatches {
  confirmed: DocIdSet
  candidates: DocIdSet
}

/**
 * The posting list of a term. null: the list is not loaded yet; the caller loads it and evaluates
 * again, so the result of this evaluation does not count.
 */
type PostingLists = (term: string) => DocIdSet | null

/**
 * @param size documents of the segment
 * @param within only these documents matter, and the result for others does not count; null: all.
 *   Given when they are so few that a test of each costs less than a step over all documents.
 */
type Evaluate = (lists: PostingLists, size: number, within: DocIdSet | null) => TwoPhaseMatches

/**
 * Whether a set is so small that it is passed on as `within`. To test each of its documents then
 * costs less than a step over all documents.
 */
const isFew = (set: DocIdSet) => set.kind === 'array' && set.count * 64 <= set.size

export const limitTo = (set: DocIdSet, within: DocIdSet | null): DocIdSet =>
  within === null ? set : intersection(within, set)

const isExact = ({ confirmed, candidates }: TwoPhaseMatches) =>
  confirmed === candidates || confirmed.count === candidates.count

const exactly = (set: DocIdSet): TwoPhaseMatches => ({ confirmed: set, candidates: set })

/**
 * Makes the function that evaluates a query on posting lists. The work that is the same for every
 * segment is done here, once.
 */
export function compile(node: QueryNode): Evaluate {
  switch (node.kind) {
    case 'term':
      return (lists, size, within) => exactly(limitTo(lists(node.term) ?? emptySet(size), within))
    case 'or':
      return disjunction(node.of.map(compile))
    case 'and': {
      const terms = node.of.flatMap(clause => (clause.kind === 'term' ? [clause.term] : []))
      const others = cheapFirst(node.of.filter(clause => clause.kind !== 'term')).map(compile)
      return terms.length > MANY ? longConjunction(terms, others) : conjunction(terms, others)
    }
    case 'andNot':
      return exclusion(compile(node.of), node.not.map(compile))
    case 'near': {
      const both = compile(node.of)
      return (lists, size, within) => ({ ...both(lists, size, within), confirmed: emptySet(size) })
    }
    case 'phrase':
      return node.scope === 'title' ? titlePhrase(node.words) : phrase(node.words)
  }
}

function disjunction(clauses: Evaluate[]): Evaluate {
  return (lists, size, within) => {
    const matches = clauses.map(clause => clause(lists, size, within))
    const confirmed = union(
      matches.map(one => one.confirmed),
      size,
    )
    if (matches.every(isExact)) return exactly(confirmed)
    const candidates = union(
      matches.map(one => one.candidates),
      size,
    )
    return { confirmed, candidates }
  }
}

/**
 * Puts clauses with phrases last, because they may leave documents undecided and need more lists.
 */
export const cheapFirst = (clauses: QueryNode[]): QueryNode[] =>
  clauses.toSorted((a, b) => phrasesOf(a) - phrasesOf(b))

/** How many phrases a query has. NEAR counts as a phrase. */
export function phrasesOf(node: QueryNode): number {
  const own = node.kind === 'phrase' || node.kind === 'near' ? 1 : 0
  return clausesOf(node).reduce((sum, clause) => sum + phrasesOf(clause), own)
}

/** Whether a query has a NEAR, or a phrase of an expression, which is read as one. */
export const hasNear = (node: QueryNode): boolean =>
  node.kind === 'near' || clausesOf(node).some(hasNear)

function clausesOf(node: QueryNode): readonly QueryNode[] {
  if (node.kind === 'term' || node.kind === 'phrase') return []
  if (node.kind === 'near') return [node.of]
  return node.kind === 'andNot' ? [node.of, ...node.not] : node.of
}

/**
 * Evaluates the single terms first; the other clauses then check only the documents that remain.
 * When no document remains, the lists of the other clauses are not needed.
 */
function conjunction(terms: string[], others: Evaluate[]): Evaluate {
  return (lists, size, within) => {
    const watched = watch(lists)
    const loaded = terms.map(watched.lists)
    const known = loaded.filter(set => set !== null)
    let few = within
    let matches = known.map(exactly)
    if (known.length < loaded.length) {
      // A list is missing, so the query will be evaluated again. The other clauses only have to
      // name the lists that they need.
      few = emptySet(size)
    } else if (known.some(set => set.kind === 'array')) {
      const found = intersectionOf(known)
      if (found.count === 0) return exactly(found)
      if (isFew(found)) few = found
      matches = [exactly(found)]
    }
    for (const clause of others) {
      const found = clause(watched.lists, size, few)
      if (leavesNothing(found, watched)) return exactly(found.candidates)
      if (isFew(found.candidates)) few = found.candidates
      matches.push(found)
    }
    if (matches.length === 0) return exactly(emptySet(size))
    return intersect(matches)
  }
}

const leavesNothing = ({ candidates }: TwoPhaseMatches, { isMissing }: WatchedLists) =>
  candidates.count === 0 && !isMissing()

/** Evaluates the first `MANY` terms alone, and the whole conjunction only if documents remain. */
function longConjunction(terms: string[], others: Evaluate[]): Evaluate {
  const first = terms.slice(0, MANY)
  const whole = conjunction(terms, others)
  return (lists, size, within) => {
    const loaded = first.map(lists)
    const known = loaded.filter(set => set !== null)
    const left = known.length < loaded.length ? emptySet(size) : intersectionOf(known)
    return left.count === 0 ? exactly(left) : whole(lists, size, isFew(left) ? left : within)
  }
}

function intersect(matches: TwoPhaseMatches[]): TwoPhaseMatches {
  if (matches.every(isExact)) return exactly(intersectionOf(matches.map(one => one.confirmed)))
  // The smallest set comes first: its documents are looked up in the larger ones.
  const smallestFirst = matches.toSorted((a, b) => a.candidates.count - b.candidates.count)
  return smallestFirst.reduce((a, b) => {
    const confirmed = intersection(a.confirmed, b.confirmed)
    if (isExact(a) && isExact(b)) return exactly(confirmed)
    return { confirmed, candidates: intersection(a.candidates, b.candidates) }
  })
}

function exclusion(of: Evaluate, not: Evaluate[]): Evaluate {
  return (lists, size, within) => {
    const watched = not.length > MANY ? watch(lists) : null
    let left = of(watched?.lists ?? lists, size, within)
    // If a list of `of` is missing, the query will be evaluated again. The lists of the exclusions
    // wait until then, because most segments may then have no document left.
    if (watched?.isMissing() || (watched !== null && left.candidates.count === 0)) return left
    for (const clause of not) {
      const found = clause(lists, size, isFew(left.candidates) ? left.candidates : within)
      const confirmed = difference(left.confirmed, found.candidates)
      left =
        isExact(left) && isExact(found)
          ? exactly(confirmed)
          : { confirmed, candidates: difference(left.candidates, found.confirmed) }
    }
    return left
  }
}

/**
 * With more clauses than this, a query does not load all lists at once. It first loads the lists of
 * a conjunction's first `MANY` terms, of a phrase's first `MANY` pairs, or of the included part of
 * an exclusion. It loads the other lists only where documents remain.
 */
const MANY = 8

interface WatchedLists {
  lists: PostingLists
  /** Whether one of the requested lists was not loaded. */
  isMissing(): boolean
}

function watch(lists: PostingLists): WatchedLists {
  let missing = false
  return {
    lists(term) {
      const list = lists(term)
      if (list === null) missing = true
      return list
    },
    isMissing: () => missing,
  }
}

/** The terms of two neighbouring words of a phrase. */
interface PairTerms {
  own: string
  /** For a pair without a list of its own: three terms that every document with the pair has. */
  otherwise: [shared: string, first: string, second: string]
}

/** The terms of three neighbouring words of a phrase. */
interface TripleTerms {
  own: string
  shared: string
}

/**
 * Evaluates a phrase by n-grams (`segment/ngrams.ts`). When a phrase of two or three words has a
 * list of its own, this list is the exact answer.
 */
function phrase(words: string[]): Evaluate {
  const pairTerms = wordPairs(words).map(
    ([first, second]): PairTerms => ({
      own: NGRAMS.pair(first, second),
      otherwise: [NGRAMS.sharedPair(first, second), TERMS.word(first), TERMS.word(second)],
    }),
  )
  const tripleTerms = words.slice(2).map(
    (third, at): TripleTerms => ({
      own: NGRAMS.triple(words[at]!, words[at + 1]!, third),
      shared: NGRAMS.sharedTriple(words[at]!, words[at + 1]!, third),
    }),
  )
  const first = pairTerms.length > MANY ? pairTerms.slice(0, MANY) : null
  return (lists, size, within) => {
    if (first !== null && !canHaveAll(first, lists, size)) return exactly(emptySet(size))
    const pairs = pairTerms.map(pair => lists(pair.own))
    // The lists of `pairs` decide which other lists are needed. The list of a single triple is
    // mostly needed, so it is requested at once.
    if (tripleTerms.length === 1) lists(tripleTerms[0]!.own)
    if (!pairs.every(pair => pair !== null)) return exactly(emptySet(size))
    if (pairs.length === 1 && pairs[0]!.count > 0) return exactly(limitTo(pairs[0]!, within))
    const triples = tripleBounds(pairs, tripleTerms, lists, size)
    if (pairs.length === 2 && triples.exact !== null) return exactly(limitTo(triples.exact, within))
    const bounds = [...pairBounds(pairs, pairTerms, lists, size), ...triples.bounds]
    if (within !== null) bounds.push(within)
    return { confirmed: emptySet(size), candidates: intersectionOf(bounds) }
  }
}

/** Whether a document can have all pairs. The result is also false while a list is not loaded. */
function canHaveAll(terms: PairTerms[], lists: PostingLists, size: number): boolean {
  const pairs = terms.map(pair => lists(pair.own)).filter(pair => pair !== null)
  if (pairs.length < terms.length) return false
  // A list that several rare pairs share is short.
  const bounds = pairs.map((pair, at) =>
    pair.count > 0 ? pair : (lists(terms[at]!.otherwise[0]) ?? emptySet(size)),
  )
  return intersectionOf(bounds).count > 0
}

/** Each of these sets contains every document that has all pairs, and possibly more documents. */
function pairBounds(
  pairs: DocIdSet[],
  terms: PairTerms[],
  lists: PostingLists,
  size: number,
): DocIdSet[] {
  return pairs.flatMap((pair, at) =>
    pair.count > 0 ? [pair] : terms[at]!.otherwise.map(term => lists(term) ?? emptySet(size)),
  )
}

/**
 * `bounds`: each of these sets contains every document that has all triples, and possibly more
 * documents. A triple that is in no list adds no set. `exact`: the list of the last triple that has
 * a list of its own; it contains no other documents. A triple can have a list only where both of
 * its pairs have one.
 */
function tripleBounds(pairs: DocIdSet[], terms: TripleTerms[], lists: PostingLists, size: number) {
  const bounds: DocIdSet[] = []
  let exact: DocIdSet | null = null
  for (const [at, { own, shared }] of terms.entries()) {
    const fewer = Math.min(pairs[at]!.count, pairs[at + 1]!.count)
    const triple = fewer === 0 ? null : lists(own)
    if (triple === null) continue
    if (triple.count > 0) exact = triple
    if (triple.count > 0) bounds.push(triple)
    else if (isFrequent(fewer, size)) bounds.push(lists(shared) ?? emptySet(size))
  }
  return { bounds, exact }
}

function titlePhrase(words: string[]): Evaluate {
  const [only, ...more] = wordPairs(words)
  const pairTerm = only !== undefined && more.length === 0 ? NGRAMS.titlePair(...only) : null
  const titleWords = words.map(word => TERMS.titleWord(word))
  const anywhere = phrase(words)
  return (lists, size, within) => {
    const nothing = emptySet(size)
    if (pairTerm !== null) {
      const pair = lists(pairTerm)
      if (pair === null) return exactly(nothing)
      if (pair.count > 0) return exactly(limitTo(pair, within))
    }
    const inTitle = titleWords.map(word => lists(word) ?? nothing)
    const found = intersectionOf(within === null ? inTitle : [within, ...inTitle])
    if (found.count === 0) return exactly(found)
    return { confirmed: nothing, candidates: anywhere(lists, size, found).candidates }
  }
}

const wordPairs = (words: string[]): [string, string][] =>
  words.slice(1).map((word, at) => [words[at]!, word])

/** The matches of a segment, as posting lists and columns decide them. */
export interface SegmentMatches {
  segment: SegmentMeta
  columns: Columns
  /** Whether the filter's times and `seq` excluded no document. */
  isWhole: boolean
  matches: TwoPhaseMatches
}

/**
 * The second phase of matching: reads the words of the documents that posting lists leave
 * undecided. The result is cached, so later pages of the same search need not read them again.
 *
 * @returns the matching documents of each segment
 */
export async function verifyMatches(
  { source, cache, pace }: { source: ArticleSource; cache: SegmentCache; pace: Pace },
  found: SegmentMatches[],
  verification: Expression | null,
  version: bigint,
): Promise<DocIdSet[]> {
  if (found.every(({ matches }) => isExact(matches)))
    return found.map(one => one.matches.candidates)
  const key = JSON.stringify(verification)
  const states = found.map(one => stateOf(one, cache, key))
  const seqs = states.flatMap(({ of, unknown }) => seqsOf(of, unknown))
  const passed = new Set(
    verification === null || seqs.length === 0
      ? []
      : await source.verify(seqs, verification, version, pace),
  )
  return states.map(({ of, open, known, unknown }) => {
    const { segment, columns, matches } = of
    if (open.count === 0) return matches.candidates
    const matching = passing(unknown, doc =>
      passed.has(segment.first + BigInt(columns.offsets[doc]!)),
    )
    const yes = union([known.yes, matching], open.size)
    if (unknown.count > 0) {
      const no = union([known.no, difference(unknown, matching)], open.size)
      const verified = { yes: ownCopy(yes), no: ownCopy(no) }
      cache.verified.set(
        { segment, key },
        verified,
        bytesOf(verified.yes) + bytesOf(verified.no) + key.length,
      )
    }
    return union([matches.confirmed, intersection(open, yes)], open.size)
  })
}

/**
 * The undecided documents of a segment: those that the cache knows, and those whose words must be
 * read.
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
