import { hashOf, pairHash, sortHashes } from '../analysis/hashes.ts'
import type { Brake } from '../pace.ts'
import { TERMS } from '../terms.ts'
import { release } from './arrays.ts'
import {
  createNumbers,
  type Numbers,
  type SegmentTexts,
  type TermLists,
} from './postings-builder.ts'
import type { Words } from './word-ids.ts'

/*
 * N-grams answer phrases without positions (Lucene: shingles, CommonGrams). A pair of neighbouring
 * words that many documents have is a term of its own. Its posting list is the answer to a search
 * for the pair. All other pairs share 65,536 lists by their hash. A shared list has every document
 * with the pair, and some others. Intersected with the lists of the single words, it leaves few
 * candidates to verify. A triple is three words whose two pairs are terms. It is a term as well
 * when enough documents have it.
 */

/**
 * A pair is a term when at least four documents, and at least the fraction `part` of all documents,
 * have it. A pair is also a term when its words would meet in `met` documents by chance. Its shared
 * list would leave many candidates to verify. `triples` tells of which pairs triples are made: of
 * frequent pairs, or of all that are terms. The columns of a segment have the index of its rule,
 * and old segments stay in use. So a rule is never removed.
 */
const RULES = [
  { part: 1 / 2_048, met: Infinity, triples: 'frequent' },
  { part: 1 / 8_192, met: 512, triples: 'listed' },
  { part: 1 / 4_096, met: 512, triples: 'frequent' },
  { part: 1 / 4_096, met: 512, triples: 'listed' },
] as const

/** The rule of new segments. */
export const NGRAM_RULE: number = RULES.length - 1

/**
 * A pair is frequent when at least this fraction of the documents have it. A triple of two frequent
 * pairs has a list of its own or shares one.
 */
const FREQUENT = 1 / 64

const atLeast = (size: number, part: number) => Math.max(4, Math.floor(size * part))

/** Whether a pair that has a list of its own is frequent. */
export const isFrequent = (documents: number, size: number): boolean =>
  documents >= atLeast(size, FREQUENT)

export const NGRAMS = {
  pair: TERMS.pair,
  titlePair: TERMS.titlePair,
  triple: TERMS.triple,
  /** The shared list of a pair that has no list of its own. */
  sharedPair: (first: string, second: string): string =>
    sharedPair(pairHash(hashOf(first), hashOf(second))),
  sharedTriple: (first: string, second: string, third: string): string =>
    sharedTriple(pairHash(pairHash(hashOf(first), hashOf(second)), hashOf(third))),
} as const

const SHARED_LISTS = 1 << 16
const sharedPair = (hash: number) => sharedName('Q', hash & (SHARED_LISTS - 1))
const sharedTriple = (hash: number) => sharedName('R', hash & (SHARED_LISTS - 1))

/** The names of shared lists. Each is made once, because every segment uses most of them. */
const names: Record<'Q' | 'R', (string | undefined)[]> = { Q: [], R: [] }

function sharedName(kind: 'Q' | 'R', list: number): string {
  names[kind][list] ??= kind + list.toString(36)
  return names[kind][list]
}

/**
 * Makes the posting lists of pairs, of pairs in titles, and of triples. Frees the memory of
 * `texts.words`.
 */
export function ngramLists(
  texts: SegmentTexts,
  wordIds: Words,
  brake: Brake,
  rule: number,
): TermLists[] {
  const { part, met, triples } = RULES[rule] ?? RULES[NGRAM_RULE]!
  const size = texts.ends.length
  const enough = atLeast(size, part)
  const places = placesOf(texts, wordIds)
  const { words } = places
  const word = (at: number) => wordIds.text(words[at]!)
  const pairs = listGroups(places, enough, brake, {
    length: 2,
    parts: words,
    inTitle: false,
    met: met * size,
    shared: 'all',
    term: at => NGRAMS.pair(word(at - 1), word(at)),
  })
  // Searches for other pairs in titles use the lists of the whole texts.
  const titlePairs = listGroups(places, enough, brake, {
    length: 2,
    parts: words,
    inTitle: true,
    met: Infinity,
    shared: 'none',
    term: at => NGRAMS.titlePair(word(at - 1), word(at)),
  })
  // Triples are made of pairs that are terms. Rare triples of two frequent pairs share lists. Other
  // rare triples need no list, because few documents have both of their pairs.
  const frequent = pairs.frequent(atLeast(size, FREQUENT))
  const parts =
    triples === 'listed' ? pairs.at : pairs.at.map(group => (frequent[group] === 1 ? group : -1))
  const ofTriples = listGroups(places, enough, brake, {
    length: 3,
    parts,
    inTitle: false,
    met: Infinity,
    shared: frequent,
    term: at => NGRAMS.triple(word(at - 2), word(at - 1), word(at)),
  })
  for (const array of new Set([words, pairs.at, parts])) release(array)
  return [pairs.lists, titlePairs.lists, ofTriples.lists]
}

