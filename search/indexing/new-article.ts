import { indexText } from '../analysis/index.ts'
import { boundMarks, cutText, snippetOf, TEXT_LIMITS } from '../analysis/text.ts'
import type { Stated } from '../terms.ts'
import type { ArticleOutlet, Country, Language } from '../vocabulary.ts'

/**
 * An article to be indexed, as the normaliser or `import` gives it. `addresses` are the keys of all
 * its addresses (`shared/articles/address.ts`). The first one is its own.
 */
export interface NewArticle {
  /**
   * The article gets this id if no other article has it. Otherwise the id is derived from the
   * outlet and the first address.
   */
  id?: string
  url: string
  addresses: string[]
  title: string
  /** Plain text, with a blank line between paragraphs; null: there is no text. */
  body: string | null
  /** The snippet, if the outlet allows less than the usual beginning of the body (decision 41). */
  snippet?: string | null
  /** Absent: the outlet sets no limits for this article. */
  rights?: ArticleRights
  publishedAt: Date | null
  /** Absent: the article gets the stamp. A date or null: the value in an import (decision 23). */
  ingestedAt?: Date | null
  authors: string[]
  /** News agencies that the article names as its source; absent: none. */
  agencies?: string[]
  /** The version of the rules that found the agencies; absent: nobody looked for them. */
  agencyRules?: number
  outlet: ArticleOutlet
  language: Language
  country: Country
  /** What the outlet says of the article; absent: nothing. */
  stated?: Stated
  /**
   * The text as the index stores it, if a thread has prepared it. `title` and `body` are then
   * ignored.
   */
  prepared?: PreparedText | EncodedText
  /** Number of its page; absent for an imported article. */
  pageNo?: bigint
}

/** The rights of an article whose outlet sets limits. Kept in `article_rights`. */
export interface ArticleRights {
  /** Whether the snippet is the one that the outlet allows. Such a snippet never changes. */
  bounded: boolean
  /** False: words find the article, but search by meaning does not. */
  vector: boolean
}

/** The result for a `NewArticle`: a new row, or a known row that stays as it is. */
export type Indexed =
  | { outcome: 'indexed'; seq: bigint; id: string }
  | { outcome: 'known'; id: string }
  /** An operator has taken the article out. It is not written again. */
  | { outcome: 'removed'; id: string }

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
 * Prepares an article's text, cut to `TEXT_LIMITS`. This is all work that grows with the text,
 * mostly tokenising. A megabyte takes tenths of a second, so services call this in a thread.
 */
export function prepareText(article: Pick<NewArticle, 'title' | 'body' | 'snippet'>): PreparedText {
  const title = cutText(storable(article.title), TEXT_LIMITS.title)
  const body = article.body === null ? null : cutText(storable(article.body), TEXT_LIMITS.body)
  const units = title.length + (body?.length ?? 0)
  const snippet =
    article.snippet === undefined ? snippetOf(body) : article.snippet && storable(article.snippet)
  return { title, body, snippet, words: indexText(title, body), units }
}

/**
 * Removes characters that Postgres cannot store: NUL, and halves of surrogate pairs. Also bounds
 * combining marks, because searches normalise the stored text.
 */
export const storable = (text: string): string =>
  boundMarks(text.replaceAll('\0', ' ').toWellFormed())

/** A prepared text in UTF-8, as Postgres takes it. */
type EncodedText = PreparedText<Uint8Array>

export interface Encoder {
  add(text: PreparedText): void
  /** The texts in the order in which they were added, all in `buffer`. */
  finish(): { texts: EncodedText[]; buffer: ArrayBuffer }
}

/**
 * Encodes the texts of many articles into one buffer. A thread can hand over a buffer without a
 * copy, while strings would be written and read again.
 */
export function createEncoder(): Encoder {
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
    add({ title, body, snippet, words, units }) {
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
    finish() {
      bytes = Buffer.from(bytes.buffer.transfer(end))
      return { texts: texts.map(text => text()), buffer: bytes.buffer }
    },
  }
}
