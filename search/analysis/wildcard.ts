import { LONGEST_WORD } from './tokens.ts'

/*
 * A wildcard is a part of words, in an expression: `trein*` stands for all words that begin so,
 * `*trein` for those that end so, and `*trein*` for those that have it anywhere, the word itself
 * among them. No word contains `*`, so a wildcard stands in place of a word in the leaves of an
 * expression. Words that are too long to be terms match no wildcard.
 */

/** The fewest letters of a wildcard. */
export const LEAST_LETTERS = 3

export const isWildcard = (word: string): boolean => word[0] === '*' || word.at(-1) === '*'

/** The letters of a wildcard, without its `*`. */
export const lettersOf = (wildcard: string): string => wildcard.replaceAll('*', '')

/** Makes the test whether a wildcard stands for a word. */
export function wildcardTest(wildcard: string): (word: string) => boolean {
  const letters = lettersOf(wildcard)
  const isOpen = { start: wildcard[0] === '*', end: wildcard.at(-1) === '*' }
  const stands = (word: string) =>
    isOpen.start && isOpen.end
      ? word.includes(letters)
      : isOpen.start
        ? word.endsWith(letters)
        : word.startsWith(letters)
  return word => word.length <= LONGEST_WORD && stands(word)
}

/** Whether a word of an expression stands for a word. @param word absent: there is none */
export const fits = (asked: string, word: string | undefined): boolean =>
  word !== undefined && (isWildcard(asked) ? wildcardTest(asked)(word) : asked === word)
