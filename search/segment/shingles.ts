import { hashOf, pairHash } from '../analysis/hashes.ts'
import type { Brake } from '../pace.ts'
import { TERMS } from '../terms.ts'
import { moved, release } from './arrays.ts'
import { createNumbers, type DictionaryBuilder, type Numbers, type SegmentTexts } from './postings-builder.ts'
import type { Words } from './word-ids.ts'

/*
 * Shingles answer phrases without positions (Lucene: shingles, CommonGrams). A pair of neighbouring
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
export const SHINGLE_RULE = RULES.length - 1

/**
 * A pair is frequent when at least this fraction of the documents have it. A triple of two frequent
 * pairs has a list of its own or shares one.
 */
const FREQUENT = 1 / 64

const atLeast = (size: number, part: number) => Math.max(4, Math.floor(size * part))

/** Whether a pair that has a list of its own is frequent. */
export const isFrequent = (documents: number, size: number) => documents >= atLeast(size, FREQUENT)

export const SHINGLES = {
  pair: TERMS.pair,
  titlePair: TERMS.titlePair,
  triple: TERMS.triple,
  /** The shared list of a pair that has no list of its own. */
  sharedPair: (first: string, second: string) => sharedPair(pairHash(hashOf(first), hashOf(second))),
  sharedTriple: (first: string, second: string, third: string) =>
    sharedTriple(pairHash(pairHash(hashOf(first), hashOf(second)), hashOf(third))),
} as const

const SHARED_LISTS = 1 << 16
const sharedPair = (hash: number) => sharedName('Q', hash & (SHARED_LISTS - 1))
const sharedTriple = (hash: number) => sharedName('R', hash & (SHARED_LISTS - 1))

/**
 * The numbers of shared lists in base 36. Each is made once, because every segment uses most of
 * them.
 */
const numerals: (string | undefined)[] = []

function sharedName(kind: 'Q' | 'R', list: number): string {
  numerals[list] ??= list.toString(36)
  return kind + numerals[list]
}

/** Adds the pairs and triples of all documents to a dictionary. */
export function addShingles(
  dictionary: DictionaryBuilder,
  texts: SegmentTexts,
  wordIds: Words,
  brake: Brake,
  rule: number,
): void {
  const { part, met, triples } = RULES[rule] ?? RULES[SHINGLE_RULE]!
  const places = placesOf(texts, wordIds, brake, part)
  const meets = met === Infinity ? () => false : meetsOften(texts, wordIds, met)
  const pairs = addPairs(dictionary, places, brake, meets)
  addTitlePairs(dictionary, texts, places.word, places.enough)
  addTriples(dictionary, texts, places, pairs, brake, triples)
  release(pairs.at)
}

/** The word at each place in the texts, with its hash. */
interface Places {
  words: Numbers
  /**
   * `size`: number of documents. `enough`: how many of them must have a group of words that is a
   * term.
   */
  size: number
  enough: number
  word(at: number): string
  /** Hash of the word at a place. */
  hash(at: number): number
  /** Hash of the pair of the word at a place and the word before it. */
  pairHash(at: number): number
  /** Visits every place where a pair ends. */
  eachPair: EachPlace
}

function placesOf(
  { words, titleStarts, bodyStarts, ends }: SegmentTexts,
  wordIds: Words,
  brake: Brake,
  part: number,
): Places {
  const size = ends.length
  const hash = (at: number) => wordIds.hash(words.at(at))
  const eachPair: EachPlace = visit => {
    for (let doc = 0; doc < size; doc++) {
      brake()
      const body = bodyStarts[doc]!
      for (let at = titleStarts[doc]! + 1; at < body; at++) visit(at, doc, at)
      for (let at = body + 1; at < ends[doc]!; at++) visit(at, doc, at)
    }
  }
  return {
    words,
    size,
    enough: atLeast(size, part),
    word: at => wordIds.text(words.at(at)),
    hash,
    pairHash: at => pairHash(hash(at - 1), hash(at)),
    eachPair,
  }
}

