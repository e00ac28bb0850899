import type { Language } from '../../shared/articles/article.ts'
import { grown } from '../segment/arrays.ts'
import type { WordTerm } from '../terms.ts'
import type { TermIds } from './term-ids.ts'

/**
 * Posting lists of words and stems. A search waits for the articles that came just before it, so
 * building their lists is put off: the lists take two thirds of the work. Until then the texts
 * of unlisted documents are scanned.
 */
interface TextPostings {
  /** Takes in the next document, whose text is in `texts` already. */
  add(language: Language, newWords: number): void
  /** Lists the words of the first unlisted document. Returns whether there was one. */
  listNext(): boolean
  /** The documents with a word or a stem, ascending. */
  docs(term: WordTerm): Uint16Array
}

/** To scan more documents would take longer than to list them. */
const MOST_UNLISTED = 128
/** New words whose stems a search may have to find; each takes some microseconds. */
const MOST_UNSTEMMED = 256

export function createTextPostings(texts: Texts, termIds: TermIds): TextPostings {
  const languages: Language[] = []
  const lists = { word: createGrowingPostings(), stem: createGrowingPostings() }
  const titleLists = { word: new Map<number, number[]>(), stem: new Map<number, number[]>() }
  const stems = createStems(texts, termIds, languages)
  /** Documents whose words are listed, and new words in documents whose stems are not known yet. */
  let [listed, unstemmed] = [0, 0]

  const listNext = (): boolean => {
    if (listed === languages.length) return false
    stems.findUpTo(listed + 1)
    const ids = texts.ids()
    const [body, end] = [texts.bodyStart(listed), texts.end(listed)]
    for (let at = texts.titleStart(listed); at < end; at++) {
      const word = ids[at]!
      const stem = stems.at(at)
      if (lists.word.add(word, listed) && stem >= 0) lists.stem.add(stem, listed)
      if (at >= body) continue
      addTo(titleLists.word, word, listed)
      if (stem >= 0) addTo(titleLists.stem, stem, listed)
    }
    listed++
    if (listed === languages.length) stems.forget()
    return true
  }
  return {
    add(language, newWords) {
      languages.push(language)
      unstemmed += newWords
      if (unstemmed > MOST_UNSTEMMED) {
        stems.findUpTo(languages.length)
        unstemmed = 0
      }
      if (languages.length - listed > MOST_UNLISTED) listNext()
    },
    listNext,
    docs({ kind, inTitle, of }) {
      if (kind === 'stem') {
        stems.findUpTo(languages.length)
        unstemmed = 0
      }
      const term = termIds[kind](of)
      if (term < 0) return new Uint16Array(0)
      const found = inTitle ? (titleLists[kind].get(term) ?? []) : lists[kind].docs(term)
      const scanned = kind === 'stem' ? stems.scanned() : { ids: texts.ids(), from: 0 }
      return appended(found, scan(texts, scanned, term, { first: listed, end: languages.length, inTitle }))
    },
  }
}

/** Ids of words or stems of consecutive documents; the first stands at `from` in the texts. */
interface ScannedIds {
  ids: Int32Array
  from: number
}

/** The documents from `first` to before `end` that have a term. */
function scan(
  texts: Texts,
  { ids, from }: ScannedIds,
  term: number,
  { first, end, inTitle }: { first: number; end: number; inTitle: boolean },
): number[] {
  const found: number[] = []
  for (let doc = first; doc < end; doc++) {
    const to = (inTitle ? texts.bodyStart(doc) : texts.end(doc)) - from
    let at = texts.titleStart(doc) - from
    while (at < to && ids[at] !== term) at++
    if (at < to) found.push(doc)
  }
  return found
}

function appended(docs: Uint16Array | number[], more: number[]): Uint16Array {
  if (docs instanceof Uint16Array && more.length === 0) return docs
  const all = new Uint16Array(docs.length + more.length)
  all.set(docs)
  all.set(more, docs.length)
  return all
}

/** The stems of the documents that are not listed yet, from the word at `from` on. */
function createStems(texts: Texts, termIds: TermIds, languages: readonly Language[]) {
  let stems = new Int32Array(0)
  let from = 0
  /** Documents whose stems are known. */
  let known = 0
  return {
    findUpTo(docs: number) {
      if (known >= docs) return
      const size = texts.end(docs - 1) - from
      if (stems.length < size) stems = grown(stems, new Int32Array(Math.max(size, stems.length * 2)))
      const ids = texts.ids()
      for (; known < docs; known++) {
        const language = languages[known]!
        const end = texts.end(known)
        for (let at = texts.titleStart(known); at < end; at++) stems[at - from] = termIds.stemOf(ids[at]!, language)
      }
    },
    at: (at: number) => stems[at - from]!,
    scanned: (): ScannedIds => ({ ids: stems, from }),
    /** All documents are listed: the next stems are those of the next document. */
    forget() {
      stems = new Int32Array(0)
      from = languages.length === 0 ? 0 : texts.end(languages.length - 1)
    },
  }
}

/** Adds a document to a list unless it is its last. */
function addTo<K>(lists: Map<K, number[]>, key: K, doc: number): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [doc])
  else if (list[list.length - 1] !== doc) list.push(doc)
}

/**
 * Posting lists that grow at their ends, by the id of a term. Most are very short, so they are
 * chained through one array: an array for each would take a hundred bytes.
 */
interface GrowingPostings {
  /** Adds a document unless it is the last of the list. Returns whether it was added. */
  add(term: number, doc: number): boolean
  /** The documents in ascending order. The caller does not write to the array. */
  docs(term: number): Uint16Array
}

/**
 * Three numbers for each list, side by side: its length, the end of its chain + 1, its last
 * document + 1.
 */
const WIDTH = 3
const [COUNT, END, LAST] = [0, 1, 2] as const

/**
 * From this length on the last result is kept: to follow a chain is slow, but a short one costs
 * less than to keep it.
 */
const LONG = 32

export function createGrowingPostings(): GrowingPostings {
  let lists = new Int32Array(WIDTH << 12)
  let docs = new Uint16Array(1 << 12)
  /** The link of each document to the one before it in its chain, + 1. */
  let before = new Int32Array(1 << 12)
  let used = 0
  const results = new Map<number, Uint16Array>()
  return {
    add(term, doc) {
      const at = term * WIDTH
      while (at >= lists.length) lists = grown(lists, new Int32Array(lists.length * 2))
      if (lists[at + LAST] === doc + 1) return false
      if (used === docs.length) {
        docs = grown(docs, new Uint16Array(used * 2))
        before = grown(before, new Int32Array(used * 2))
      }
      docs[used] = doc
      before[used] = lists[at + END]!
      lists[at + COUNT]!++
      lists[at + END] = ++used
      lists[at + LAST] = doc + 1
      return true
    },
    docs(term) {
      const list = term * WIDTH
      if (list >= lists.length) return new Uint16Array(0)
      const count = lists[list + COUNT]!
      const known = count < LONG ? undefined : results.get(term)
      if (known?.length === count) return known
      const found = new Uint16Array(count)
      if (known !== undefined) found.set(known)
      const rest = known?.length ?? 0
      for (let at = lists[list + END]!, index = count - 1; index >= rest; at = before[at - 1]!) {
        found[index--] = docs[at - 1]!
      }
      if (count >= LONG) results.set(term, found)
      return found
    },
  }
}

/**
 * The texts of an in-memory segment as ids of words, one after the other: title, body, title, body
 * …
 */
interface Texts {
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