/** The words at all places in the texts, in order of documents. */
interface Places {
  words: Int32Array
  /** Text n is from `starts[n]` to before `starts[n + 1]`: title, body, title, body and so on. */
  starts: Int32Array
  /** By word: its hash, and how many documents have it. */
  hashes: Int32Array
  frequencies: Int32Array
}

function placesOf(
  { words, titleStarts, bodyStarts, ends }: SegmentTexts,
  { hashes }: Words,
): Places {
  const before = words.view()
  const inOrder = new Int32Array(before.length)
  const starts = new Int32Array(ends.length * 2 + 1)
  const frequencies = new Int32Array(hashes.length)
  const latest = new Int32Array(hashes.length).fill(-1)
  let end = 0
  for (let doc = 0; doc < ends.length; doc++) {
    starts[doc * 2] = end
    starts[doc * 2 + 1] = end + bodyStarts[doc]! - titleStarts[doc]!
    for (let at = titleStarts[doc]!; at < ends[doc]!; at++) {
      const word = before[at]!
      inOrder[end++] = word
      if (latest[word] !== doc) frequencies[word]!++
      latest[word] = doc
    }
  }
  starts[ends.length * 2] = end
  release(before)
  return { words: inOrder, starts, hashes, frequencies }
}

/** Groups of neighbouring words: all pairs, the pairs of titles, or triples. */
interface Kind {
  /** How many words a group has. */
  length: 2 | 3
  /**
   * By place: the word, or for triples the pair that ends there; −1: no pair that is a term. A
   * group ends at each place of a text where this place and the place before have a part. The part
   * of the place before and the word at the place identify the group.
   */
  parts: Int32Array
  /** Whether only titles count. */
  inTitle: boolean
  /**
   * A group has a list of its own, even if few documents have it, when the frequencies of its last
   * two words have at least this product.
   */
  met: number
  /**
   * Which groups are in a shared list when they have no list of their own. With an array: those of
   * two parts that have a 1 there.
   */
  shared: 'all' | 'none' | Uint8Array
  /** The term of the group that ends at a place. */
  term(at: number): string
}

/** Only triples ask for the groups of places, and they ask for pairs. */
const isAsked = ({ length, inTitle }: Kind) => length === 2 && !inTitle

/*
 * The tables of a whole segment would not fit into the processor's cache, and a segment has tens of
 * millions of places. So the places are first spread over parts by the last bits of their hashes (a
 * radix partition). All places of a group, and all of a shared list, are in one part. Its tables
 * nearly fit into the cache. With more parts, the places of a part would be far apart. The loops
 * over places read arrays from local constants and call as few functions as they can, because V8
 * then compiles them well.
 */

/** About how many places a part has. */
const PART = 1 << 17

/** The places where groups end, by part. The places of a part are in ascending order. */
interface Spread {
  /** Two numbers for each place: the hash of the group, and the place with its marks. */
  entries: Int32Array<ArrayBuffer>
  /** Part n is `entries` from `starts[n]` to before `starts[n + 1]`. */
  starts: Uint32Array
  /** The number of a part is in this many last bits of the hashes. */
  bits: number
}

/**
 * Marks of a place in `Spread`: its group has a list of its own in any case; its group is in a
 * shared list unless it has its own.
 */
const OWN = 1 << 30
const SHARED = 1 << 29
const PLACE = SHARED - 1

