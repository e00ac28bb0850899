import { grown } from '../segment/grown.ts'
import { createWordIds, type WordIds } from '../segment/word-ids.ts'

/**
 * The words that names are made of, by id, and their texts in one array that is scanned for parts.
 */
export interface NameWords extends Pick<WordIds, 'read' | 'text'> {
  readonly size: number
  /** Id of the empty word, which ends a name. */
  readonly empty: number
  readonly bytes: number
  /**
   * A bitmap of the words that contain a text. The text may begin and end with `BREAK`, which
   * stands before each word and after it.
   */
  containing(text: string): Uint32Array
}

/** No folded name contains it: white space is collapsed to a blank. */
export const BREAK = '\n'
const BREAK_UNIT = 10

/** Bytes of a word besides its text: hash, slots of the table, end. */
const WORD_BYTES = 32

export function createNameWords(): NameWords {
  const ids = createWordIds()
  let units = Uint16Array.of(BREAK_UNIT)
  let used = 1

  /** Words get their ids in the order in which they are read, and stand here in that order. */
  const addTexts = (from: number) => {
    for (let word = from; word < ids.size; word++) {
      const text = ids.text(word)
      const end = used + text.length + 1
      if (end > units.length) units = grown(units, new Uint16Array(Math.max(units.length * 2, end)))
      for (let at = 0; at < text.length; at++) units[used++] = text.charCodeAt(at)
      units[used++] = BREAK_UNIT
    }
  }
  const read: NameWords['read'] = (list, visit) => {
    const known = ids.size
    ids.read(list, visit)
    addTexts(known)
  }
  read(BREAK + BREAK, () => {})
  return {
    read,
    empty: 0,
    text: ids.text,
    get size() {
      return ids.size
    },
    get bytes() {
      return units.byteLength * 2 + ids.size * WORD_BYTES
    },
    containing(text) {
      const found = new Uint32Array((ids.size + 31) >>> 5)
      const wanted = Uint16Array.from({ length: text.length }, (_, at) => text.charCodeAt(at))
      const first = wanted[0]!
      let word = -1
      for (let at = 0; at < used; at++) {
        const unit = units[at]!
        if (unit === BREAK_UNIT) word++
        if (unit !== first) continue
        let same = 1
        while (same < wanted.length && units[at + same] === wanted[same]) same++
        if (same === wanted.length) found[word >>> 5]! |= 1 << (word & 31)
      }
      return found
    },
  }
}
