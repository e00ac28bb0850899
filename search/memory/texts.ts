import { grown } from '../segment/grown.ts'
import type { TermIds } from './term-ids.ts'

/**
 * The texts of an in-memory segment as ids of words, one after the other: title, body, title, body
 * …
 */
export interface Texts {
  /** All ids. Longer than there are words; a later call may return another array. */
  ids(): Int32Array
  add(title: string, body: string): void
  titleStart(doc: number): number
  bodyStart(doc: number): number
  end(doc: number): number
  /** Whether words stand side by side in the title, or in title or body, of a document. */
  contains(doc: number, phrase: number[], titleOnly: boolean): boolean
}

export function createTexts(termIds: TermIds): Texts {
  let ids = new Int32Array(1 << 14)
  let used = 0
  const titleStarts: number[] = []
  const bodyStarts: number[] = []
  const push = (word: number) => {
    if (used === ids.length) ids = grown(ids, new Int32Array(used * 2))
    ids[used++] = word
  }
  const end = (doc: number) => titleStarts[doc + 1] ?? used
  return {
    ids: () => ids,
    add(title, body) {
      titleStarts.push(used)
      termIds.read(title, push)
      bodyStarts.push(used)
      termIds.read(body, push)
    },
    titleStart: doc => titleStarts[doc]!,
    bodyStart: doc => bodyStarts[doc]!,
    end,
    contains(doc, phrase, titleOnly) {
      const body = bodyStarts[doc]!
      if (isIn(ids, phrase, titleStarts[doc]!, body)) return true
      return !titleOnly && isIn(ids, phrase, body, end(doc))
    },
  }
}

/** Whether a phrase stands from `from` to before `to`. */
function isIn(ids: Int32Array, phrase: number[], from: number, to: number): boolean {
  const first = phrase[0]!
  for (let at = from; at <= to - phrase.length; at++) {
    if (ids[at] !== first) continue
    let same = 1
    while (same < phrase.length && ids[at + same] === phrase[same]) same++
    if (same === phrase.length) return true
  }
  return false
}
