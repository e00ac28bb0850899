import { hasBit } from '../segment/bitmap.ts'
import { grown } from '../segment/grown.ts'
import { BREAK, createNameWords } from './name-words.ts'

/**
 * Folded names with their numbers, as lists of words: half a million names of authors are made of
 * some ten thousand words. A part is looked up in the words first, and then the lists of words are
 * scanned, which takes a fraction of a scan of the texts.
 */
export interface NameTexts {
  /** Number of names, in the order in which they were added. */
  readonly size: number
  readonly bytes: number
  /**
   * Adds names.
   *
   * @param nos the number of each name
   * @param words all their words as `wordList` writes a list, an empty word after each name
   */
  add(nos: ArrayLike<number>, words: string): void
  /** The numbers of the names that contain a folded part. */
  search(part: string): NameSearch
}

/** Holds while no names are added. */
export interface NameSearch {
  /** Calls back with the numbers of names from one to before another. */
  visit(from: number, to: number, found: (no: number) => void): void
}

/** To look at the texts of fewer names takes less than to look the part up in the words. */
const FEW_NAMES = 256

export function createNameTexts(): NameTexts {
  const words = createNameWords()
  let nos = new Int32Array(1 << 10)
  /** Words of name n are `ids` from `starts[n]` to before `starts[n + 1]`. */
  let starts = new Uint32Array(1 << 10)
  let ids = new Int32Array(1 << 12)
  let [size, used] = [0, 0]

  const addWord = (id: number) => {
    if (used === ids.length) ids = grown(ids, new Int32Array(used * 2))
    ids[used++] = id
  }
  const endName = (no: number) => {
    if (size + 1 === starts.length) {
      starts = grown(starts, new Uint32Array(starts.length * 2))
      nos = grown(nos, new Int32Array(starts.length))
    }
    nos[size++] = no
    starts[size] = used
  }
  const textOf = (name: number) => Array.from(ids.subarray(starts[name]!, starts[name + 1]!), words.text).join(' ')

  /** Visits names in which words of the first set, the second set … stand side by side. */
  const visitSequences = (sets: Uint32Array[], from: number, to: number, found: (no: number) => void) => {
    // Constants, because variables that others assign are read anew in each step.
    const [first, ...rest] = sets
    const [ownIds, ownStarts, more] = [ids, starts, rest.length]
    for (let name = from, at = ownStarts[from]!; name < to; name++) {
      const end = ownStarts[name + 1]!
      for (; at < end - more; at++) {
        if (!hasBit(first!, ownIds[at]!)) continue
        if (more > 0 && !rest.every((set, index) => hasBit(set, ownIds[at + index + 1]!))) continue
        found(nos[name]!)
        break
      }
      at = end
    }
  }
  return {
    get size() {
      return size
    },
    get bytes() {
      return words.bytes + nos.byteLength + starts.byteLength + ids.byteLength
    },
    add(added, list) {
      let at = 0
      words.read(list, id => {
        if (id === words.empty) endName(added[at++]!)
        else addWord(id)
      })
    },
    search(part) {
      let sets: Uint32Array[] | null = null
      return {
        visit(from, to, found) {
          if (part !== '' && (sets !== null || to - from > FEW_NAMES)) {
            sets ??= textsInWords(part).map(words.containing)
            visitSequences(sets, from, to, found)
            return
          }
          for (let name = from; name < to; name++) if (part === '' || textOf(name).includes(part)) found(nos[name]!)
        },
      }
    },
  }
}

/**
 * The texts to be found in neighbouring words of a name. Within a part, a blank ends one word and
 * begins the next.
 */
function textsInWords(part: string): string[] {
  const pieces = part.split(' ')
  const last = pieces.length - 1
  return pieces.map((piece, at) => `${at === 0 ? '' : BREAK}${piece}${at === last ? '' : BREAK}`)
}
