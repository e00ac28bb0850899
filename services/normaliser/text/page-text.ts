import { CONSENT, shareOf } from '../interstitials/phrases.ts'
import { anyOf } from '../languages/index.ts'
import { type Block, blocksOf } from '../markup/blocks.ts'
import { boundMarks, collapse } from '../markup/plain.ts'
import { type Element, isElement, label, type Page, upwards } from '../markup/tree.ts'
import { chooseBlocks, isChaffLine, isHeading, linkShare } from './choose.ts'
import { prunedIn } from './prune.ts'
import { articleRegion } from './region.ts'

/** The text of a page. */
export interface PageText {
  /** The article's paragraphs in reading order; empty when there is none. */
  paragraphs: string[]
  /** All blocks of the page, with navigation and dialogs. */
  visible: string[]
  /** Titles in its head, and its first `h1`. */
  titles: string[]
}

/**
 * Reads the text of the article on a page: its opening, paragraphs, headings, lists, quotations.
 * Captions, bylines, offers and related links are left out. Never throws.
 */
export function readPageText({ $, root }: Page): PageText {
  const head = readHead($)
  const all = blocksOf(root)
  const heading = all.find(block => block.element.name === 'h1')
  const titles = heading === undefined ? head.titles : [...head.titles, heading.text]
  const pruned = prunedIn(root)
  const blocks = blocksOf(root, { without: pruned })
  const region = articleRegion(root, pruned)
  const paragraphs = region === null ? [] : paragraphsOf(blocks, region, head)
  return { visible: all.map(block => block.text), titles, paragraphs: withoutConsent(paragraphs, blocks) }
}

/**
 * The sentences below the headline in the `article` element, where a longer text about cookies, in
 * a box without a telling name, was taken for the article.
 */
function withoutConsent(paragraphs: string[], blocks: Block[]): string[] {
  if (shareOf(paragraphs, CONSENT) < MOSTLY_CONSENT) return paragraphs
  const headline = blocks.findIndex(({ element }) => element.name === 'h1')
  const around = headline < 0 ? [] : [...upwards(blocks[headline]!.element)]
  const article = around.find(({ name }) => name === 'article')
  if (article === undefined) return paragraphs
  const own = blocks
    .slice(headline + 1)
    .filter(block => [...upwards(block.element)].includes(article) && !isHeading(block) && linkShare(block) < 0.4)
    .map(({ text }) => text)
    .filter(text => text.length >= SHORTEST_SENTENCE && /[.!?…]["”»’)]?$/.test(text) && !isChaffLine(text, 0))
  return own.length > 0 && shareOf(own, CONSENT) < MOSTLY_CONSENT ? own : paragraphs
}
const MOSTLY_CONSENT = 0.5
const SHORTEST_SENTENCE = 20

function paragraphsOf(blocks: Block[], region: ReadonlySet<number>, head: Head): string[] {
  const isHeadline = headlineTest(head.titles)
  const chosen = chooseBlocks(blocks, region, isHeadline)
  const first = chosen.indexOf(true)
  const headline = findHeadline(blocks, first, isHeadline)
  for (const at of findLead(blocks, headline, first, head.descriptions)) chosen[at] = true
  return withoutRepeats(blocks.filter((_, at) => chosen[at]).map(block => block.text))
}

/**
 * Limits on titles and descriptions, because every line of the page is compared with all of them.
 */
const SAYINGS = 10
const SAYING_LENGTH = 1_000

/** The statements of the page's head about the article. */
interface Head {
  titles: string[]
  descriptions: string[]
}

function readHead($: Page['$']): Head {
  const named = (name: string) =>
    ['name', 'property']
      .flatMap(by => ['', 'og:', 'twitter:'].map(prefix => `meta[${by}="${prefix}${name}" i]`))
      .join(', ')
  const sayings = (selector: string) =>
    $<Element, string>(selector)
      .toArray()
      .slice(0, SAYINGS)
      .map(element => boundMarks((element.attribs.content ?? $(element).text()).slice(0, SAYING_LENGTH)))
  return { titles: sayings(`title, ${named('title')}`), descriptions: sayings(named('description')) }
}

/**
 * Drops texts that repeat an earlier one: captions shown twice, a repeated opening, a pull quote.
 */
function withoutRepeats(texts: string[]): string[] {
  const seen = new Set<string>()
  return texts.filter(text => {
    const words = wordsOf(text)
    if (words.length < 40) return true
    if (seen.has(words)) return false
    seen.add(words)
    return true
  })
}

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
function findLead(blocks: Block[], headline: number, first: number, descriptions: string[]): number[] {
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
  block.text.length >= 40 &&
  [block.element, block.element.parent].some(at => at !== null && isElement(at) && NAMES.test(label(at)))
const isPlaced = (block: Block, distance: number) =>
  distance <= 12 && block.text.length >= 70 && linkShare(block) < 0.2 && /[.!?…"”»]$/.test(block.text)

function isSaid(words: string, descriptions: string[]): boolean {
  if (words.length <= 30) return false
  return descriptions.some(text => text.startsWith(words.slice(0, 100)) || words.startsWith(text.slice(0, 100)))
}

/**
 * The words of a text in lower case, with single spaces between them. Two texts that say the same
 * have the same words.
 */
function wordsOf(text: string): string {
  return collapse(text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, ' '))
}

/**
 * Makes the test whether a block repeats one of the page's titles. Titles often contain the
 * outlet's name as well.
 */
function headlineTest(titles: string[]): (block: Block) => boolean {
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
function findHeadline(blocks: Block[], first: number, isHeadline: (block: Block) => boolean): number {
  const last = (test: (block: Block) => boolean) =>
    blocks.findLastIndex((block, at) => at < first && !isInHead(block) && test(block))
  const heading = last(block => block.element.name === 'h1' || (isHeading(block) && isHeadline(block)))
  if (heading >= 0) return heading
  const line = last(block => block.text.length > 20 && isHeadline(block))
  return line >= 0 ? line : last(block => block.element.name === 'h2' && block.text.length > 20)
}

const isInHead = (block: Block) => [...upwards(block.element)].some(({ name }) => name === 'head')
