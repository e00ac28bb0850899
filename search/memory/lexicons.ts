import { LONGEST_WORD } from '../analysis/tokens.ts'
import { createCache } from '../cache/cache.ts'
import type { RemovedArticles } from '../execute/removed.ts'
import { createPace, type Pace } from '../pace.ts'
import { docsOf } from '../segment/doc-id-set.ts'
import { createWordSet, FIRST_WORD, needleOf } from '../segment/lexicon.ts'
import type { IndexMeta, SegmentMeta, SegmentStore } from '../store/segment-store.ts'
import { TERMS } from '../terms.ts'
import type { MemorySegment, TermIds } from './memory-segment.ts'

/*
 * Finds the words for which wildcards stand, among those of all segments that a search sees. A
 * process reads the lexicon of each segment once, when the first wildcard is asked for. The words
 * of segments that were merged stay, because the merged segment has them too. It lacks words of
 * articles that were taken out. The process then reads all lexicons again: the number of words is a
 * price, and is the same in each process. When segments change meanwhile, the next search reads on.
 */

/** The stored segments, and the articles that were taken out. */
interface StoredWords extends Pick<IndexMeta, 'segments' | 'version'> {
  removed: Pick<RemovedArticles, 'isOf'>
}

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
   * @throws SegmentsChanged
   */
  wordsOf(
    wildcards: readonly string[],
    seen: SeenWords,
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
  let stored = noWords()
  /** The words that are read anew, as far as searches got; null: no search reads anew. */
  let anew: StoredLexicon | null = null
  let loading: Promise<unknown> = Promise.resolve()
  const inMemory = new WeakMap<TermIds, { lexicon: Lexicon; upTo: number }>()

  /** Words that are read anew replace the others when they are complete. */
  async function loadAll({ segments, version, removed }: StoredWords): Promise<Lexicon> {
    const present = new Map(segments.map(segment => [keyOf(segment), segment]))
    const gone = ({ segments }: StoredLexicon) => [...segments].filter(([key]) => !present.has(key))
    const isWrong = (words: StoredLexicon) =>
      gone(words).some(([, segment]) => removed.isOf(segment))
    const begun = anew === null || isWrong(anew) ? noWords() : anew
    const own = isWrong(stored) ? begun : stored
    for (const [key, segment] of present) {
      if (own.segments.has(key)) continue
      await own.lexicon.add(await store.readLexicon(segment, version))
      own.segments.set(key, segment)
      // A search with older segments reads nothing, and leaves what others have read.
      if (own !== stored) anew = own
    }
    for (const [key] of gone(own)) own.segments.delete(key)
    if (own === anew) anew = null
    stored = own
    return own.lexicon
  }

  /** Only one search at a time reads. The others then find the words there. */
  function load(meta: StoredWords): Promise<Lexicon> {
    const loaded = loading.catch(() => {}).then(() => loadAll(meta))
    loading = loaded
    return loaded
  }

  /** The lexicon of the words in memory. */
  async function memoryLexicon(termIds: TermIds, pace: Pace): Promise<Lexicon> {
    const own = inMemory.get(termIds) ?? { lexicon: createLexicon(), upTo: 0 }
    inMemory.set(termIds, own)
    while (own.upTo < termIds.words) {
      const { upTo } = own
      const to = Math.min(upTo + WORDS_PER_STEP, termIds.words)
      const words = Array.from({ length: to - upTo }, (_, at) => termIds.text(upTo + at))
      const short = words.filter(word => word.length <= LONGEST_WORD)
      await own.lexicon.add(Buffer.from(`\n${short.join('\n')}\n`))
      // Another search may have added the same words meanwhile, and more.
      own.upTo = Math.max(own.upTo, to)
      if (pace.isDue()) await pace.rest()
    }
    return own.lexicon
  }

  return {
    bytes: () => stored.lexicon.bytes() + (anew?.lexicon.bytes() ?? 0),
    async wordsOf(wildcards, seen, pace) {
      const lexicon = await load(seen.meta)
      const found = new Map<string, string[]>()
      for (const wildcard of wildcards) {
        const words = new Set(await lexicon.find(wildcard, pace))
        for (const termIds of new Set(seen.memory.map(segment => segment.termIds)))
          for (const word of await (await memoryLexicon(termIds, pace)).find(wildcard, pace)) {
            if (!words.has(word) && isInMemory(word, seen)) words.add(word)
            if (pace.isDue()) await pace.rest()
          }
        found.set(wildcard, [...words])
      }
      return found
    },
  }
}

/** The words of stored segments, by the keys of the segments. */
interface StoredLexicon {
  lexicon: Lexicon
  segments: Map<string, SegmentMeta>
}

const noWords = (): StoredLexicon => ({ lexicon: createLexicon(), segments: new Map() })

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
