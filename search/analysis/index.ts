import type { Language } from '../vocabulary.ts'
import { BREAK, codeUnits } from './hashes.ts'
import { stem } from './stems.ts'
import stopWords from './stop-words.json' with { type: 'json' }
import { foldWord, KEPT, kindAt, PAIR, SEPARATOR, words } from './tokens.ts'

/*
 * Exports the pure functions on text: tokens, folding and stems. Stop words and word lists are
 * defined here. No function opens a connection, so a thread that only prepares texts can import
 * this file alone.
 */

export { hashOf, hashWords, pairHash, placeOf, sortHashes } from './hashes.ts'
export { stem } from './stems.ts'
export { SNIPPET_RULES } from './text.ts'
export { foldName, foldWord, hasLetterOrDigit, NAME_RULES, words } from './tokens.ts'

/**
 * Version of the rules that make words of texts and queries, and of the rules that match words.
 * Raise it with every change that makes a search find other articles. A search that was cited under
 * an older version cannot be recomputed. Rules that build on words change with it (`rulesOn`).
 */
export const WORD_RULES = 1

/** The version of rules that build on others: it rises when one of them does. */
export const rulesOn = (own: number, ...bases: number[]): number =>
  bases.reduce((sum, base) => sum + 100 * (base - 1), own)

/**
 * Words that carry no meaning of their own (decision 40), in lines. The reference (`/docs`) prints
 * each list from here. Segments hold no stem of a stop word, so a change asks for `npm run
 * reindex`. After an addition, searches work before the reindex, with one exception: a word that
 * has the same stem as the added word still finds the added word in older articles. After a
 * removal, searches work only after the reindex.
 *
 * `base`: nl, fr, de and en are the lists of the Snowball project (BSD 3-clause, Copyright (c)
 * 2001, Dr Martin Porter, and (c) 2002, Richard Boulton), as PostgreSQL ships them. We added
 * missing parts into which our tokenizer cuts contractions (`don't`). Snowball has no list for
 * Luxembourgish, so we wrote one.
 *
 * `added`: function words that those lists lack, and on which other well-kept lists agree:
 * pronouns, determiners, question words, prepositions, conjunctions, auxiliary verbs, and adverbs
 * that Snowball lists in another of the languages. They have no numerals. They also leave out
 * words that have a meaning of their own, even if only the folded form has it: `weer`, `weg`, `net`
 * and `eigen` (nl), `car` and `ça` (fr), `wäre` and `Jahr` (de), `us` and `may` (en), `un` and
 * `sëlwer` (lb).
 */
const LISTS: Record<Language, Record<'base' | 'added', string[]>> = stopWords

const wordsIn = (lines: string[]) => lines.flatMap(line => line.split(' '))

/** The stop words of a language as the documentation shows them: unfolded, in two parts. */
export const listedStopWords = (language: Language): { base: string[]; added: string[] } => ({
  base: wordsIn(LISTS[language].base),
  added: wordsIn(LISTS[language].added),
})

const foldedLists = new Map<Language, ReadonlySet<string>>()

/**
 * The stop words of a language, folded. A list is folded when it is first asked for: folding all of
 * them takes 30 ms at a start, and most commands ask for none.
 */
export function stopWordsOf(language: Language): ReadonlySet<string> {
  let known = foldedLists.get(language)
  if (known === undefined) {
    const { base, added } = LISTS[language]
    known = new Set(words([...base, ...added].join(' ')))
    foldedLists.set(language, known)
  }
  return known
}

/**
 * Makes the test by which keyword search finds a word in an article of `language`: the word has the
 * stem of a wanted word. Stop words never match, unless all wanted words are stop words (decision
 * 17). Then words match exactly.
 */
export function isFormOf(wanted: string[], language: Language): (word: string) => boolean {
  const stopWords = stopWordsOf(language)
  const telling = wanted.filter(word => !stopWords.has(word))
  if (telling.length === 0) return word => wanted.includes(word)
  const stems = new Set(telling.map(word => stem(language, word)))
  return word => !stopWords.has(word) && stems.has(stem(language, word))
}

