/** Words shorter than this say little of what a text is about. */
const LONG_WORD = 4
/** The first so many letters of a word stay the same in most of its forms. */
const STEM = 5

/**
 * Whether a text contains at least `share` of a title's longer words, in any form; by default at
 * least one word. A title without words is related to every text. Scripts without spaces between
 * words are not judged.
 */
export function isRelated(title: string, text: string, share = 0): boolean {
  const words = wordsOf(title)
  const long = words.filter(word => word.length >= LONG_WORD)
  const telling = long.length > 0 ? long : words
  if (telling.length === 0) return true
  const found = wordsOf(text).join(' ')
  const shared = telling.filter(word => found.includes(word.slice(0, STEM))).length
  return shared > 0 && shared >= share * telling.length
}

/** Whether a title of the page has at least half of the words of the feed's title. */
export const isTitledAs = ({ titles }: { titles: string[] }, feedTitle: string | null): boolean =>
  feedTitle !== null && titles.some(title => isRelated(feedTitle, title, 0.5))

/**
 * Share of the sentences of some paragraphs, by length, that match a pattern; 0 without sentences.
 */
export function shareOf(paragraphs: string[], pattern: RegExp): number {
  let total = 0
  let matching = 0
  for (const sentence of paragraphs
    .join('\n')
    .slice(0, SAMPLE)
    .split(/(?<=[.!?…])\s+|\n+/)) {
    total += sentence.length
    if (pattern.test(sentence)) matching += sentence.length
  }
  return total === 0 ? 0 : matching / total
}
const SAMPLE = 20_000

export function totalLength(paragraphs: string[]): number {
  return paragraphs.reduce((sum, { length }) => sum + length, 0)
}

function wordsOf(text: string): string[] {
  return (
    text
      .normalize('NFKD')
      .replace(/\p{M}/gu, '')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  )
}