/** @param at overwritten with the hashes, by place */
function spread(places: Places, kind: Kind, at: Int32Array, brake: Brake): Spread {
  const { words, starts: texts, frequencies } = places
  const { parts, inTitle, met, shared } = kind
  const others = shared === 'all' ? SHARED : 0
  const sharing = typeof shared === 'string' ? new Uint8Array(0) : shared
  const bits = Math.min(16, Math.max(0, Math.ceil(Math.log2(words.length / PART))))
  const mask = (1 << bits) - 1
  const starts = countHashes(places, kind, at, mask, brake)
  const entries = new Int32Array(starts[mask + 1]!)
  const next = starts.slice()
  for (let text = 0; text + 1 < texts.length; text += inTitle ? 2 : 1) {
    brake()
    const end = texts[text + 1]!
    for (let place = texts[text]! + 1; place < end; place++) {
      const first = parts[place - 1]!
      const second = parts[place]!
      if (first < 0 || second < 0) continue
      const hash = at[place]!
      const isMet = frequencies[words[place - 1]!]! * frequencies[words[place]!]! >= met
      const isSharing = sharing[first] === 1 && sharing[second] === 1
      const entry = next[hash & mask]!
      entries[entry] = hash
      entries[entry + 1] = place | (isMet ? OWN : 0) | (isSharing ? SHARED : others)
      next[hash & mask] = entry + 2
    }
  }
  return { entries, starts, bits }
}

/** Writes the hash of each group to `at`. Returns where the parts of `Spread` begin. */
function countHashes(
  places: Places,
  kind: Kind,
  at: Int32Array,
  mask: number,
  brake: Brake,
): Uint32Array {
  const { words, starts: texts, hashes } = places
  const { parts, length, inTitle } = kind
  const starts = new Uint32Array(mask + 2)
  for (let text = 0; text + 1 < texts.length; text += inTitle ? 2 : 1) {
    brake()
    const end = texts[text + 1]!
    for (let place = texts[text]! + 1; place < end; place++) {
      if (parts[place]! < 0 || parts[place - 1]! < 0) continue
      let hash = hashes[words[place - 1]!]!
      if (length === 3) hash = pairHash(hashes[words[place - 2]!]!, hash) | 0
      hash = pairHash(hash, hashes[words[place]!]!) | 0
      at[place] = hash
      starts[(hash & mask) + 1]! += 2
    }
  }
  for (let part = 0; part <= mask; part++) starts[part + 1]! += starts[part]!
  return starts
}

/**
 * Makes the lists of all groups of one kind.
 *
 * @returns `at`, by place: the list of the group that ends there if the group has its own;
 *   otherwise −1. `documents`: how many documents a list has
 */
function listGroups(places: Places, enough: number, brake: Brake, kind: Kind) {
  const at = new Int32Array(places.words.length)
  const { entries, starts, bits } = spread(places, kind, at, brake)
  if (isAsked(kind)) at.fill(-1)
  else release(at)
  const docs = new Uint16Array(entries.length / 2)
  const lists: Lists = {
    at,
    docs,
    bits,
    ends: createNumbers(),
    firsts: createNumbers(),
    shared: createNumbers(),
  }
  const largest = starts.reduce(
    (most, start, part) => Math.max(most, start - (starts[part - 1] ?? 0)),
    0,
  )
  const scratch = createScratch(largest / 2, sharedOf(kind, bits))
  for (let part = 0; part + 1 < starts.length; part++) {
    brake()
    const slice = entries.subarray(starts[part], starts[part + 1])
    const count = findGroups(places, kind, enough, slice, bits, scratch)
    addLists(kind, count, slice, part, lists, scratch)
  }
  release(entries)
  return {
    at,
    /** By list: 1 when at least `least` documents have it. */
    frequent(least: number) {
      const frequent = new Uint8Array(lists.ends.length)
      for (let list = 0; list < frequent.length; list++)
        if (lists.ends.at(list) - startOf(lists, list) >= least) frequent[list] = 1
      return frequent
    },
    lists: inOrder(lists, kind),
  }
}

/** How many lists the groups of a part share. */
const sharedOf = ({ shared }: Kind, bits: number) => (shared === 'none' ? 0 : SHARED_LISTS >>> bits)