/**
 * Makes a test of whether the word at a place and the word before would meet in `met` documents by
 * chance.
 */
function meetsOften(texts: SegmentTexts, { size }: Words, met: number): (at: number) => boolean {
  const { titleStarts, ends } = texts
  const words = texts.words.view()
  const documents = new Int32Array(size)
  const latest = new Int32Array(size).fill(-1)
  for (let doc = 0; doc < ends.length; doc++) {
    for (let at = titleStarts[doc]!; at < ends[doc]!; at++) {
      const word = words[at]!
      if (latest[word] !== doc) documents[word]!++
      latest[word] = doc
    }
  }
  const enough = met * ends.length
  // A word in fewer documents than this cannot reach `enough`, even with the most frequent word.
  const least = enough / documents.reduce((most, count) => Math.max(most, count), 1)
  return at => {
    const own = documents[words[at]!]!
    return own >= least && at > 0 && own * documents[words[at - 1]!]! >= enough
  }
}

function addPairs(dictionary: DictionaryBuilder, places: Places, brake: Brake, meets: (at: number) => boolean): Groups {
  const { words, word, hash, enough, eachPair } = places
  const hashes = new Int32Array(words.length)
  for (let at = 1, before = hash(0); at < words.length; at++) {
    const own = hash(at)
    hashes[at] = pairHash(before, own)
    before = own
  }
  const pairs = listGroups(hashes, enough, eachPair, brake, {
    first: at => words.at(at - 1),
    second: at => words.at(at),
    hash: places.pairHash,
    isListed: meets,
  })
  addLists(dictionary, pairs, eachPair, {
    term: at => SHINGLES.pair(word(at - 1), word(at)),
    sharedTerm: sharedPair,
    isShared: () => true,
  })
  return pairs
}

/**
 * Adds the triples whose two pairs are terms. Rare triples of two frequent pairs share lists. Other
 * rare triples need no list, because few documents have both of their pairs.
 */
function addTriples(
  dictionary: DictionaryBuilder,
  { titleStarts, bodyStarts }: SegmentTexts,
  places: Places,
  pairs: Groups,
  brake: Brake,
  which: 'frequent' | 'listed',
): void {
  const { words, word, size, enough, eachPair } = places
  const frequent = atLeast(size, FREQUENT)
  const isFrequentPair = (at: number) => {
    const group = pairs.at[at]!
    return group >= 0 && pairs.documents[group]! >= frequent
  }
  const isTerm = which === 'frequent' ? isFrequentPair : (at: number) => pairs.at[at]! >= 0
  const tripleHash = (at: number) => pairHash(places.pairHash(at - 1), places.hash(at))
  const found = { at: createNumbers(), doc: createNumbers(), hash: createNumbers() }
  eachPair((at, doc) => {
    const follows = at - 1 > titleStarts[doc]! && at - 1 !== bodyStarts[doc]!
    if (!follows || !isTerm(at) || !isTerm(at - 1)) return
    found.at.push(at)
    found.doc.push(doc)
    found.hash.push(tripleHash(at))
  })
  const eachTriple: EachPlace = visit => {
    for (let place = 0; place < found.at.length; place++) {
      if (place % PIECE === 0) brake()
      visit(found.at.at(place), found.doc.at(place), place)
    }
  }
  const triples = listGroups(found.hash.view(), enough, eachTriple, brake, {
    first: at => pairs.at[at - 1]!,
    second: at => words.at(at),
    hash: place => tripleHash(found.at.at(place)),
    isListed: () => false,
  })
  addLists(dictionary, triples, eachTriple, {
    term: at => SHINGLES.triple(word(at - 2), word(at - 1), word(at)),
    sharedTerm: sharedTriple,
    isShared: at => isFrequentPair(at) && isFrequentPair(at - 1),
  })
}

/**
 * Visits in order the places in the texts where a group of words ends. `place` is the index of the
 * group's hash.
 */
type EachPlace = (visit: (at: number, doc: number, place: number) => void) => void

