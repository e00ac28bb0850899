import { Readability } from '@mozilla/readability'
import { DomUtils } from 'htmlparser2'
// One file with all of linkedom: its 170 files take a quarter of a second to load.
import { parseHTML } from 'linkedom/worker'
import { boundMarks } from '#search/analysis/text'
import { anyOf } from '#services/normaliser/languages/index'
import { CONSENT, shareOf } from '#services/normaliser/languages/phrases'
import { type Block, blocksOf } from '#services/normaliser/markup/blocks'
import { fold } from '#services/normaliser/markup/plain'
import {
  type Element,
  isElement,
  isWithin,
  label,
  type Page,
  positionOf,
  upwards,
  walk,
} from '#services/normaliser/markup/tree'
import { isChaffLine } from './chaff.ts'
import { chooseBlocks, isHeading, linkShare } from './choose.ts'
import { foldedIn, isHidden, isHiddenByStyle, isSubject, isVeiled, prunedIn } from './prune.ts'

/*
 * The text of a page in three steps: remove elements whose names show boilerplate, let Readability
 * find the region, choose the blocks. Positions of elements connect Readability's copy with our own
 * tree.
 */

/** The text of a page. */
export interface PageText {
  /** The article's paragraphs in reading order; empty without a text. */
  paragraphs: string[]
  /** All blocks of the page, including navigation and dialogs. */
  visible: string[]
  /** The blocks that readers see before a script runs. */
  shown: string[]
  /** The blocks that are hidden, or that a paywall veils. */
  veiled: ReadonlySet<string>
  /** Titles in the page's head, and its first `h1`. */
  titles: string[]
  /**
   * Blocks with a part that no snippet may show (`data-nosnippet`), each with its remaining text.
   */
  unshown: ReadonlyMap<string, string>
  /** Whether a part that the outlet marks as paid was left out, and the text before it remains. */
  parted: boolean
}

/**
 * Reads the text of the article on a page: its opening, paragraphs, headings, lists, quotations.
 * Captions, bylines, offers and related links are left out. Never throws.
 *
 * @param isArticle whether the page calls itself a dated article
 * @param paid elements that the outlet marks as the part for subscribers. They are left out when
 * they divide the text. An outlet that marks all of its text, and shows it, counts its readers'
 * articles.
 */
export function readPageText(
  { $, root }: Page,
  isArticle = false,
  paid: readonly Element[] = [],
): PageText {
  const head = readHead($)
  const all = blocksOf(root)
  const heading = all.find(block => block.element.name === 'h1')
  const titles = heading === undefined ? head.titles : [...head.titles, heading.text]
  const folded = foldedIn(root)
  const whole = prunedIn(root, folded)
  const reading = (pruned: ReadonlySet<Element>) => {
    const blocks = blocksOf(root, { without: pruned })
    const region = articleRegion(root, pruned, folded)
    const chosen = region === null ? [] : chosenBlocks(blocks, region, head)
    return { blocks, chosen }
  }
  const free = paid.length === 0 ? null : reading(new Set([...whole, ...paid]))
  const end = Math.min(...paid.map(positionOf))
  const parted =
    free?.chosen.some(
      ({ element, text }) => positionOf(element) < end && text.length >= SHORTEST_LEAD,
    ) === true
  const { blocks, chosen } = free !== null && parted ? free : reading(whole)
  const paragraphs = withoutRepeats(chosen.map(({ text }) => text))
  const shown = all
    .filter(({ element }) => !upwards(element).some(isHidden))
    .map(({ text }) => text)
  return {
    visible: all.map(({ text }) => text),
    shown,
    veiled: new Set(
      blocks.filter(({ element }) => upwards(element).some(isVeiled)).map(({ text }) => text),
    ),
    titles,
    parted,
    paragraphs: withoutConsent(paragraphs, blocks, isArticle),
    // The map has each block twice, with and without its pruned parts, because paragraphs lack
    // these parts.
    unshown: new Map(
      [...all, ...blocks].flatMap(({ text, quotable }) =>
        quotable === text ? [] : [[text, quotable]],
      ),
    ),
  }
}

