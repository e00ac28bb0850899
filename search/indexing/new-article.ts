import { indexText } from '../analysis/index.ts'
import { boundMarks, cutText, snippetOf, TEXT_LIMITS } from '../analysis/text.ts'
import type { ArticleOutlet, Country, Language } from '../vocabulary.ts'

/**
 * An article that is to be indexed, as the normaliser or `import` knows it. `addresses` are the
 * keys of all its addresses (`shared/articles/address.ts`); the first is its own.
 */
export interface NewArticle {
  /** Used when it is free. Otherwise an id is derived from the outlet and the first address. */
  id?: string
  url: string
  addresses: string[]
  title: string
  /** Plain text, paragraphs separated by a blank line; null when none was captured. */
  body: string | null
  /** The snippet, where its outlet allows less than the beginning of the body (decision 41). */
  snippet?: string | null
  /** Absent: the outlet allows all that is done with other articles. */
  rights?: ArticleRights
  publishedAt: Date | null
  /** Absent: the time of visibility. A date or null: the value in an import (decision 23). */
  ingestedAt?: Date | null
  authors: string[]
  /** News agencies that are named as its source; absent: none. */
  agencies?: string[]
  outlet: ArticleOutlet
  language: Language
  country: Country
  /**
   * Its text as the index stores it, when a thread has prepared it. `title` and `body` are then not
   * looked at.
   */
  prepared?: PreparedText | EncodedText
  /** Number of its page; absent for an imported article. */
  pageNo?: bigint
}

/**
 * The rights of an article with which less may be done than with others; kept in `article_rights`.
 */
export interface ArticleRights {
  /** The snippet is what the outlet allows. It never changes. */
  bounded: boolean
  /** False: it is found by words, but not by meaning. */
  vector: boolean
}

/** The result for a `NewArticle`: a new row, or a known row that stays as it is. */
export type Indexed = { outcome: 'indexed'; seq: bigint; id: string } | { outcome: 'known'; id: string }

/**
 * The values in the index that depend on an article's text alone. `Text` is a string, or its bytes
 * in UTF-8.
 */
export interface PreparedText<Text = string> {
  title: Text
  body: Text | null
  snippet: Text | null
  words: { title: Text; body: Text }
  /** UTF-16 code units of title and body. */
  units: number
}

/**
 * Prepares an article's text, cut to `TEXT_LIMITS`: all work that grows with the text, mostly
 * tokenising. A megabyte takes tenths of a second, so services call this in a thread.
 */
export function prepareText(article: Pick<NewArticle, 'title' | 'body' | 'snippet'>): PreparedText {
  const title = cutText(storable(article.title), TEXT_LIMITS.title)
  const body = article.body === null ? null : cutText(storable(article.body), TEXT_LIMITS.body)
  const units = title.length + (body?.length ?? 0)
  const snippet = article.snippet === undefined ? snippetOf(body) : article.snippet && storable(article.snippet)
  return { title, body, snippet, words: indexText(title, body), units }
}

/**
 * Removes characters that Postgres cannot store: NUL, and halves of surrogate pairs. Also bounds
 * combining marks, because searches normalise what is stored.
 */
export const storable = (text: string): string => boundMarks(text.replaceAll('\0', ' ').toWellFormed())

/** A prepared text in UTF-8, as Postgres takes it. */
type EncodedText = PreparedText<Uint8Array>

/**
 * Encodes the texts of many articles into one buffer, which a thread can hand over without a copy.
 * Strings would be written and read again on the way to another thread.
 */
export function createEncoder() {
  let bytes = Buffer.from(new ArrayBuffer(1 << 20))
  let end = 0
  /** @returns where the text begins and ends */
  const add = (text: string): [number, number] => {
    // In UTF-8 a code unit takes three bytes at most.
    const needed = end + text.length * 3
    if (needed > bytes.length) {
      bytes = Buffer.from(bytes.buffer.transfer(Math.max(bytes.length * 2, needed)))
    }
    const start = end
    end += bytes.write(text, end)
    return [start, end]
  }
  const texts: (() => EncodedText)[] = []
  return {
    add({ title, body, snippet, words, units }: PreparedText): void {
      const places = {
        title: add(title),
        body: body === null ? null : add(body),
        snippet: snippet === null ? null : add(snippet),
        words: { title: add(words.title), body: add(words.body) },
      }
      const view = ([from, to]: [number, number]) => new Uint8Array(bytes.buffer, from, to - from)
      texts.push(() => ({
        title: view(places.title),
        body: places.body && view(places.body),
        snippet: places.snippet && view(places.snippet),
        words: { title: view(places.words.title), body: view(places.words.body) },
        units,
      }))
    },
    /** The texts in the order in which they were added, all in `buffer`. */
    finish(): { texts: EncodedText[]; buffer: ArrayBuffer } {
      bytes = Buffer.from(bytes.buffer.transfer(end))
      return { texts: texts.map(text => text()), buffer: bytes.buffer }
    },
  }
}
