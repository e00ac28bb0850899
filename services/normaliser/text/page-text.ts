import { type Block, blocksOf } from '../markup/blocks.ts'
import { boundMarkup } from '../markup/bounds.ts'
import { boundMarks } from '../markup/marks.ts'
import { type Element, parseTree, textOf, walk } from '../markup/tree.ts'
import { chooseBlocks } from './choose.ts'
import { findHeadline, headlineTest, wordsOf } from './headline.ts'
import { findLead } from './lead.ts'
import { prune } from './prune.ts'
import { articleRegion } from './region.ts'

/** What a page says to a reader. */
export interface PageText {
  /** The article's paragraphs in reading order; empty when there is none. */
  paragraphs: string[]
  /** Everything that stands on the page, block by block, navigation and dialogs too. */
  visible: string[]
  /** Titles in its head, and its first heading of the first order. */
  titles: string[]
}

/**
 * The text of the article on a page: its opening, paragraphs, headings, lists, quotations; without
 * captions, bylines, offers, related links. Never throws; markup beyond the limits of `boundMarkup`
 * is left out.
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
 * Titles and descriptions that are looked at, and characters of each: every line of the page is
 * compared with all of them.
 */
const SAYINGS = 10
const SAYING_LENGTH = 1_000

/** What the page says of itself in its head. */
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

/** Drops what was said before: captions shown twice, an opening repeated, a pull quote. */
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
