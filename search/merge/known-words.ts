import { release } from '../segment/large.ts'
import type { KnownTexts } from '../segment/segment-texts.ts'
import { createVocabulary, type Vocabulary } from '../segment/vocabulary.ts'

/**
 * The words of flushed segments as ids, for the merge that follows: it then need not read and look
 * up the words of 65,536 articles again. Four bytes a word.
 */
export interface KnownWords {
  readonly vocabulary: Vocabulary
  /** Keeps the texts of a stored segment. */
  keep(segmentNo: number, texts: KnownTexts): void
  /** The texts of some segments, which are then kept no longer; null: not all are known. */
  take(segmentNos: number[]): KnownTexts[] | null
}

/** Words of one merged segment, twice over; a quarter of a gigabyte. */
const MOST_WORDS = 1 << 26

/** Words of a vocabulary that is kept after a merge. News has some hundred thousand. */
const LARGEST_VOCABULARY = 1 << 20

/**
 * A segment's number belongs to its texts for good: whoever makes words anew stores the segment
 * under another number.
 */
export function createKnownWords(): KnownWords {
  const known = new Map<number, KnownTexts>()
  let vocabulary = createVocabulary()
  let words = 0
  const drop = (segmentNo: number, texts: KnownTexts) => {
    known.delete(segmentNo)
    words -= texts.words.length
  }
  return {
    get vocabulary() {
      if (known.size === 0 && vocabulary.words.size > LARGEST_VOCABULARY) vocabulary = createVocabulary()
      return vocabulary
    },
    keep(segmentNo, texts) {
      known.set(segmentNo, texts)
      words += texts.words.length
      for (const [oldest, { words: held }] of known) {
        if (words <= MOST_WORDS) return
        drop(oldest, known.get(oldest)!)
        release(held)
      }
    },
    take(segmentNos) {
      const found = segmentNos.flatMap(no => known.get(no) ?? [])
      if (found.length === 0 || found.length < segmentNos.length) return null
      segmentNos.forEach((no, at) => {
        drop(no, found[at]!)
      })
      return found
    },
  }
}
