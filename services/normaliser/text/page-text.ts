import { type Block, blocksOf } from '../markup/blocks.ts'
import { boundMarkup } from '../markup/bounds.ts'
import { boundMarks } from '../markup/marks.ts'
import { type Element, parseTree, textOf, walk } from '../markup/tree.ts'
import { chooseBlocks } from './choose.ts'
import { findHeadline, headlineTest, wordsOf } from './headline.ts'
import { findLead } from './lead.ts'
import { prune } from './prune.ts'
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
 * Captions, bylines, offers and related links are left out, and so is markup beyond the limits of
 * `boundMarkup`. Never throws.
 */
export function readPageText(html: string): PageText {
  const root = parseTree(boundMarkup(html))
  const head = readHead(root)
  const all = blocksOf(root)
  const heading = all.find(block => block.element.name === 'h1')
  const titles = heading === undefined ? head.titles : [...head.titles, heading.text]
  const page = { visible: all.map(block => block.text), titles }
  prune(root)
  const region = articleRegion(root)
  if (region === null) return { ...page, paragraphs: [] }
  return { ...page, paragraphs: paragraphsOf(blocksOf(root), region, head) }
}

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

function readHead(root: Element): Head {
  const head: Head = { titles: [], descriptions: [] }
  const note = (sayings: string[], text: string) => {
    if (sayings.length < SAYINGS) sayings.push(boundMarks(text.slice(0, SAYING_LENGTH)))
  }
  walk(root, element => {
    if (element.name === 'title') note(head.titles, textOf(element))
    if (element.name !== 'meta') return
    const name = (element.attributes.property ?? element.attributes.name ?? '')
      .toLowerCase()
      .replace(/^(og|twitter):/, '')
    if (name === 'title') note(head.titles, element.attributes.content ?? '')
    if (name === 'description') note(head.descriptions, element.attributes.content ?? '')
  })
  return head
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