/** The lists of all parts. A list of one group may be empty. */
interface Lists {
  /** By place: the list of the group that ends there if the group has its own; otherwise −1. */
  at: Int32Array
  /** As in `Spread`. */
  bits: number
  /** List n is `docs` from `startOf` to before `ends.at(n)`. */
  docs: Uint16Array
  ends: Numbers
  /** The first place of each list. The number of a list that groups share; −1: one group's own. */
  firsts: Numbers
  shared: Numbers
}

const startOf = ({ ends }: Lists, list: number) => (list === 0 ? 0 : ends.at(list - 1))

/** A segment has fewer lists of a kind, and fewer than 2^27 places. */
const MOST_LISTS = 2 ** 26

/** The lists that are not empty, in order of their first places. */
function inOrder(lists: Lists, { length, term }: Kind): TermLists {
  const { docs, ends, firsts, shared } = lists
  const keys = new Float64Array(ends.length)
  let count = 0
  for (let list = 0; list < keys.length; list++) {
    if (ends.at(list) > startOf(lists, list)) keys[count++] = firsts.at(list) * MOST_LISTS + list
  }
  const order = sortHashes(keys.subarray(0, count))
  const found: TermLists = {
    names: [],
    hashes: new Int32Array(count),
    docs,
    starts: new Uint32Array(count),
    ends: new Uint32Array(count),
  }
  for (let at = 0; at < count; at++) {
    const list = order[at]! % MOST_LISTS
    found.starts[at] = startOf(lists, list)
    found.ends[at] = ends.at(list)
    const own = shared.at(list)
    const name = own < 0 ? term(firsts.at(list)) : sharedName(length === 2 ? 'Q' : 'R', own)
    found.names.push(name)
    found.hashes[at] = hashOf(name)
  }
  return found
}

/**
 * Arrays that one part after the other uses. New arrays for each part would make the garbage
 * collector run often.
 */
interface Scratch {
  /** By place of the part: its document, and its group or list; −1: none. */
  docs: Uint16Array
  groups: Int32Array
  /** A hash table with open addressing. A slot has the group + 1. If it is 0, the slot is free. */
  slots: Int32Array
  /** The places of the part whose groups may occur often enough. */
  likely: Int32Array
  /** By place of `likely`, then by group: the two numbers that identify the group. */
  parents: Int32Array
  lasts: Int32Array
  /** By group or list: its last document + 1, how many documents it has, and its first place. */
  latest: Int32Array
  documents: Int32Array
  firsts: Int32Array
}

function createScratch(entries: number, lists: number): Scratch {
  return {
    docs: new Uint16Array(entries),
    groups: new Int32Array(entries),
    likely: new Int32Array(entries),
    slots: new Int32Array(slotsFor(entries)),
    parents: new Int32Array(entries),
    lasts: new Int32Array(entries),
    latest: new Int32Array(entries + lists),
    documents: new Int32Array(entries + lists),
    firsts: new Int32Array(entries + lists),
  }
}

const slotsFor = (groups: number) => 2 ** Math.ceil(Math.log2(groups * 2 + 1))

/**
 * Numbers the groups of a part from 0. Writes to `scratch` the document of each place, and its
 * group if the group has a list of its own.
 *
 * @returns how many groups were numbered; not all of them have lists of their own
 */