interface Groups {
  /**
   * By place: the group of words that ends there, if the group has a list of its own. Otherwise
   * `notListed` of the list that it shares.
   */
  at: Int32Array
  /** How many documents have each group; 0: the group has no list of its own. */
  documents: Int32Array
}

/** `notListed` gives the number of a shared list as a number below 0. `sharedList` reverses it. */
const notListed = (hash: number) => ~(hash & (SHARED_LISTS - 1))
const sharedList = (group: number) => ~group

/**
 * Counts the documents of each group. New groups come with ids in ascending order from 0, documents
 * in ascending order.
 */
function createDocumentCount() {
  // Two numbers for each group: its last document + 1, and how many documents it has. They stand
  // side by side, because `add` needs both.
  let counts = new Int32Array(1 << 12)
  let groups = 0
  return {
    /** @returns how many documents have the group; 0: this document was already counted */
    add(group: number, doc: number): number {
      const at = group * 2
      if (group === groups && ++groups * 2 > counts.length) counts = moved(counts, at * 2)
      if (counts[at] === doc + 1) return 0
      counts[at] = doc + 1
      return ++counts[at + 1]!
    },
    all: () => Int32Array.from({ length: groups }, (_, group) => counts[group * 2 + 1]!),
  }
}

interface Parts {
  /** The two numbers that identify the group of words that ends at a place in the texts. */
  first(at: number): number
  second(at: number): number
  /** Hash of a group, by the index of the hash. */
  hash(place: number): number
  /**
   * Whether a group has a list of its own even if few documents have it; by the index of its hash.
   */
  isListed(place: number): boolean
}

/**
 * Finds the groups of words that enough documents have.
 *
 * @param hashes the hash of the group at each place. The array is overwritten with the groups,
 *   because there are tens of millions of places.
 */
function listGroups(hashes: Int32Array, enough: number, each: EachPlace, brake: Brake, parts: Parts): Groups {
  const groups = likelyGroups(hashes, enough, brake, parts)
  const table = createPairTable()
  const count = createDocumentCount()
  /** Groups that have a list of their own even if few documents have them. */
  const listed = new Set<number>()
  each((at, doc, place) => {
    if (groups[place]! < 0) return
    const group = table.number(parts.first(at), parts.second(at))
    if (count.add(group, doc) === 1 && parts.isListed(place)) listed.add(group)
    groups[place] = group
  })
  const documents = count.all().map((of, group) => (of >= enough || listed.has(group) ? of : 0))
  for (let place = 0; place < groups.length; place++) {
    const group = groups[place]!
    if (group >= 0 && documents[group] === 0) groups[place] = notListed(parts.hash(place))
  }
  return { at: groups, documents }
}

/**
 * How many counters the first estimate of occurrences uses. Several groups may share a counter.
 * Their estimate is then too high, which does no harm, because the documents are counted
 * afterwards. The number is small, so that the counters fit into the processor's cache.
 */
const counted = (places: number, enough: number) => 2 ** Math.ceil(Math.log2((places * 2) / enough + 1))

/**
 * Overwrites each hash: with 0 where the group may have a list of its own, with `notListed` where
 * it cannot. Most groups cannot.
 */
function likelyGroups(hashes: Int32Array, enough: number, brake: Brake, { isListed }: Parts): Int32Array {
  const counters = counted(hashes.length, enough)
  const occurrences = new Uint8Array(counters)
  for (let from = 0; from < hashes.length; from += PIECE) {
    brake()
    const to = Math.min(from + PIECE, hashes.length)
    for (let place = from; place < to; place++) {
      const counter = hashes[place]! & (counters - 1)
      if (occurrences[counter]! < 255) occurrences[counter]!++
    }
  }
  for (let from = 0; from < hashes.length; from += PIECE) {
    brake()
    const to = Math.min(from + PIECE, hashes.length)
    for (let place = from; place < to; place++) {
      const hash = hashes[place]!
      const isLikely = occurrences[hash & (counters - 1)]! >= enough || isListed(place)
      hashes[place] = isLikely ? 0 : notListed(hash)
    }
  }
  return hashes
}