/**
 * Replaces a text that is mostly about cookies. On some pages the class names of a consent box do
 * not show what it is, so its text was taken for the article. In this case, the sentences below the
 * headline in the `article` element count. On a page that calls itself a dated article, the
 * innermost element with such sentences counts.
 */
function withoutConsent(paragraphs: string[], blocks: Block[], isArticle: boolean): string[] {
  if (shareOf(paragraphs, CONSENT) < MOSTLY_CONSENT) return paragraphs
  const heading = (name: string) => blocks.findIndex(({ element }) => element.name === name)
  const headline = heading('h1') < 0 ? heading('h2') : heading('h1')
  const around =
    headline < 0 || CONSENT.test(blocks[headline]!.text)
      ? []
      : [...upwards(blocks[headline]!.element)]
  const holders = around.filter(
    ({ name }) => name === 'article' || (isArticle && !WHOLE_PAGE.has(name)),
  )
  const sentencesIn = (holder: Element) =>
    blocks
      .slice(headline + 1)
      .filter(
        block => isWithin(block.element, holder) && !isHeading(block) && linkShare(block) < 0.4,
      )
      .map(({ text }) => text)
      .filter(
        text =>
          text.length >= SHORTEST_SENTENCE && /[.!?…]["”»’)]?$/.test(text) && !isChaffLine(text, 0),
      )
  const own = holders.map(sentencesIn).find(({ length }) => length > 0) ?? []
  return own.length > 0 && shareOf(own, CONSENT) < MOSTLY_CONSENT ? own : paragraphs
}
const WHOLE_PAGE = new Set(['html', 'body'])
const MOSTLY_CONSENT = 0.5
const SHORTEST_SENTENCE = 20

/** Fewest characters of a free lead. Shorter texts are standfirsts and captions. */
const SHORTEST_LEAD = 60

function chosenBlocks(blocks: Block[], region: ReadonlySet<number>, head: Head): Block[] {
  const isHeadline = headlineTest(head.titles)
  const chosen = chooseBlocks(blocks, region, isHeadline)
  const first = chosen.indexOf(true)
  const headline = findHeadline(blocks, first, isHeadline)
  for (const at of findLead(blocks, headline, first, head.descriptions)) chosen[at] = true
  return blocks.filter((_, at) => chosen[at])
}

/**
 * Limits on titles and descriptions, because the code compares every line of the page with all of
 * them.
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
      .map(element =>
        boundMarks((element.attribs.content ?? $(element).text()).slice(0, SAYING_LENGTH)),
      )
  return {
    titles: sayings(`title, ${named('title')}`),
    descriptions: sayings(named('description')),
  }
}

/**
 * Drops texts that repeat an earlier one: captions shown twice, a repeated opening, a pull quote.
 */
function withoutRepeats(texts: string[]): string[] {
  const seen = new Set<string>()
  return texts.filter(text => {
    const words = fold(text)
    if (words.length < 40) return true
    if (seen.has(words)) return false
    seen.add(words)
    return true
  })
}

/**
 * Finds the blocks between the headline and the text that are the article's own opening: the
 * standfirst, chapô, Vorspann, intro. Text extractors lose it, because pages set it apart. A block
 * is the opening when it equals the page's description, when its name shows it, or when it has
 * sentences and is close below the headline.
 *
 * @param headline position of the headline, -1 without one
 * @param first position of the first block of the text
 * @param descriptions of the page, from its head
 * @returns positions of blocks between the two
 */
function findLead(
  blocks: Block[],
  headline: number,
  first: number,
  descriptions: string[],
): number[] {
  const said = descriptions.map(fold).filter(text => text.length > 30)
  const lead: number[] = []
  for (let at = Math.max(headline + 1, 1); at < first; at += 1) {
    const block = blocks[at]
    if (block === undefined || block.element.name === 'h1' || linkShare(block) > 0.4) continue
    const { text } = block
    if (text.length < 30 || text.length > LONGEST || isChaffLine(text, linkShare(block))) continue
    if (
      isSaid(fold(text), said) ||
      (headline >= 0 && (isNamed(block) || isPlaced(block, at - headline)))
    )
      lead.push(at)
  }
  return lead
}

const LONGEST = 1_200
const NAMES = new RegExp(anyOf(rules => rules.markup.leads))

const isNamed = (block: Block) =>
  block.text.length >= 40 &&
  [block.element, block.element.parent].some(
    at => at !== null && isElement(at) && NAMES.test(label(at)),
  )
const isPlaced = (block: Block, distance: number) =>
  distance <= 12 &&
  block.text.length >= 70 &&
  linkShare(block) < 0.2 &&
  /[.!?…"”»]$/.test(block.text)

function isSaid(words: string, descriptions: string[]): boolean {
  if (words.length <= 30) return false
  return descriptions.some(
    text => text.startsWith(words.slice(0, 100)) || words.startsWith(text.slice(0, 100)),
  )
}

/**
 * Makes a function that tests whether a block repeats one of the page's titles. Titles often also
 * contain the outlet's name.
 */
function headlineTest(titles: string[]): (block: Block) => boolean {
  const known = titles.map(title => new Set(fold(title).split(' ')))
  return block => {
    const words = fold(block.text).split(' ')
    return (
      words.length >= 3 &&
      known.some(title => words.filter(word => title.has(word)).length >= SHARED * words.length)
    )
  }
}
/**
 * The share of a line's words that a title must have. The titles of page, card and headline differ
 * by a word or two.
 */
const SHARED = 0.7

/** The position of the headline above the block at `first`; -1 without one. */
function findHeadline(
  blocks: Block[],
  first: number,
  isHeadline: (block: Block) => boolean,
): number {
  const last = (test: (block: Block) => boolean) =>
    blocks.findLastIndex((block, at) => at < first && !isInHead(block) && test(block))
  const heading = last(
    block => block.element.name === 'h1' || (isHeading(block) && isHeadline(block)),
  )
  if (heading >= 0) return heading
  const line = last(block => block.text.length > 20 && isHeadline(block))
  return line >= 0 ? line : last(block => block.element.name === 'h2' && block.text.length > 20)
}

const isInHead = (block: Block) => upwards(block.element).some(({ name }) => name === 'head')

/**
 * The positions (`positionOf`) of the elements that Mozilla's Readability considers the article;
 * null when it finds none. Readability gets a document that is written from the tree without the
 * `pruned` elements, and is therefore well-formed and bounded. Every element carries its position
 * in an attribute that Readability keeps.
 */
function articleRegion(
  root: Element,
  pruned: ReadonlySet<Element>,
  folded: ReadonlySet<Element>,
): Set<number> | null {
  const wrappers = hiddenWrappers(root, pruned, folded)
  const { document } = parseHTML(writeDocument(root, { pruned, wrappers }))
  try {
    const reader = new Readability<Set<number>>(document, {
      charThreshold: CHARACTER_THRESHOLD,
      keepClasses: true,
      disableJSONLD: true,
      serializer: placesIn,
    })
    return reader.parse()?.content ?? null
  } catch {
    // Readability expects an order of elements that broken pages do not have.
    return null
  }
}

/**
 * When Readability finds fewer characters, it tries again with looser rules. Short news items have
 * 300; the default is 500.
 */
const CHARACTER_THRESHOLD = 250
/**
 * The name of the attribute contains the position, not its value. When Readability merges a parent
 * with its only child, it keeps the attributes of both. Of two attributes with one name, it keeps
 * only the parent's.
 */
const PLACE = 'place-'
/** Attributes that Readability reads. */
const LOOKED_AT = [
  'class',
  'id',
  'role',
  'rel',
  'itemprop',
  'property',
  'hidden',
  'aria-hidden',
  'aria-modal',
]
/** Attributes of `LOOKED_AT` that make Readability drop an element. */
const HIDING = new Set(['hidden', 'aria-hidden', 'aria-modal'])
/**
 * In a page with this many characters of text, all hidden parts stay hidden, so that they cost no
 * time.
 */
const LARGE = 50_000
const LEFT_OUT = new Set([
  'head',
  'title',
  'meta',
  'link',
  'base',
  'video',
  'audio',
  'iframe',
  'embed',
  'object',
])

interface DomElement {
  querySelectorAll(selector: string): Iterable<{ attributes: Iterable<{ name: string }> }>
}

function placesIn(content: DomElement): Set<number> {
  const places = new Set<number>()
  for (const { attributes } of content.querySelectorAll('*')) {
    for (const { name } of attributes)
      if (name.startsWith(PLACE)) places.add(Number(name.slice(PLACE.length)))
  }
  return places
}

function writeDocument(root: Element, writing: Writing): string {
  let title = ''
  walk(root, element => {
    if (element.name === 'title') title ||= DomUtils.innerText(element)
    return undefined
  })
  return `<!doctype html><html><head><title>${harmless(title)}</title></head><body>${write(root, writing)}</body></html>`
}

/**
 * The hidden elements with more than half of the page's text. Such an element must contain the
 * article, which a script then shows. So the document for Readability does not mark it as hidden.
 */
function hiddenWrappers(
  root: Element,
  pruned: ReadonlySet<Element>,
  folded: ReadonlySet<Element>,
): Set<Element> {
  const lengths = new Map<Element, number>()
  const measure = (node: Element['children'][number]): number => {
    if (DomUtils.isText(node)) return node.data.length
    if (!isElement(node) || pruned.has(node)) return 0
    const length = node.children.reduce((sum, child) => sum + measure(child), 0)
    if (isHidden(node)) lengths.set(node, length)
    return length
  }
  const whole = measure(root)
  return new Set(
    [...lengths.keys()].filter(
      hidden => whole < LARGE && ((lengths.get(hidden) ?? 0) > whole / 2 || folded.has(hidden)),
    ),
  )
}

interface Writing {
  pruned: ReadonlySet<Element>
  wrappers: ReadonlySet<Element>
}

function write(parent: Element, writing: Writing): string {
  // Readability puts loose text into new paragraphs. It may then drop the element around the text,
  // together with its position.
  const wrapped = !KEEPS_ITS_NAME.has(parent.name)
  let html = ''
  for (const node of parent.children) {
    if (DomUtils.isText(node)) {
      const text = harmless(node.data)
      html +=
        wrapped && /\S/.test(text) ? `<span ${PLACE}${positionOf(parent)}>${text}</span>` : text
    } else if (isElement(node) && !writing.pruned.has(node)) html += writeElement(node, writing)
  }
  return html
}

function writeElement(element: Element, writing: Writing): string {
  const { name } = element
  if (name === 'html' || name === 'body') return write(element, writing)
  // Readability removes images without a source, and counts images to tell galleries from text.
  if (name === 'img') return '<img src="x.jpg">'
  if (name === 'br' || name === 'hr' || name === 'input') return `<${name}>`
  if (LEFT_OUT.has(name) || !NAME.test(name)) return ''
  const written = attributes(element, !writing.wrappers.has(element))
  return `<${name} ${PLACE}${positionOf(element)}${written}>${write(element, writing)}</${name}>`
}
const KEEPS_ITS_NAME = new Set(
  'p h1 h2 h3 h4 h5 h6 li pre blockquote dt dd a b i em strong span u q s sub sup small code font cite abbr mark time label'.split(
    ' ',
  ),
)

function attributes(element: Element, hides: boolean): string {
  let written = element.name === 'a' && 'href' in element.attribs ? ' href="/"' : ''
  // Readability needs nothing else of a style, and reading whole styles would be slow.
  if (hides && isHiddenByStyle(element)) written += ' style="display:none"'
  for (const name of LOOKED_AT) {
    if ((!hides && HIDING.has(name)) || (name === 'id' && isSubject(element))) continue
    const value = element.attribs[name]
    if (value !== undefined) written += ` ${name}="${harmless(value)}"`
  }
  return written
}

const NAME = /^[a-z][a-z0-9-]*$/
/**
 * Replaces markup characters. Readability only measures the text, and nobody reads it back.
 * Entities would be slow, because each becomes a text node of its own.
 */
const harmless = (text: string) => text.replace(/[&<>"]/g, '+')
