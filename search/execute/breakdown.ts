import { placeOf } from '../analysis/hashes.ts'
import { foldName } from '../analysis/tokens.ts'
import type { NameCache } from '../cache/stored-articles.ts'
import { eachIn, type Pace } from '../pace.ts'
import { type TimeUnit, type TimeZone, timeBuckets } from '../query/calendar.ts'
import { type Axis, EMPTY_SPAN, type Sort, type TimeBounds } from '../query/filters.ts'
import { grown } from '../segment/arrays.ts'
import type { SegmentSource } from '../segment/builder.ts'
import { createSections } from '../segment/columns.ts'
import {
  arraySet,
  type DocIdSet,
  difference,
  docsOf,
  intersection,
  passing,
  rangeSet,
} from '../segment/doc-id-set.ts'
import { countBetween, countCommon } from '../segment/postings-builder.ts'
import { filterTerms, TERMS } from '../terms.ts'
import { ACCESSES, type ArticleOutlet, COUNTRIES, KINDS, LANGUAGES } from '../vocabulary.ts'
import type { Collector, DocReader, SegmentReader } from './collector.ts'

/*
 * Counts matches for charts: by time, outlet, language, country, or by what outlets say. Every
 * match counts once. Times, outlets and sections come from columns, all others from posting lists.
 * `eachTextOnce` wraps such a collector, and then articles with the same text count once.
 */

/** The property by which matches are counted. */
export type Breakdown =
  | { by: TimeUnit; zone: TimeZone }
  | { by: 'outlet' | 'language' | 'country' | 'section' | 'kind' | 'access' }

/** A value and the number of its matches. */
export interface Count {
  /**
   * A bucket of time (`TimeBuckets`), a language, a country, or the name or domain of an outlet.
   */
  key: string
  count: number
  /** The times of a bucket, both included; ms since 1970. */
  span?: { first: number; last: number }
  outlet?: ArticleOutlet
}

/** Counts of matches. Each match is counted once: in `data`, `other`, `undated` or `unsaid`. */
export interface Counts {
  total: number
  /**
   * By time: every bucket of the requested time, in order. Otherwise the highest count comes first.
   */
  data: Count[]
  /** By outlet and by section: matches of those that `data` leaves out. */
  other: number
  /** Matches that have no time. */
  undated: number
  /** By section, kind and access: matches of which the outlet says nothing. */
  unsaid: number
}

/** How many outlets, or sections, are listed by name. The counts of the others are added up. */
export const MOST_OUTLETS = 20

interface BreakdownCollector extends Collector {
  /**
   * @param readNames reads the names of outlets and of authors by number. `counts` calls it at most
   *   once, with all numbers that were counted.
   */
  counts(readNames: NameCache['read']): Promise<Counts>
}

/**
 * @param sort decides which time counts by time use: the time by which the articles are sorted;
 *   `relevance`: the time of publication
 * @param bounds of the times of all matches, cut to days that have articles; null: nothing matches
 * @throws TooManyBuckets
 */
export function createBreakdown(
  breakdown: Breakdown,
  sort: Sort,
  bounds: TimeBounds | null,
): BreakdownCollector {
  switch (breakdown.by) {
    case 'outlet':
      return byOutlet()
    case 'language':
      return byTerm(LANGUAGES.map(one => ({ key: one, term: TERMS.language(one) })))
    case 'country':
      return byTerm(COUNTRIES.map(one => ({ key: one, term: TERMS.country(one) })))
    case 'section':
      return bySection()
    case 'kind':
      return byTerm(KINDS.map(one => ({ key: one, term: TERMS.kind(one) })))
    case 'access':
      return byTerm(ACCESSES.map(one => ({ key: one, term: TERMS.access(one) })))
    default:
      return byTime(breakdown.by, breakdown.zone, sort, bounds)
  }
}

function byTime(
  unit: TimeUnit,
  zone: TimeZone,
  sort: Sort,
  bounds: TimeBounds | null,
): BreakdownCollector {
  const axis = sort === 'ingested_at' ? sort : 'published_at'
  const span = (axis === 'published_at' ? bounds?.published : bounds?.ingested) ?? EMPTY_SPAN
  const { keys, starts } = timeBuckets(span, unit, zone)
  const collector = createTimeCollector(axis, starts)
  return {
    ...collector,
    async counts() {
      const data = keys.map((key, bucket) => ({
        key,
        count: collector.counts[bucket]!,
        span: { first: starts[bucket]!, last: starts[bucket + 1]! - 1 },
      }))
      const undated = collector.undated()
      return { total: undated + sum(data), data, other: 0, undated, unsaid: 0 }
    },
  }
}