/** The words of an article, two lists as `wordList` writes them (table `article_words`). */
export interface DocumentWords {
  title: string
  body: string
}

export const indexText = (title: string, body: string | null): DocumentWords => ({
  title: wordListOf(title),
  body: wordListOf(body ?? ''),
})

/** The word list of a text. */
export function wordListOf(text: string): string {
  const written = writeWords(text)
  return written === null ? wordList(words(text)) : `${written}\n`
}

/**
 * Makes a word list: words with line breaks before, between and after them. A text contains a
 * phrase if its word list contains the phrase's word list.
 */
export const wordList = (list: string[]): string =>
  list.length === 0 ? '\n' : `\n${list.join('\n')}\n`

/** The words of a word list, in order. */
export const wordsOf = (list: string): string[] => list.split('\n').filter(word => word !== '')

/** The most code units of a text whose words `writeWords` writes. Longer texts take another way. */
const LONGEST_WRITTEN = 1 << 20

/** The output buffer of `writeWords`. The buffer grows with the longest text. */
let written = Buffer.alloc(1 << 14)

/**
 * By code unit: its folded form if this is one character of Latin-1; 0: the code unit separates
 * words; `OTHER`: a word with it is folded as a whole; `UNREAD`: not computed yet.
 */
const FOLDED = new Uint8Array(0x10000).fill(255)
const UNREAD = 255
const OTHER = 254

function foldedUnit(unit: number): number {
  if (unit >= 0xd800 && unit <= 0xdbff) return OTHER
  const character = String.fromCharCode(unit)
  if (kindAt(character, 0) === SEPARATOR) return 0
  const folded = unit < KEPT ? foldWord(character) : ''
  return folded.length === 1 ? Math.min(folded.charCodeAt(0), OTHER) : OTHER
}

/** Matches all characters that NFC may change, and some others. */
const MAY_BE_DECOMPOSED = /[^\0-\u02ff\u2010-\u2026\u20ac]/

/**
 * Writes the words of a text as `words` finds them, each after a line break. `writeWords` makes no
 * string for each word, so a text takes a third of the time.
 *
 * @returns null: the text is very long, or a folded word has characters beyond Latin-1
 */
function writeWords(text: string): string | null {
  const normal = MAY_BE_DECOMPOSED.test(text) ? text.normalize('NFC') : text
  const end = normal.length
  if (end > LONGEST_WRITTEN) return null
  if (written.length < end + 2) written = Buffer.alloc(end * 2)
  const read = codeUnits(normal)
  read[end] = BREAK
  let bytes = written
  let to = 0
  for (let at = 0; at < end; at++) {
    let folded = FOLDED[read[at]!]!
    if (folded === 0) continue
    const start = at
    const from = to
    bytes[to++] = BREAK
    while (folded !== 0 && folded < OTHER) {
      bytes[to++] = folded
      folded = FOLDED[read[++at]!]!
    }
    if (folded === 0) continue
    if (folded === UNREAD) FOLDED[read[at]!] = foldedUnit(read[at]!)
    for (
      let kind = kindAt(normal, at, read[at]);
      kind !== SEPARATOR;
      kind = kindAt(normal, at, read[at])
    )
      at += kind === PAIR ? 2 : 1
    to = writeFolded(normal.slice(start, at), from, end - at)
    if (to < 0) return null
    bytes = written
  }
  return written.toString('latin1', 0, to)
}

/**
 * Writes the folded form of a word over the characters that `writeWords` wrote of that word.
 *
 * @param from where the line break before the word stands
 * @param follows how many code units of the text come after the word
 * @returns where the folded word ends; −1: it has characters beyond Latin-1
 */
function writeFolded(word: string, from: number, follows: number): number {
  const folded = foldWord(word)
  if (folded === '') return from
  const start = from + 1
  const end = start + folded.length
  const room = end + follows + 2
  if (written.length < room) written = Buffer.concat([written.subarray(0, start)], room * 2)
  for (let at = start; at < end; at++) {
    const unit = folded.charCodeAt(at - start)
    if (unit > 0xff) return -1
    written[at] = unit
  }
  return end
}
