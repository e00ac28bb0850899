import { words } from './tokens.ts'

/** A word of a text: where it stands there, and how it is folded. */
export interface WordRun {
  start: number
  end: number
  word: string
}

const RUN = /[\p{L}\p{Nd}\p{M}\p{Cf}⁰¹²³⁴-⁹₀-₉]+/gu

/**
 * The words of a text with their places, for marking them. A text that is not in NFC may be cut
 * into other words than `words` finds in it.
 */
export function wordRuns(text: string): WordRun[] {
  const runs: WordRun[] = []
  for (const { 0: written, index } of text.matchAll(RUN)) {
    const [word] = words(written)
    if (word !== undefined) runs.push({ start: index, end: index + written.length, word })
  }
  return runs
}
