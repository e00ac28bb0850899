import { words } from './tokens.ts'

/**
 * The words of an article as the tokenizer reads them, each list written by `wordList`
 * (`article_words`).
 */
export interface DocumentWords {
  title: string
  body: string
}

export function indexText(title: string, body: string | null): DocumentWords {
  return { title: wordList(words(title)), body: wordList(body === null ? [] : words(body)) }
}

/**
 * Words with line breaks before, between and after them: a phrase is in the list when its own list
 * is a part of it.
 */
export function wordList(list: string[]): string {
  return list.length === 0 ? '\n' : `\n${list.join('\n')}\n`
}