function findGroups(
  places: Places,
  { parts }: Kind,
  enough: number,
  entries: Int32Array,
  bits: number,
  scratch: Scratch,
): number {
  const { words, starts: texts } = places
  const { docs, groups, likely, slots, latest, documents, parents, lasts } = scratch
  const size = entries.length >>> 1
  const count = listLikely(entries, enough, bits, likely)
  const mask = slotsFor(count) - 1
  slots.fill(0, 0, mask + 1)
  groups.fill(-1, 0, size)
  latest.fill(0, 0, count)
  documents.fill(0, 0, count)
  for (let at = 0, doc = 0; at < size; at++) {
    const place = entries[at * 2 + 1]! & PLACE
    while (place >= texts[doc * 2 + 2]!) doc++
    docs[at] = doc
  }
  // The places are far apart in memory. In a loop that only reads and has no branch, the processor
  // reads several at a time.
  for (let n = 0; n < count; n++) {
    const place = entries[likely[n]! * 2 + 1]! & PLACE
    parents[n] = parts[place - 1]!
    lasts[n] = words[place]!
  }
  let found = 0
  for (let n = 0; n < count; n++) {
    const at = likely[n]!
    const doc = docs[at]!
    const first = parents[n]!
    const second = lasts[n]!
    let slot = (entries[at * 2]! >>> bits) & mask
    let group = slots[slot]! - 1
    while (group >= 0 && (parents[group]! !== first || lasts[group]! !== second)) {
      slot = (slot + 1) & mask
      group = slots[slot]! - 1
    }
    if (group < 0) {
      // A group never has a higher number than this place, so nothing unread is overwritten.
      group = found++
      slots[slot] = found
      parents[group] = first
      lasts[group] = second
    }
    groups[at] = group
    if (latest[group] !== doc + 1) documents[group]!++
    latest[group] = doc + 1
  }
  for (let n = 0; n < count; n++) {
    const at = likely[n]!
    if (documents[groups[at]!]! < enough && (entries[at * 2 + 1]! & OWN) === 0) groups[at] = -1
  }
  return found
}

/**
 * Lists the places whose groups may occur often enough. Several groups may share a counter. Their
 * estimate is then too high, which does no harm, because the documents are counted afterwards.
 *
 * @returns how many places it wrote to `likely`
 */
function listLikely(entries: Int32Array, enough: number, bits: number, likely: Int32Array): number {
  const occurrences = new Uint8Array(slotsFor(Math.ceil(entries.length / 2 / enough)))
  const mask = occurrences.length - 1
  for (let at = 0; at < entries.length; at += 2) {
    const counter = (entries[at]! >>> bits) & mask
    if (occurrences[counter]! < 255) occurrences[counter]!++
  }
  let count = 0
  for (let at = 0; at < entries.length; at += 2) {
    likely[count] = at >>> 1
    // The bit OWN, or the sign of a negative number, and no branch.
    const isEnough = (enough - 1 - occurrences[(entries[at]! >>> bits) & mask]!) >>> 31
    count += isEnough | ((entries[at + 1]! >>> 30) & 1)
  }
  return count
}

/**
 * Makes the lists of a part: those of `count` groups, then those that groups share. Each document
 * stands in a list once. A small segment has few of the shared lists, so empty ones are left out.
 */
function addLists(
  kind: Kind,
  count: number,
  entries: Int32Array,
  part: number,
  out: Lists,
  scratch: Scratch,
): void {
  const { bits, ends, docs: allDocs } = out
  const { docs, groups, latest, documents, firsts } = scratch
  const all = count + sharedOf(kind, bits)
  const base = ends.length
  const size = entries.length >>> 1
  if (isAsked(kind)) writeLists(out.at, entries, groups, base)
  latest.fill(0, 0, all)
  documents.fill(0, 0, all)
  for (let at = 0; at < size; at++) {
    const marked = entries[at * 2 + 1]!
    let list = groups[at]!
    if (list < 0 && (marked & SHARED) !== 0)
      list = count + ((entries[at * 2]! & (SHARED_LISTS - 1)) >>> bits)
    groups[at] = -1
    if (list < 0 || latest[list] === docs[at]! + 1) continue
    groups[at] = list
    latest[list] = docs[at]! + 1
    if (documents[list]!++ === 0) firsts[list] = marked & PLACE
  }
  const next = latest
  for (let list = 0, end = startOf(out, base); list < all; list++) {
    if (list >= count && documents[list] === 0) continue
    next[list] = end
    end += documents[list]!
    ends.push(end)
    out.firsts.push(firsts[list]!)
    out.shared.push(list < count ? -1 : ((list - count) << bits) | part)
  }
  for (let at = 0; at < size; at++) if (groups[at]! >= 0) allDocs[next[groups[at]!]!++] = docs[at]!
}

/** Writes to `at` the lists of groups that have their own, of which the first is `base`. */
function writeLists(at: Int32Array, entries: Int32Array, groups: Int32Array, base: number): void {
  for (let entry = 0; entry < entries.length; entry += 2) {
    const group = groups[entry >>> 1]!
    if (group >= 0) at[entries[entry + 1]! & PLACE] = base + group
  }
}