function byTerm(values: { key: string; term: string }[]): BreakdownCollector {
  const collector = createTermCollector(values.map(value => value.term))
  return {
    ...collector,
    async counts() {
      const data = values.map(({ key }, index) => ({ key, count: collector.counts[index]! }))
      const total = collector.total()
      const unsaid = total - sum(data)
      return { total, data: highestFirst(data), other: 0, undated: 0, unsaid }
    },
  }
}

function byOutlet(): BreakdownCollector {
  const collector = createOutletCollector()
  return {
    ...collector,
    async counts(readNames) {
      const byNo = collector.counts()
      const names = await readNames([...byNo.keys()], [])
      // An outlet may take back an earlier name. It then has several numbers for that name.
      const outlets = new Map<string, Count>()
      for (const [no, count] of byNo) {
        const outlet = names.outlet(no)
        const same = JSON.stringify([outlet.name, outlet.domain])
        const known = outlets.get(same)
        if (known === undefined)
          outlets.set(same, { key: outlet.name ?? outlet.domain ?? '', count, outlet })
        else known.count += count
      }
      return firstOf([...outlets.values()], 0)
    },
  }
}

/** Counts sections. Those that differ in case and accents alone count as one. */
function bySection(): BreakdownCollector {
  const found = new Map<string, number>()
  let unsaid = 0
  return {
    question: { kind: 'sections' },
    isComplete: () => false,
    collect(matches, { values }) {
      const own = new Uint32Array(values.sections.length)
      const docs = docsOf(matches)
      for (let at = 0; at < docs.length; at++) own[values.sectionNo(docs[at]!)]!++
      unsaid += own[0]!
      values.sections.forEach((name, no) => {
        if (no > 0 && own[no]! > 0) found.set(name, (found.get(name) ?? 0) + own[no]!)
      })
    },
    async counts() {
      const spellings = highestFirst(Array.from(found, ([key, count]) => ({ key, count })))
      const same = Map.groupBy(spellings, ({ key }) => foldName(key))
      return firstOf(
        Array.from(same.values(), all => ({ key: all[0]!.key, count: sum(all) })),
        unsaid,
      )
    },
  }
}

/** Lists the values with most matches. */
function firstOf(counts: Count[], unsaid: number): Counts {
  const all = highestFirst(counts)
  const data = all.slice(0, MOST_OUTLETS)
  const other = sum(all.slice(MOST_OUTLETS))
  return { total: sum(data) + other + unsaid, data, other, undated: 0, unsaid }
}

const sum = (counts: Count[]) => counts.reduce((total, { count }) => total + count, 0)

