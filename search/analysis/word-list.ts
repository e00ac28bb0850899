import { words } from './tokens.ts'
import { writeWords } from './written-words.ts'

/** The words of an article, two lists as `wordList` writes them (table `article_words`). */
export interface DocumentWords {
  title: string
  body: string
}

export function indexText(title: string, body: string | null): DocumentWords {
  return { title: wordListOf(title), body: wordListOf(body ?? '') }
}

/** The list of the words of a text. */
export function wordListOf(text: string): string {
  const written = writeWords(text)
  return written === null ? wordList(words(text)) : `${written}\n`
}

/**
 * Words with line breaks before, between and after them. A text contains a phrase when its list
 * contains the phrase's list.
 */
export function wordList(list: string[]): string {
  return list.length === 0 ? '\n' : `\n${list.join('\n')}\n`
}
