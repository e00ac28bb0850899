import { type Block, collapse } from '../markup/blocks.ts'
import { upwards } from '../markup/tree.ts'
import { isHeading } from './choose.ts'

/**
 * The words of a text in lower case, with single spaces between them. Two texts that say the same
 * have the same words.
 */
export function wordsOf(text: string): string {
  return collapse(text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, ' '))
}

/**
 * Makes the test whether a block repeats one of the page's titles. Titles often contain the
 * outlet's name as well.
 */
export function headlineTest(titles: string[]): (block: Block) => boolean {
  const known = titles.map(title => new Set(wordsOf(title).split(' ')))
  return block => {
    const words = wordsOf(block.text).split(' ')
    return (
      words.length >= 3 && known.some(title => words.filter(word => title.has(word)).length >= SHARED * words.length)
    )
  }
}
/**
 * Share of a line's words that a title must have. Titles of page, card and headline differ by a
 * word or two.
 */
const SHARED = 0.7

/** The position of the headline above the block at `first`; -1 without one. */
export function findHeadline(blocks: Block[], first: number, isHeadline: (block: Block) => boolean): number {
  const last = (test: (block: Block) => boolean) =>
    blocks.findLastIndex((block, at) => at < first && !isInHead(block) && test(block))
  const heading = last(block => block.element.name === 'h1' || (isHeading(block) && isHeadline(block)))
  if (heading >= 0) return heading
  const line = last(block => block.text.length > 20 && isHeadline(block))
  return line >= 0 ? line : last(block => block.element.name === 'h2' && block.text.length > 20)
}

const isInHead = (block: Block) => [...upwards(block.element)].some(({ name }) => name === 'head')