/** How many places are processed between two calls of the brake. */
const PIECE = 1 << 15

interface Names {
  term(at: number): string
  sharedTerm(list: number): string
  /** Whether the group at a place is in a shared list when it has no list of its own. */
  isShared(at: number): boolean
}

/** Adds each document to the list of its groups, or to the lists that they share. */
function addLists(dictionary: DictionaryBuilder, groups: Groups, each: EachPlace, names: Names): void {
  const own = new Int32Array(groups.documents.length).fill(-1)
  const shared = new Int32Array(SHARED_LISTS).fill(-1)
  each((at, doc, place) => {
    const group = groups.at[place]!
    if (group >= 0) {
      if (own[group]! < 0) own[group] = dictionary.term(names.term(at))
      dictionary.add(own[group]!, doc)
    } else if (names.isShared(at)) {
      const list = sharedList(group)
      if (shared[list]! < 0) shared[list] = dictionary.term(names.sharedTerm(list))
      dictionary.add(shared[list]!, doc)
    }
  })
}

/**
 * Adds the pairs that enough titles have. Searches for other pairs in titles use the lists of the
 * whole texts.
 */
function addTitlePairs(
  dictionary: DictionaryBuilder,
  texts: SegmentTexts,
  word: (at: number) => string,
  enough: number,
): void {
  const { words, titleStarts, bodyStarts, ends } = texts
  const table = createPairTable()
  const count = createDocumentCount()
  const each: EachPlace = visit => {
    for (let doc = 0; doc < ends.length; doc++) {
      for (let at = titleStarts[doc]! + 1; at < bodyStarts[doc]!; at++) visit(at, doc, at)
    }
  }
  each((at, doc) => {
    const group = table.number(words.at(at - 1), words.at(at))
    count.add(group, doc)
  })
  const documents = count.all()
  const own = new Int32Array(table.length).fill(-1)
  each((at, doc) => {
    const group = table.find(words.at(at - 1), words.at(at))
    if (documents[group]! < enough) return
    if (own[group]! < 0) own[group] = dictionary.term(SHINGLES.titlePair(word(at - 1), word(at)))
    dictionary.add(own[group]!, doc)
  })
}

/**
 * A table that gives pairs of numbers ids from 0, in order of first appearance. It uses open
 * addressing without objects, because there are millions of pairs.
 */
function createPairTable() {
  let capacity = 1 << 12
  // A slot has three numbers: first, second, id + 1. If the third number is 0, the slot is free.
  let slots = new Int32Array(capacity * 3)
  let length = 0
  const slotOf = (first: number, second: number) => {
    let slot = pairHash(first, second) & (capacity - 1)
    while (slots[slot * 3 + 2] !== 0 && (slots[slot * 3] !== first || slots[slot * 3 + 1] !== second)) {
      slot = (slot + 1) & (capacity - 1)
    }
    return slot * 3
  }
  const grow = () => {
    const old = slots
    capacity *= 2
    slots = new Int32Array(capacity * 3)
    for (let at = 0; at < old.length; at += 3) {
      if (old[at + 2] === 0) continue
      const slot = slotOf(old[at]!, old[at + 1]!)
      slots[slot] = old[at]!
      slots[slot + 1] = old[at + 1]!
      slots[slot + 2] = old[at + 2]!
    }
  }
  return {
    /** The id of a pair. A new pair gets the next id. */
    number(first: number, second: number): number {
      const slot = slotOf(first, second)
      const known = slots[slot + 2]!
      if (known !== 0) return known - 1
      slots[slot] = first
      slots[slot + 1] = second
      slots[slot + 2] = ++length
      if (length * 2 > capacity) grow()
      return length - 1
    },
    /** The id of a pair; −1: the table does not have it. */
    find: (first: number, second: number): number => slots[slotOf(first, second) + 2]! - 1,
    get length() {
      return length
    },
  }
}
