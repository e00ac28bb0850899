import { anyOf } from '../languages/index.ts'
import type { Block } from '../markup/blocks.ts'
import { label } from '../markup/tree.ts'
import { linkShare } from './choose.ts'
import { wordsOf } from './headline.ts'
import { isChaffLine } from './lines.ts'

/**
 * Finds the blocks between the headline and the text that are the article's own opening: the
 * standfirst, chapô, Vorspann, intro. Pages set it apart, so text extractors lose it. A block is
 * the opening when it equals the page's description or when its name says so. A block of sentences
 * close below the headline is one too.
 *
 * @param headline position of the headline, -1 without one
 * @param first position of the first block of the text
 * @param descriptions of the page, from its head
 * @returns positions of blocks between the two
 */
export function findLead(blocks: Block[], headline: number, first: number, descriptions: string[]): number[] {
  const said = descriptions.map(wordsOf).filter(text => text.length > 30)
  const lead: number[] = []
  for (let at = Math.max(headline + 1, 1); at < first; at += 1) {
    const block = blocks[at]
    if (block === undefined || block.element.name === 'h1' || linkShare(block) > 0.4) continue
    const { text } = block
    if (text.length < 30 || text.length > LONGEST || isChaffLine(text, linkShare(block))) continue
    if (isSaid(wordsOf(text), said) || (headline >= 0 && (isNamed(block) || isPlaced(block, at - headline))))
      lead.push(at)
  }
  return lead
}

const LONGEST = 1_200
const NAMES = new RegExp(
  `lead(?!ing|er)|lede|intro(?!duc)|teaser|stand-?first|summary|excerpt|sub-?title|sub-?head|sub-?line|(?<![a-z])(deck?|dek|desc|description|strap|strapline|tagline|blurb)(?![a-z])|ingress|synopsis|abstract|${anyOf(rules => rules.markup.leads)}`,
)

const isNamed = (block: Block) =>
  block.text.length >= 40 && [block.element, block.element.parent].some(at => at !== null && NAMES.test(label(at)))
const isPlaced = (block: Block, distance: number) =>
  distance <= 12 && block.text.length >= 70 && linkShare(block) < 0.2 && /[.!?…"”»]$/.test(block.text)

function isSaid(words: string, descriptions: string[]): boolean {
  if (words.length <= 30) return false
  return descriptions.some(text => text.startsWith(words.slice(0, 100)) || words.startsWith(text.slice(0, 100)))
}