/** Sorts counts, the highest first. Leaves out values without matches. */
function highestFirst(counts: Count[]): Count[] {
  return counts
    .filter(({ count }) => count > 0)
    .sort((a, b) => b.count - a.count || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
}

/** The articles that have the same text as others, in groups. */
export interface TextGroups {
  /** Their `seq`, ascending. */
  seqs: Float64Array
  /** By article: the number of its group, below `count`. */
  groups: Uint32Array
  count: number
}

/** The groups of texts that one question counts. All searches of the question share this object. */
export interface CountedTexts {
  groups: TextGroups
  /**
   * By group: the place in `seqs`, from 1, of the lowest member that the first search found; 0:
   * that search found no member. null: the first search has not ended yet.
   */
  lowest: Uint32Array | null
}

/**
 * Counts each group of texts once, at the matching member with the lowest `seq`. Stored segments
 * come in any order, so their matches wait until all are known. In-memory segments come last, in
 * order of `seq`, so their matches need not wait.
 */
export function eachTextOnce(
  counter: BreakdownCollector,
  texts: CountedTexts,
  pace: Pace,
): BreakdownCollector {
  const { groups, count } = texts.groups
  const lowest = texts.lowest ?? new Uint32Array(count)
  const waiting: (() => void)[] = []
  return {
    ...counter,
    question: { kind: 'texts' },
    collect(matches, segment) {
      const found = membersIn(matches, segment, texts.groups)
      if (texts.lowest === null) {
        for (const place of found.places) {
          const known = lowest[groups[place]!]!
          if (known === 0 || place < known - 1) lowest[groups[place]!] = place + 1
        }
      }
      const take = () => {
        const dropped = new Uint16Array(found.docs.length)
        let end = 0
        for (let at = 0; at < dropped.length; at++) {
          const known = lowest[groups[found.places[at]!]!]!
          if (known !== 0 && known - 1 !== found.places[at]) dropped[end++] = found.docs[at]!
        }
        const kept = difference(matches, arraySet(dropped.subarray(0, end), matches.size))
        if (kept.count > 0) counter.collect(kept, segment)
      }
      if (texts.lowest === null && segment.offsets !== null) waiting.push(take)
      else take()
    },
    async counts(readNames) {
      await eachIn(pace, waiting, take => take())
      texts.lowest ??= lowest
      return counter.counts(readNames)
    },
  }
}

/** The matches that are members of a group, and their places in `seqs`. */
function membersIn(matches: DocIdSet, { offsets, seqOf }: SegmentReader, { seqs }: TextGroups) {
  if (offsets === null) {
    const placeIn = (doc: number) => placeOf(seqs, Number(seqOf(doc)))
    const docs = docsOf(matches).filter(doc => seqs[placeIn(doc)] === Number(seqOf(doc)))
    return { docs, places: Uint32Array.from(docs, placeIn) }
  }
  const members = membersOf(offsets, Number(seqOf(0)) - offsets[0]!, seqs)
  // This makes a copy, because the result would keep its whole buffer (the arena) in memory.
  const docs = docsOf(intersection(matches, members.set)).slice()
  const places = new Uint32Array(docs.length)
  for (let at = 0; at < docs.length; at++) places[at] = members.places[docs[at]!]!
  return { docs, places }
}

interface SegmentMembers {
  set: DocIdSet
  /** By document that is a member of a group: its place in `seqs`. */
  places: Uint32Array
}

/**
 * The members of segments, by `seqs` and by the segment's column of offsets. The next question
 * finds them here while both arrays are in use.
 */
const members = new WeakMap<Float64Array, WeakMap<Uint16Array, SegmentMembers>>()

/** @param lowest `seq` of the document with the offset 0 */
function membersOf(offsets: Uint16Array, lowest: number, seqs: Float64Array): SegmentMembers {
  const bySegment = members.get(seqs) ?? new WeakMap<Uint16Array, SegmentMembers>()
  members.set(seqs, bySegment)
  const known = bySegment.get(offsets)
  if (known !== undefined) return known
  const placeAt = new Uint32Array(65_536)
  const from = placeOf(seqs, lowest)
  const to = placeOf(seqs, lowest + placeAt.length)
  for (let place = from; place < to; place++) placeAt[seqs[place]! - lowest] = place + 1
  const docs = Uint16Array.from(offsets.keys()).filter(doc => placeAt[offsets[doc]!]! > 0)
  const found = {
    set: arraySet(docs, offsets.length),
    places: Uint32Array.from(offsets, at => placeAt[at]! - 1),
  }
  bySegment.set(offsets, found)
  return found
}

/** Selects articles so that each text counts once. The articles come in order of `seq`. */
export function firstOfTexts(articles: SegmentSource[], texts: CountedTexts): SegmentSource[] {
  const { seqs, groups, count } = texts.groups
  const lowest = texts.lowest ?? new Uint32Array(count)
  const kept = articles.filter(({ seq }) => {
    const place = placeOf(seqs, Number(seq))
    if (seqs[place] !== Number(seq)) return true
    const group = groups[place]!
    if (texts.lowest === null && lowest[group] === 0) lowest[group] = place + 1
    return lowest[group] === 0 || lowest[group] === place + 1
  })
  texts.lowest ??= lowest
  return kept
}

/** How many articles `collectArticles` hands to a collector at a time. */
const MOST = 65_536

/** A collector that reads the values of documents, but not their addresses or ids. */
interface ValueCollector {
  collect(matches: DocIdSet, values: DocReader): void
}

/** Hands some articles to a collector, as if they were the matches of segments. */
export function collectArticles(articles: SegmentSource[], collector: ValueCollector): void {
  for (let from = 0; from < articles.length; from += MOST) {
    const part = articles.slice(from, from + MOST)
    collector.collect(rangeSet(0, part.length, part.length), readerOf(part))
  }
}

function readerOf(articles: SegmentSource[]): DocReader {
  const size = articles.length
  const terms = articles.map(article => new Set(filterTerms(article)))
  const sections = createSections()
  const sectionNos = articles.map(({ section }) => sections.noOf(section))
  return {
    published: Float64Array.from(articles, article => article.published ?? Number.NaN),
    ingested: Float64Array.from(articles, article => article.ingested ?? Number.NaN),
    dated: null,
    values: {
      publisherNo: doc => articles[doc]!.publisherNo,
      eachAuthor(doc, visit) {
        for (const no of articles[doc]!.authorNos) visit(no)
      },
      sectionNo: doc => sectionNos[doc]!,
      sections: sections.names,
    },
    list: term => passing(rangeSet(0, size, size), doc => terms[doc]!.has(term)),
  }
}

/**
 * Counts matches by buckets of time.
 *
 * @param starts bucket n lasts from `starts[n]` to before `starts[n + 1]`. Every match that has a
 *   time lies in a bucket.
 */
function createTimeCollector(axis: Axis, starts: Float64Array) {
  const counts = new Float64Array(starts.length - 1)
  let undated = 0
  return {
    /** How many matches each bucket has. */
    counts,
    /** Matches without the time of this axis. */
    undated: () => undated,
    question: {
      kind: 'times',
      axis,
      starts,
      take(found, without) {
        undated += without
        found.forEach((count, bucket) => {
          counts[bucket]! += count
        })
      },
    },
    isComplete: () => false,
    collect(matches, { published, ingested, dated }) {
      if (axis === 'published_at' && dated !== null && matches.kind === 'bitmap') {
        undated += countBetween(matches, dated, matches.size)
        countInOrder(matches, published, dated, starts, counts)
      } else
        undated += countByValue(
          docsOf(matches),
          axis === 'published_at' ? published : ingested,
          starts,
          counts,
        )
    },
  } satisfies Collector & Record<string, unknown>
}

/** Counts documents that stand in order of time. Each bucket is then a range of documents. */
function countInOrder(
  matches: DocIdSet,
  published: Float64Array,
  dated: number,
  starts: Float64Array,
  counts: Float64Array,
): void {
  for (let from = placeOf(published, starts[0]!, dated); from < dated; ) {
    // Times are whole ms, so the first bucket that starts at the next ms or later follows this
    // bucket.
    const bucket = placeOf(starts, published[from]! + 1) - 1
    if (bucket >= counts.length) return
    const to = placeOf(published, starts[bucket + 1]!, dated)
    counts[bucket]! += countBetween(matches, from, to)
    from = to
  }
}

/** @returns how many documents have no time */
function countByValue(
  docs: Uint16Array,
  values: Float64Array,
  starts: Float64Array,
  counts: Float64Array,
): number {
  const last = counts.length - 1
  const first = starts[0]!
  const end = starts[counts.length]!
  const perMs = counts.length / (end - first)
  let undated = 0
  for (let at = 0; at < docs.length; at++) {
    const time = values[docs[at]!]!
    // Comparisons with NaN, the missing time, are false.
    if (time >= first && time < end) {
      // Buckets last nearly equally long, so the right bucket is this one or a neighbour.
      let bucket = Math.min(last, Math.floor((time - first) * perMs))
      while (starts[bucket]! > time) bucket--
      while (starts[bucket + 1]! <= time) bucket++
      counts[bucket]!++
    } else undated++
  }
  return undated
}

/** Counts matches by outlet. */
function createOutletCollector() {
  let counts = new Int32Array(1 << 10)
  const add = (no: number, count: number) => {
    if (no >= counts.length)
      counts = grown(counts, new Int32Array(2 ** Math.ceil(Math.log2(no + 1))))
    counts[no]! += count
  }
  return {
    question: { kind: 'outlets', take: add },
    isComplete: () => false,
    /** Matches by the number of their outlet. Outlets without matches are left out. */
    counts(): Map<number, number> {
      const found = new Map<number, number>()
      counts.forEach((count, publisherNo) => {
        if (count > 0) found.set(publisherNo, count)
      })
      return found
    },
    collect(matches, { values }) {
      const docs = docsOf(matches)
      for (let at = 0; at < docs.length; at++) add(values.publisherNo(docs[at]!), 1)
    },
  } satisfies Collector & Record<string, unknown>
}

interface TermCollector extends Collector {
  /** How many matches have each term. */
  counts: Float64Array
  total(): number
}

/** Counts how many matches have each of the given terms, from the posting lists. */
export function createTermCollector(terms: readonly string[]): TermCollector {
  const counts = new Float64Array(terms.length)
  let total = 0
  return {
    terms,
    counts,
    total: () => total,
    question: {
      kind: 'terms',
      terms,
      take(found, all) {
        total += all
        found.forEach((count, index) => {
          counts[index]! += count
        })
      },
    },
    isComplete: () => false,
    collect(matches, segment) {
      total += matches.count
      terms.forEach((term, index) => {
        counts[index]! += countCommon(matches, segment.list(term))
      })
    },
  }
}
