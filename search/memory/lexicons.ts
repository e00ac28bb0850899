import { LONGEST_WORD } from '../analysis/tokens.ts'
import { createCache } from '../cache/cache.ts'
import { createPace, type Pace } from '../pace.ts'
import { docsOf } from '../segment/doc-id-set.ts'
import { createWordSet, FIRST_WORD, needleOf } from '../segment/lexicon.ts'
import type { IndexMeta, SegmentMeta, SegmentStore } from '../store/segment-store.ts'
import { TERMS } from '../terms.ts'
import type { MemorySegment, TermIds } from './memory-segment.ts'

/*
 * Finds the words for which wildcards stand, among those of all segments that a search sees. A
 * process reads the lexicon of each segment once, when the first wildcard is asked for. The words
 * of segments that were merged stay, because the merged segment has them too. Words that only
 * removed articles had stay as well. No list has them any more, so they find nothing.
 */

/** The stored segments, and the number of the last removal. */
type StoredWords = Pick<IndexMeta, 'segments' | 'version' | 'removals'>

/** What a search sees. */
export interface SeenWords {
  meta: StoredWords
  memory: readonly MemorySegment[]
  /** Articles in memory with a higher `seq` are not part of the search. */
  watermark: bigint
}

export interface Lexicons {
  /**
   * The words for which each wildcard stands, in no order.
   *
   * @param bound how many words all wildcards together may stand for, and the error for more
   * @throws SegmentsChanged
   */
  wordsOf(
    wildcards: readonly string[],
    seen: SeenWords,
    bound: { most: number; tooMany(words: number): Error },
    pace: Pace,
  ): Promise<ReadonlyMap<string, string[]>>
  /** Bytes of memory. */
  bytes(): number
}

/** Words that are added between two looks at the clock. */
const WORDS_PER_STEP = 1_024

/** Bytes of kept answers. */
const KEPT = 16 << 20

/** Bytes of a word in a kept answer. */
const WORD_BYTES = 64

export function createLexicons(store: SegmentStore): Lexicons {
  let stored = createLexicon()
  let known = new Set<string>()
  /** The number of the last removal when `stored` was begun. */
  let begun = 0n
  let loading: Promise<void> = Promise.resolve()
  const inMemory = new WeakMap<TermIds, { lexicon: Lexicon; upTo: number }>()

  async function loadAll({ segments, version, removals }: StoredWords): Promise<void> {
    if (known.size === 0) begun = removals
    for (const segment of segments) {
      if (known.has(keyOf(segment))) continue
      const lines = await store.readLexicon(segment, version)
      await stored.add(lines)
      known.add(keyOf(segment))
    }
  }

  /**
   * Only one search at a time reads. The others then find the words there.
   *
   * @param anew forgets words that no segment has any more
   */
  function load(meta: StoredWords, anew = false): Promise<void> {
    loading = loading
      .catch(() => {})
      .then(() => {
        if (anew) {
          stored = createLexicon()
          known = new Set()
        }
        return loadAll(meta)
      })
    return loading
  }

  /** The lexicon of the words in memory. */
  async function memoryLexicon(termIds: TermIds, pace: Pace): Promise<Lexicon> {
    const own = inMemory.get(termIds) ?? { lexicon: createLexicon(), upTo: 0 }
    inMemory.set(termIds, own)
    while (own.upTo < termIds.words) {
      const words: string[] = []
      for (; own.upTo < termIds.words && words.length < WORDS_PER_STEP; own.upTo++) {
        const word = termIds.text(own.upTo)
        if (word.length <= LONGEST_WORD) words.push(word)
      }
      await own.lexicon.add(Buffer.from(`\n${words.join('\n')}\n`))
      if (pace.isDue()) await pace.rest()
    }
    return own.lexicon
  }

  async function find(wildcard: string, { memory }: SeenWords, pace: Pace): Promise<Set<string>> {
    const words = new Set(await stored.find(wildcard, pace))
    for (const termIds of new Set(memory.map(segment => segment.termIds)))
      for (const word of await (await memoryLexicon(termIds, pace)).find(wildcard, pace))
        words.add(word)
    return words
  }

  async function findAll(wildcards: readonly string[], seen: SeenWords, pace: Pace) {
    const found = new Map<string, string[]>()
    for (const wildcard of new Set(wildcards))
      found.set(wildcard, [...(await find(wildcard, seen, pace))])
    return found
  }

  /** Leaves out words that stand in later articles alone. */
  async function exactly(found: Map<string, string[]>, seen: SeenWords, pace: Pace) {
    const exact = new Map<string, string[]>()
    for (const [wildcard, words] of found) {
      const inSegments = new Set(await stored.find(wildcard, pace))
      exact.set(
        wildcard,
        words.filter(word => inSegments.has(word) || isInMemory(word, seen)),
      )
    }
    return exact
  }

  return {
    bytes: () => stored.bytes(),
    async wordsOf(wildcards, seen, { most, tooMany }, pace) {
      await load(seen.meta)
      const found = await findAll(wildcards, seen, pace)
      if (countOf(found) <= most) return found
      if (seen.meta.removals > begun) await load(seen.meta, true)
      const exact = await exactly(await findAll(wildcards, seen, pace), seen, pace)
      if (countOf(exact) > most) throw tooMany(countOf(exact))
      return exact
    },
  }
}

const countOf = (found: ReadonlyMap<string, string[]>) =>
  [...found.values()].reduce((sum, words) => sum + words.length, 0)

/** After a failover, another segment may have the same number. Then its times differ. */
const keyOf = ({ no, first, last, published, ingested }: SegmentMeta) =>
  [no, first, last, published?.first, published?.last, ingested?.first, ingested?.last].join(' ')

function isInMemory(word: string, { memory, watermark }: SeenWords): boolean {
  return memory.some(segment => {
    const [first] = docsOf(segment.list(TERMS.word(word)))
    return first !== undefined && segment.documents[first]!.seq <= watermark
  })
}

/** Words, with the answers to wildcards that were asked for. */
interface Lexicon {
  /** @param lines words between line breaks */
  add(lines: Buffer): Promise<void>
  find(wildcard: string, pace: Pace): Promise<readonly string[]>
  bytes(): number
}

function createLexicon(): Lexicon {
  const set = createWordSet()
  const kept = createCache<string, { words: string[]; upTo: number }>(KEPT)
  return {
    bytes: () => set.bytes() + kept.stats().used,
    async add(lines) {
      const pace = createPace()
      for (let at = 0; at < lines.length - 1; ) {
        at = set.add(lines, at)
        if (pace.isDue()) await pace.rest()
      }
    },
    async find(wildcard, pace) {
      const needle = needleOf(wildcard)
      const before = kept.get(wildcard)
      const words = [...(before?.words ?? [])]
      let upTo = before?.upTo ?? FIRST_WORD
      if (upTo === set.end()) return words
      while (upTo < set.end()) {
        upTo = set.find(needle, upTo, word => words.push(word))
        if (pace.isDue()) await pace.rest()
      }
      kept.set(wildcard, { words, upTo }, words.length * WORD_BYTES)
      return words
    },
  }
}
