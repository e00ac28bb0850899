import type { Block } from '#services/normaliser/markup/blocks'
import {
  type Element,
  isElement,
  isWithin,
  positionOf,
  upwards,
  walk,
} from '#services/normaliser/markup/tree'
import { BOX, isChaffLine, READ_ALSO } from './chaff.ts'

/*
 * Readability gives a first guess of the article's region. The blocks in the region show how the
 * article looks. By these looks, `chooseBlocks` adds lost paragraphs, and drops boxes, teasers and
 * chaff between them.
 */

export const linkShare = (block: Block): number => block.linked / block.text.length
export const isHeading = (block: Block): boolean =>
  upwards(block.element).some(({ name }) => /^h[1-6]$/.test(name))

/** Whether a block reads like sentences of an article. */
function isProse(block: Block): boolean {
  const { length } = block.text
  return (
    linkShare(block) < 0.4 && (length >= 80 || (length >= 40 && /[.!?…:;"”»’)]$/.test(block.text)))
  )
}

/** A block of the page, with all that the steps below ask of it. */
interface Piece extends Block {
  /** Its place among the blocks. */
  at: number
  /** Whether it belongs to the article, as far as the steps have come. */
  chosen: boolean
  /** The share of its text that is in links. */
  share: number
  isHeading: boolean
  /** Whether it repeats the page's title. */
  isHeadline: boolean
  isProse: boolean
  isChaff: boolean
}

/**
 * Chooses the blocks of a page that are its article. It starts with the blocks of the region, adds
 * blocks that look like them, and drops lines that are no part of the article.
 *
 * @param blocks in reading order
 * @param region positions of elements, from `articleRegion`
 * @param isHeadline whether a block repeats the page's title
 * @returns one boolean per block
 */
export function chooseBlocks(
  blocks: Block[],
  region: ReadonlySet<number>,
  isHeadline: (block: Block) => boolean,
): boolean[] {
  const pieces = blocks.map((block, at): Piece => {
    const share = linkShare(block)
    // Code in `pre` is part of an article.
    const isChaff = block.element.name !== 'pre' && isChaffLine(block.text, share)
    const isInRegion = block.holders.some(holder => region.has(holder))
    return {
      ...block,
      at,
      chosen: isInRegion && share <= 0.6 && !isChaff,
      share,
      isHeading: isHeading(block),
      isHeadline: isHeadline(block),
      isProse: isProse(block),
      isChaff,
    }
  })
  const headline =
    pieces.find(piece => piece.isHeading && piece.isHeadline) ??
    pieces.find(({ element }) => element.name === 'h1')
  const own = headline === undefined ? null : elementOfHeadline(headline)
  takeInAlike(pieces, own)
  takeInSections(pieces, own)
  takeInPoints(pieces)
  trimEnds(pieces)
  dropShortLines(pieces)
  const before = new Set(pieces.filter(isChosen))
  dropReadAlso(pieces, headline)
  dropTeasers(pieces, own)
  if (own !== null && !pieces.some(isChosen))
    for (const piece of pieces.slice(headline?.at))
      piece.chosen = !before.has(piece) && isSentenceIn(own, piece) && !piece.isChaff
  takeInCards(pieces)
  takeInCells(pieces)
  dropEmptyHeadings(pieces)
  return pieces.map(isChosen)
}

const isChosen = ({ chosen }: Piece) => chosen
const lengthOf = (pieces: Piece[]): number => pieces.reduce((sum, { text }) => sum + text.length, 0)

/** The pieces of each table or list, by their cells or items. */
function groupsOf(pieces: Piece[], whole: string[], parts: string[]): Piece[][] {
  const groups = Map.groupBy(pieces, ({ element }) => {
    const around = [...upwards(element)]
    const part = around.findIndex(({ name }) => parts.includes(name))
    return part < 0 ? undefined : around.slice(part).find(({ name }) => whole.includes(name))
  })
  groups.delete(undefined)
  return [...groups.values()]
}

/**
 * Adds the linked items of a list that belongs to the text: the paragraph before it announces it
 * with a colon and at least four words, or at least half of its items are chosen.
 */
function takeInPoints(pieces: Piece[]): void {
  for (const items of groupsOf(pieces, ['ul', 'ol'], ['li'])) {
    const before = pieces[items[0]!.at - 1]
    const isAnnounced =
      before?.chosen && isAnnouncement(before.text) && !READ_ALSO.test(before.text)
    if (isAnnounced || 2 * items.filter(isChosen).length >= items.length)
      for (const item of items) item.chosen ||= item.text.length >= SHORTEST_POINT && !item.isChaff
  }
}

const isAnnouncement = (text: string) =>
  text.endsWith(':') && text.slice(0, -1).trim().split(/\s+/).length >= 4

/** Fewest characters of a linked item, which may be a name. */
const SHORTEST_POINT = 10

/**
 * Adds the other cells of a table of data, when most of its text is chosen, or when it stands
 * between chosen blocks and is not full of links.
 */
function takeInCells(pieces: Piece[]): void {
  const first = pieces.findIndex(isChosen)
  const last = pieces.findLastIndex(isChosen)
  for (const cells of groupsOf(pieces, ['table'], ['td', 'th'])) {
    const whole = lengthOf(cells)
    // Tables of a layout have few cells with much text in them, or headings.
    const isLayout = cells.some(cell => cell.isHeading) || whole > CELL * cells.length
    if (cells.length < CELLS || isLayout) continue
    const isBetween = cells.every(({ at, share }) => at > first && at < last && share < 0.5)
    if (isBetween || lengthOf(cells.filter(isChosen)) >= whole / 2)
      for (const cell of cells) cell.chosen = true
  }
}
/** The fewest cells of a table of data, and the most characters of one on average. */
const CELLS = 6
const CELL = 100

/** The common look and the common container of the chosen sentences. */
interface Chosen {
  /** How many sentences have each `likeness`. */
  likenesses: Map<string, number>
  sentences: number
  /** The innermost element around most of the sentences. */
  container: Element | null
}

/**
 * Adds blocks that look like many of the chosen ones, or stand between them. A link to another
 * article ends like a headline, without a full stop. A linked sentence ends with one.
 * @param own the element of the headline
 */
function takeInAlike(pieces: Piece[], own: Element | null): void {
  const first = pieces.findIndex(isChosen)
  const last = pieces.findLastIndex(isChosen)
  const known = describeChosen(pieces)
  const opening = pieces.findIndex(isSentence)
  // Backwards, because a heading comes in with the text below it.
  for (const piece of pieces.slice(first + 1).reverse()) {
    const { at, text, element } = piece
    const below = pieces[at + 1]
    if (piece.chosen || piece.isChaff) continue
    if (piece.share >= 0.5)
      piece.chosen =
        element.name === 'p' &&
        text.length >= LINKED_SENTENCE &&
        /\.["”»’)]?$/.test(text) &&
        isSentence(pieces[at - 1]) &&
        isSentence(below)
    else if (piece.isHeading)
      piece.chosen = at > opening && isText(below) && isInContainer(piece, known)
    else if (text.length >= 20)
      piece.chosen =
        (own !== null && at < last && isSentenceIn(own, piece)) ||
        isAlike(piece, known) ||
        isBetween(piece, known)
  }
}
const isSentence = (piece: Piece | undefined): boolean =>
  piece?.chosen === true && piece.isProse && !piece.isHeading
/** Whether a piece may follow a heading. A heading over a list may name a box: "In short". */
const isText = (piece: Piece | undefined): boolean =>
  piece?.chosen === true && (piece.isHeading || (piece.isProse && !isItem(piece)))
const isItem = ({ element }: Block) =>
  upwards(element)
    .take(3)
    .some(({ name }) => name === 'li')

/** Fewest characters of a sentence that is one whole link. Teasers are shorter. */
const LINKED_SENTENCE = 80

function describeChosen(pieces: Piece[]): Chosen {
  const prose = pieces.filter(piece => piece.chosen && piece.isProse)
  const around = countsOf(prose.flatMap(({ element }) => [...upwards(element)]))
  return {
    likenesses: countsOf(prose.map(likeness)),
    sentences: prose.length,
    container: innermost(around, Math.max(2, prose.length * 0.7)),
  }
}

function countsOf<T>(all: T[]): Map<T, number> {
  const counts = new Map<T, number>()
  for (const one of all) counts.set(one, (counts.get(one) ?? 0) + 1)
  return counts
}

const isAlike = (block: Block, { likenesses, sentences }: Chosen) =>
  hasClass(block) && (likenesses.get(likeness(block)) ?? 0) >= Math.max(1, sentences * 0.2)

const isInContainer = ({ element }: Block, { container }: Chosen) =>
  container !== null && isWithin(element, container)

const isBetween = (piece: Piece, known: Chosen) =>
  (piece.element.name === 'pre' ||
    ((LISTED.has(piece.element.name) || known.likenesses.has(likeness(piece))) && piece.isProse)) &&
  isInContainer(piece, known)

/** Whether a piece is a whole sentence inside an element. */
const isSentenceIn = (container: Element, piece: Piece) =>
  piece.isProse &&
  !piece.isHeading &&
  /[.!?…]["”»’)]?$/.test(piece.text) &&
  isWithin(piece.element, container)

const LISTED = new Set('p li dd'.split(' '))
/** Links in a list of links have a greater share of its items. */
const LITTLE_LINKED = 0.3

/** Fewest characters of a section's sentences. A shorter one may be an announcement. */
const SECTION = 150
/** Fewest sections of a guide. */
const SECTIONS = 3

/**
 * Adds the sections of a guide: headings that lead nowhere, with sentences or lists below them, in
 * the headline's own element. Readability often finds only the longest of them. Sections behind the
 * chosen text are the article only when they are longer than it.
 */
function takeInSections(pieces: Piece[], own: Element | null): void {
  const last = pieces.findLastIndex(isChosen)
  if (own === null || last < 0) return
  const isOwn = ({ element }: Block) => isWithin(element, own)
  const heads = pieces.filter(piece => piece.isHeading)
  const found = heads.flatMap((head, place) => {
    if (head.chosen || head.share > 0 || !isOwn(head) || head.isChaff) return []
    const below = pieces.slice(head.at + 1, heads[place + 1]?.at).filter(isOwn)
    const fit = below.filter(
      one =>
        one.share < LITTLE_LINKED &&
        !one.isChaff &&
        (one.isProse || (LISTED.has(one.element.name) && one.text.length >= 20)),
    )
    const length = lengthOf(fit)
    const isSection = length >= SECTION && length >= 0.6 * lengthOf(below)
    return isSection ? [{ name: head.element.name, section: [head, ...fit] }] : []
  })
  const known = lengthOf(pieces.filter(isChosen))
  for (const alike of Map.groupBy(found, ({ name }) => name).values()) {
    if (alike.length < SECTIONS) continue
    const all = alike.flatMap(({ section }) => section)
    const isMost = lengthOf(all.filter(({ at }) => at > last)) > known
    for (const piece of all) if (isMost || piece.at < last) piece.chosen = true
  }
}

/** The fewest headings or labels of one look in a list of cards. */
const CARDS = 3

/**
 * Adds the headings of a list of products or places, which are links, and the labels of its cards,
 * each with sentences or points below it that are the article's. Labels may follow each other.
 */
function takeInCards(pieces: Piece[]): void {
  const opening = pieces.find(isChosen)
  if (opening === undefined) return
  const heads: Piece[] = []
  // Backwards, because a label comes in with what stands below it.
  for (const piece of pieces.slice(opening.at + 1, -1).reverse()) {
    const below = pieces[piece.at + 1]!
    if (piece.chosen || below.isHeading) continue
    const isHead = piece.isHeading
      ? below.chosen && piece.share > 0.6
      : (heads.at(-1) === below || (below.chosen && (below.isProse || isItem(below)))) &&
        isLabel(piece, below, opening)
    if (isHead) heads.push(piece)
  }
  for (const alike of Map.groupBy(heads, likeness).values())
    if (alike.length >= CARDS) for (const piece of alike) piece.chosen = true
}

/** Whether a piece is a short line in a small box with the one below it, without the opening. */
function isLabel(piece: Piece, { element: below }: Block, { element: opening }: Block): boolean {
  const box = upwards(piece.element)
    .drop(1)
    .take(3)
    .find(around => isWithin(below, around))
  return (
    box !== undefined &&
    !isWithin(opening, box) &&
    piece.text.length < SHORT &&
    piece.share === 0 &&
    hasClass(piece) &&
    !piece.isChaff
  )
}

/** Tag and class of a block's element and of its parent. */
function likeness({ element }: Block): string {
  const name = (at: Element['parent']) =>
    at !== null && isElement(at) ? `${at.name}.${at.attribs.class ?? ''}` : ''
  return `${name(element)}<${name(element.parent)}`
}
const hasClass = ({ element }: Block) =>
  upwards(element)
    .take(2)
    .some(({ attribs }) => attribs.class)

function innermost(weights: Map<Element, number>, least: number): Element | null {
  let found: Element | null = null
  for (const [element, weight] of weights)
    if (weight >= least && (found === null || positionOf(element) > positionOf(found)))
      found = element
  return found
}

/** Drops the lines before the first and after the last sentence: dates, names, buttons. */
function trimEnds(pieces: Piece[]): void {
  const sentences = pieces.filter(piece => isSentence(piece) && !piece.isHeadline)
  // A link such as "Read more" may follow.
  const ended = (text: string) => /[.!?…:"”»’)](?:\s\p{L}+){0,2}$/u.test(text)
  let first = sentences.find(({ text }) => ended(text) || text.length >= 150)?.at ?? -1
  while (pieces[first - 1]?.chosen && isOpening(pieces[first - 1]!, pieces[first]!)) first -= 1
  const last = sentences.at(-1)?.at ?? -1
  for (const piece of pieces) {
    const { at, element, text } = piece
    const isLast = PARAGRAPHS.has(element.name) && (text.length >= 20 || SIGNATURE.test(text))
    if (at < first || (at > last && !isLast)) piece.chosen = false
  }
}

/**
 * Whether a piece directly before another one opens the text with it: a heading in the same
 * element, or a point of a list that tells the story in short.
 */
function isOpening(
  { text, element, share, isHeadline }: Piece,
  { element: below }: Block,
): boolean {
  if (share >= 0.2) return false
  const { name, parent } = element
  if (/^h[2-4]$/.test(name))
    return !isHeadline && (parent === below.parent || parent === below.parent?.parent)
  const words = text.split(' ').length
  return name === 'li' && words >= 3 && /^\p{Lu}/u.test(text) && /[.!?]$/.test(text)
}

/** A reader's name and place below a letter: "Luc Petit, Liège". */
const SIGNATURE =
  /^\p{Lu}[\p{L}.'’-]{0,30}(?:\s[\p{L}.'’-]{1,30}){1,4},\s\p{Lu}[\p{L}'’() -]{1,40}$/u
const PARAGRAPHS = new Set(['p', 'li', 'td', 'blockquote'])

/**
 * Drops short lines outside of paragraphs and headings, which are labels, captions or credits. A
 * question stays, because its answer may follow.
 */
function dropShortLines(pieces: Piece[]): void {
  for (const piece of pieces) {
    const { element, text } = piece
    const isLine = LINES.has(element.name) || piece.isHeading || text.endsWith('?')
    if (!isLine && !piece.isProse && text.length < SHORT) piece.chosen = false
  }
}
const LINES = new Set('p li blockquote pre td th dd dt'.split(' '))
/** A line with this many characters is no label. */
const SHORT = 80

/** The most characters of a teaser without its heading. */
const TEASER = 400
/**
 * When teasers have a greater share of the text, they are the article: for example a list of tips.
 */
const TEASERS_SHARE = 0.3
/** The most headings that are examined, because live blogs have thousands. */
const TEASERS = 100

/**
 * Drops boxes that announce another article, a video or a sound: a heading that is a link, with a
 * sentence or two below it. Such boxes outside of the element with the headline are never part of
 * the article. When no other text remains, the page has no text of its own.
 */
function dropTeasers(pieces: Piece[], own: Element | null): void {
  const isOwn = ({ element }: Block) => own === null || isWithin(element, own)
  const isEmpty = !pieces.some(piece => piece.chosen && piece.isProse && isOwn(piece))
  const isForeign = (piece: Piece) => piece.text.length >= 15 && !isOwn(piece)
  const headings = pieces.filter(piece => {
    const { parent } = piece.element
    if (piece.isHeadline) return false
    if (piece.share >= 0.8)
      return (piece.isHeading || (isEmpty && isForeign(piece))) && leadsAway(piece.element)
    return (
      isForeign(piece) &&
      piece.isHeading &&
      parent !== null &&
      isElement(parent) &&
      leadsAway(parent)
    )
  })
  const teasers = new Set(headings.slice(0, TEASERS).flatMap(one => boxAround(pieces, one)))
  for (const piece of teasers) if (!isOwn(piece)) piece.chosen = false
  const whole = pieces.filter(isChosen)
  const announced = whole.filter(piece => teasers.has(piece))
  if (lengthOf(announced) > TEASERS_SHARE * lengthOf(whole)) return
  for (const piece of teasers) piece.chosen = false
}

/**
 * The innermost article or main element around the headline. Without one, the outermost element
 * around it inside the body.
 */
function elementOfHeadline({ element, isHeadline }: Piece): Element | null {
  const around = [...upwards(element)]
  const whole = around.findIndex(({ name }) => name === 'body' || name === 'html')
  const isArticle = ({ name, attribs }: Element) =>
    name === 'article' ||
    name === 'main' ||
    attribs.role === 'main' ||
    /Article|Posting/.test(attribs.itemtype ?? '')
  return around.find(isArticle) ?? (isHeadline && whole > 1 ? around[whole - 1]! : null)
}

/**
 * The pieces in the box of a heading: the largest element around it that adds at most `TEASER`
 * characters.
 */
function boxAround(pieces: Piece[], { at, element }: Piece): Piece[] {
  let first = at
  let last = at
  let room = TEASER
  let box: Piece[] = []
  for (const around of upwards(element)) {
    const isInside = (piece: Piece | undefined) =>
      room >= 0 && piece !== undefined && isWithin(piece.element, around)
    while (isInside(pieces[first - 1])) room -= pieces[--first]!.text.length
    while (isInside(pieces[last + 1])) room -= pieces[++last]!.text.length
    if (room < 0) return box
    box = pieces.slice(first, last + 1)
  }
  return box
}

/**
 * Drops boxes that begin with "Read also", an offer or a similar line. A box is the smallest
 * element that begins with such a line and has more content. It is dropped when it is short, or
 * when it announces several articles, but never with the headline.
 */
function dropReadAlso(pieces: Piece[], headline: Piece | undefined): void {
  for (const first of pieces) {
    if (first.text.length > BOX_HEADING || !BOX.test(first.text)) continue
    const box = pieces.slice(first.at, endOfBox(pieces, first))
    if (box.some(piece => piece === headline && piece !== first)) continue
    const links = box.filter(piece => piece.isHeading && piece.share >= 0.8)
    if (lengthOf(box) <= TEASER || links.length > 1) for (const piece of box) piece.chosen = false
  }
}

/**
 * The position after the smallest element that begins with this piece and has more content. Without
 * such an element: the position after the piece.
 */
function endOfBox(pieces: Piece[], { at, element }: Piece): number {
  for (const around of upwards(element)) {
    const isInside = (piece: Piece | undefined) =>
      piece !== undefined && isWithin(piece.element, around)
    let end = at + 1
    while (end - at < TEASERS && isInside(pieces[end])) end += 1
    if (isInside(pieces[at - 1]) || isInside(pieces[end])) break
    if (end > at + 1) return end
  }
  return at + 1
}
const BOX_HEADING = 60

/** Whether the first link around or in a heading leads to another page. */
function leadsAway(heading: Element): boolean {
  const around = upwards(heading).find(({ name }) => name === 'a')
  let link = around?.attribs.href
  walk(heading, element => {
    if (element.name === 'a') link ??= element.attribs.href
  })
  return link !== undefined && !link.startsWith('#')
}

/** Drops headings without text below them, because their text was left out. */
function dropEmptyHeadings(pieces: Piece[]): void {
  let below: Piece | null = null
  for (const piece of pieces.filter(isChosen).reverse()) {
    if (piece.isHeading && (below === null || below.element.name === piece.element.name))
      piece.chosen = false
    else below = piece
  }
}
