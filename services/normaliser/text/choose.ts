import { anyOf } from '../languages/index.ts'
import type { LanguageRules } from '../languages/rules.ts'
import type { Block } from '../markup/blocks.ts'
import { type Element, isElement, isWithin, positionOf, upwards, walk } from '../markup/tree.ts'

/*
 * Readability gives a first guess of the article's region. The blocks in the region show how the
 * article looks. By these looks, `chooseBlocks` adds lost paragraphs, and drops boxes, teasers and
 * chaff between them.
 */

export const linkShare = (block: Block): number => block.linked / block.text.length
export const isHeading = (block: Block): boolean =>
  [...upwards(block.element)].some(({ name }) => /^h[1-6]$/.test(name))

/** Whether a block reads like sentences of an article. */
function isProse(block: Block): boolean {
  const { length } = block.text
  return (
    linkShare(block) < 0.4 && (length >= 80 || (length >= 40 && /[.!?…:;"”»’)]$/.test(block.text)))
  )
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
  const chosen = blocks.map(
    block =>
      block.holders.some(holder => region.has(holder)) &&
      linkShare(block) <= 0.6 &&
      !isChaff(block),
  )
  const headline = headlineIn(blocks, isHeadline)
  const own = elementOfHeadline(blocks[headline], isHeadline)
  takeInAlike(blocks, chosen, own)
  takeInSections(blocks, chosen, own)
  takeInPoints(blocks, chosen)
  trimEnds(blocks, chosen, isHeadline)
  dropShortLines(blocks, chosen)
  const before = [...chosen]
  dropReadAlso(blocks, chosen, headline)
  dropTeasers(blocks, chosen, own, isHeadline)
  if (own !== null && !chosen.includes(true))
    for (const [at, block] of blocks.entries())
      chosen[at] = at >= headline && !before[at] && isSentenceIn(own, block) && !isChaff(block)
  takeInCards(blocks, chosen)
  takeInCells(blocks, chosen)
  dropEmptyHeadings(blocks, chosen)
  return chosen
}

/** Whether a block is a line that is no part of an article. Code in `pre` is part of one. */
const isChaff = (block: Block) =>
  block.element.name !== 'pre' && isChaffLine(block.text, linkShare(block))

const lengthOf = (blocks: Block[], at: number[]): number =>
  at.reduce((sum, place) => sum + blocks[place]!.text.length, 0)

/** The positions of the blocks in each table or list, by their cells or items. */
function partsOf(blocks: Block[], whole: string[], parts: string[]): number[][] {
  const found = new Map<Element, number[]>()
  for (const [at, { element }] of blocks.entries()) {
    const around = [...upwards(element)]
    const part = around.findIndex(({ name }) => parts.includes(name))
    const holder =
      part < 0 ? undefined : around.slice(part).find(({ name }) => whole.includes(name))
    if (holder === undefined) continue
    const inside = found.get(holder) ?? []
    inside.push(at)
    found.set(holder, inside)
  }
  return [...found.values()]
}

/**
 * Adds the linked items of a list that belongs to the text: the paragraph before it announces it
 * with a colon and at least four words, or at least half of its items are chosen.
 */
function takeInPoints(blocks: Block[], chosen: boolean[]): void {
  for (const items of partsOf(blocks, ['ul', 'ol'], ['li'])) {
    const before = (items[0] ?? 0) - 1
    const isAnnounced =
      chosen[before] === true &&
      isAnnouncement(blocks[before]!.text) &&
      !READ_ALSO.test(blocks[before]!.text)
    if (isAnnounced || 2 * items.filter(at => chosen[at]).length >= items.length)
      for (const at of items)
        chosen[at] ||= blocks[at]!.text.length >= SHORTEST_POINT && !isChaff(blocks[at]!)
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
function takeInCells(blocks: Block[], chosen: boolean[]): void {
  const first = chosen.indexOf(true)
  const last = chosen.lastIndexOf(true)
  for (const inside of partsOf(blocks, ['table'], ['td', 'th'])) {
    const whole = lengthOf(blocks, inside)
    // Tables of a layout have few cells with much text in them, or headings.
    const isLayout = inside.some(at => isHeading(blocks[at]!)) || whole > CELL * inside.length
    if (inside.length < CELLS || isLayout) continue
    const isBetween =
      first >= 0 && inside.every(at => at > first && at < last && linkShare(blocks[at]!) < 0.5)
    if (
      isBetween ||
      lengthOf(
        blocks,
        inside.filter(at => chosen[at]),
      ) >=
        whole / 2
    )
      for (const at of inside) chosen[at] = true
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
function takeInAlike(blocks: Block[], chosen: boolean[], own: Element | null): void {
  const first = chosen.indexOf(true)
  const last = chosen.lastIndexOf(true)
  const known = describeChosen(blocks, chosen)
  const isSentence = (at: number) =>
    chosen[at] === true && isProse(blocks[at]!) && !isHeading(blocks[at]!)
  const opening = [...blocks.keys()].findIndex(isSentence)
  // A heading over a list may name a box: "In short".
  const isOverText = (at: number) =>
    chosen[at + 1] === true &&
    (isHeading(blocks[at + 1]!) || (isSentence(at + 1) && !isItem(blocks[at + 1]!)))
  // Backwards, because a heading comes in with the text below it.
  for (let at = blocks.length - 1; at > first; at -= 1) {
    const block = blocks[at]!
    const { text, element } = block
    if (chosen[at] || isChaff(block)) continue
    if (linkShare(block) >= 0.5)
      chosen[at] =
        element.name === 'p' &&
        text.length >= LINKED_SENTENCE &&
        /\.["”»’)]?$/.test(text) &&
        isSentence(at - 1) &&
        isSentence(at + 1)
    else if (isHeading(block))
      chosen[at] = at > opening && isOverText(at) && isInContainer(block, known)
    else if (text.length >= 20)
      chosen[at] =
        (own !== null && at < last && isSentenceIn(own, block)) ||
        isAlike(block, known) ||
        isBetween(block, known)
  }
}
const isPoint = (block: Block) => isProse(block) || isItem(block)
const isItem = ({ element }: Block) =>
  [...upwards(element)].slice(0, 3).some(({ name }) => name === 'li')

/** Fewest characters of a sentence that is one whole link. Teasers are shorter. */
const LINKED_SENTENCE = 80

function describeChosen(blocks: Block[], chosen: boolean[]): Chosen {
  const likenesses = new Map<string, number>()
  const around = new Map<Element, number>()
  let sentences = 0
  for (const block of blocks.filter((block, at) => chosen[at] && isProse(block))) {
    sentences += 1
    likenesses.set(likeness(block), (likenesses.get(likeness(block)) ?? 0) + 1)
    for (const element of upwards(block.element))
      around.set(element, (around.get(element) ?? 0) + 1)
  }
  return { likenesses, sentences, container: innermost(around, Math.max(2, sentences * 0.7)) }
}

const isAlike = (block: Block, { likenesses, sentences }: Chosen) =>
  hasClass(block) && (likenesses.get(likeness(block)) ?? 0) >= Math.max(1, sentences * 0.2)

const isInContainer = ({ element }: Block, { container }: Chosen) =>
  container !== null && isWithin(element, container)

const isBetween = (block: Block, known: Chosen) =>
  (block.element.name === 'pre' ||
    ((LISTED.has(block.element.name) || known.likenesses.has(likeness(block))) &&
      isProse(block))) &&
  isInContainer(block, known)

/** Whether a block is a whole sentence inside an element. */
const isSentenceIn = (container: Element, block: Block) =>
  isProse(block) &&
  !isHeading(block) &&
  /[.!?…]["”»’)]?$/.test(block.text) &&
  isWithin(block.element, container)

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
function takeInSections(blocks: Block[], chosen: boolean[], own: Element | null): void {
  const first = chosen.indexOf(true)
  if (own === null || first < 0) return
  const isOwn = (at: number) => isWithin(blocks[at]!.element, own)
  const heads = [...blocks.keys()].filter(at => isHeading(blocks[at]!))
  const found: { name: string; at: number[] }[] = []
  for (const [place, head] of heads.entries()) {
    const heading = blocks[head]!
    if (chosen[head] || linkShare(heading) > 0 || !isOwn(head) || isChaffLine(heading.text, 0))
      continue
    const below = Array.from(
      { length: (heads[place + 1] ?? blocks.length) - head - 1 },
      (_, at) => head + 1 + at,
    ).filter(isOwn)
    const fit = below.filter(at => {
      const block = blocks[at]!
      return (
        linkShare(block) < LITTLE_LINKED &&
        !isChaff(block) &&
        (isProse(block) || (LISTED.has(block.element.name) && block.text.length >= 20))
      )
    })
    const length = lengthOf(blocks, fit)
    if (length >= SECTION && length >= 0.6 * lengthOf(blocks, below))
      found.push({ name: heading.element.name, at: [head, ...fit] })
  }
  const last = chosen.lastIndexOf(true)
  const known = lengthOf(
    blocks,
    [...blocks.keys()].filter(at => chosen[at]),
  )
  for (const sections of Object.values(Object.groupBy(found, ({ name }) => name))) {
    if (sections === undefined || sections.length < SECTIONS) continue
    const all = sections.flatMap(({ at }) => at)
    const isMost =
      lengthOf(
        blocks,
        all.filter(at => at > last),
      ) > known
    for (const at of all) if (isMost || at < last) chosen[at] = true
  }
}

/** The fewest headings or labels of one look in a list of cards. */
const CARDS = 3

/**
 * Adds the headings of a list of products or places, which are links, and the labels of its cards,
 * each with sentences or points below it that are the article's. Labels may follow each other.
 */
function takeInCards(blocks: Block[], chosen: boolean[]): void {
  const first = chosen.indexOf(true)
  const heads: number[] = []
  // Backwards, because a label comes in with what stands below it.
  for (let at = blocks.length - 2; first >= 0 && at > first; at -= 1) {
    const block = blocks[at]!
    const below = blocks[at + 1]!
    if (chosen[at] || isHeading(below)) continue
    const isChosen = chosen[at + 1] === true
    const isHead = isHeading(block)
      ? isChosen && linkShare(block) > 0.6
      : (heads.at(-1) === at + 1 || (isChosen && isPoint(below))) &&
        isLabel(block, below, blocks[first]!)
    if (isHead) heads.push(at)
  }
  const alike = Object.groupBy(heads, at => likeness(blocks[at]!))
  for (const group of Object.values(alike))
    if (group !== undefined && group.length >= CARDS) for (const at of group) chosen[at] = true
}

/** Whether a block is a short line in a small box with the block below it, without the opening. */
function isLabel(block: Block, { element: below }: Block, { element: opening }: Block): boolean {
  const box = [...upwards(block.element)].slice(1, 4).find(around => isWithin(below, around))
  return (
    box !== undefined &&
    !isWithin(opening, box) &&
    block.text.length < SHORT &&
    linkShare(block) === 0 &&
    hasClass(block) &&
    !isChaff(block)
  )
}

/** Tag and class of a block's element and of its parent. */
function likeness({ element }: Block): string {
  const name = (at: Element['parent']) =>
    at !== null && isElement(at) ? `${at.name}.${at.attribs.class ?? ''}` : ''
  return `${name(element)}<${name(element.parent)}`
}
const hasClass = ({ element }: Block) =>
  [...upwards(element)].slice(0, 2).some(({ attribs }) => attribs.class)

function innermost(weights: Map<Element, number>, least: number): Element | null {
  let found: Element | null = null
  for (const [element, weight] of weights)
    if (weight >= least && (found === null || positionOf(element) > positionOf(found)))
      found = element
  return found
}

/** Drops the lines before the first and after the last sentence: dates, names, buttons. */
function trimEnds(blocks: Block[], chosen: boolean[], isHeadline: (block: Block) => boolean): void {
  const sentences = blocks.map(
    (block, at) => chosen[at] === true && isProse(block) && !isHeading(block) && !isHeadline(block),
  )
  // A link such as "Read more" may follow.
  const ended = (at: number) => /[.!?…:"”»’)](?:\s\p{L}+){0,2}$/u.test(blocks[at]?.text ?? '')
  let first = sentences.findIndex(
    (sentence, at) => sentence && (ended(at) || (blocks[at]?.text.length ?? 0) >= 150),
  )
  while (chosen[first - 1] && isOpening(blocks[first - 1]!, blocks[first]!, isHeadline)) first -= 1
  const last = sentences.lastIndexOf(true)
  for (const [at, { element, text }] of blocks.entries()) {
    const isLast = PARAGRAPHS.has(element.name) && (text.length >= 20 || SIGNATURE.test(text))
    if (at < first || (at > last && !isLast)) chosen[at] = false
  }
}

/**
 * Whether a block directly before another one opens the text with it: a heading in the same
 * element, or a point of a list that tells the story in short.
 */
function isOpening(
  block: Block,
  { element: below }: Block,
  isHeadline: (block: Block) => boolean,
): boolean {
  if (linkShare(block) >= 0.2) return false
  const { name, parent } = block.element
  if (/^h[2-4]$/.test(name))
    return !isHeadline(block) && (parent === below.parent || parent === below.parent?.parent)
  const { text } = block
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
function dropShortLines(blocks: Block[], chosen: boolean[]): void {
  for (const [at, block] of blocks.entries()) {
    const isLine = LINES.has(block.element.name) || isHeading(block) || block.text.endsWith('?')
    if (!isLine && !isProse(block) && block.text.length < SHORT) chosen[at] = false
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
function dropTeasers(
  blocks: Block[],
  chosen: boolean[],
  own: Element | null,
  isHeadline: (block: Block) => boolean,
): void {
  const isOwn = (at: number) => own === null || isWithin(blocks[at]!.element, own)
  const isEmpty =
    own !== null && !blocks.some((block, at) => chosen[at] && isProse(block) && isOwn(at))
  const isForeign = (at: number) => !isOwn(at) && blocks[at]!.text.length >= 15
  const headings = [...blocks.keys()].filter(at => {
    const block = blocks[at]!
    if (isHeadline(block)) return false
    if (linkShare(block) >= 0.8)
      return (isHeading(block) || (isEmpty && isForeign(at))) && leadsAway(block.element)
    const { parent } = block.element
    return (
      isForeign(at) && isHeading(block) && parent !== null && isElement(parent) && leadsAway(parent)
    )
  })
  const teasers = new Set(headings.slice(0, TEASERS).flatMap(at => boxAround(blocks, at)))
  for (const at of teasers) if (!isOwn(at)) chosen[at] = false
  const whole = [...blocks.keys()].filter(at => chosen[at])
  const share = lengthOf(
    blocks,
    whole.filter(at => teasers.has(at)),
  )
  if (share > TEASERS_SHARE * lengthOf(blocks, whole)) return
  for (const at of teasers) chosen[at] = false
}

/** The position of the first heading that repeats a title, or else of the first `h1`; -1: none. */
function headlineIn(blocks: Block[], isHeadline: (block: Block) => boolean): number {
  const titled = blocks.findIndex(block => isHeading(block) && isHeadline(block))
  return titled >= 0 ? titled : blocks.findIndex(({ element }) => element.name === 'h1')
}

/**
 * The innermost article or main element around the headline. Without one, the outermost element
 * around it inside the body.
 */
function elementOfHeadline(
  headline: Block | undefined,
  isHeadline: (block: Block) => boolean,
): Element | null {
  if (headline === undefined) return null
  const around = [...upwards(headline.element)]
  const whole = around.findIndex(({ name }) => name === 'body' || name === 'html')
  const isArticle = ({ name, attribs }: Element) =>
    name === 'article' ||
    name === 'main' ||
    attribs.role === 'main' ||
    /Article|Posting/.test(attribs.itemtype ?? '')
  return around.find(isArticle) ?? (isHeadline(headline) && whole > 1 ? around[whole - 1]! : null)
}

/**
 * Positions of the blocks in the box of a heading: the largest element around it that adds at most
 * `TEASER` characters.
 */
function boxAround(blocks: Block[], heading: number): number[] {
  let first = heading
  let last = heading
  let room = TEASER
  let box: number[] = []
  for (const around of upwards(blocks[heading]!.element)) {
    const isInside = (at: number) =>
      room >= 0 && blocks[at] !== undefined && isWithin(blocks[at].element, around)
    while (isInside(first - 1)) room -= blocks[--first]!.text.length
    while (isInside(last + 1)) room -= blocks[++last]!.text.length
    if (room < 0) return box
    box = Array.from({ length: last - first + 1 }, (_, at) => first + at)
  }
  return box
}

/**
 * Drops boxes that begin with "Read also", an offer or a similar line. A box is the smallest
 * element that begins with such a line and has more content. It is dropped when it is short, or
 * when it announces several articles, but never with the headline.
 */
function dropReadAlso(blocks: Block[], chosen: boolean[], headline: number): void {
  for (const [first, { text }] of blocks.entries()) {
    if (text.length > BOX_HEADING || !BOX.test(text)) continue
    const box = blocks.slice(first, endOfBox(blocks, first))
    if (first < headline && headline < first + box.length) continue
    const links = box.filter(block => isHeading(block) && linkShare(block) >= 0.8)
    const length = box.reduce((sum, block) => sum + block.text.length, 0)
    if (length <= TEASER || links.length > 1) chosen.fill(false, first, first + box.length)
  }
}

/**
 * The position after the smallest element that begins with this line and has more content. Without
 * such an element: the position after the line.
 */
function endOfBox(blocks: Block[], first: number): number {
  for (const around of upwards(blocks[first]!.element)) {
    const isInside = (at: number) =>
      blocks[at] !== undefined && isWithin(blocks[at].element, around)
    let end = first + 1
    while (end - first < TEASERS && isInside(end)) end += 1
    if (isInside(first - 1) || isInside(end)) break
    if (end > first + 1) return end
  }
  return first + 1
}
const BOX_HEADING = 60

/** Whether the first link around or in a heading leads to another page. */
function leadsAway(heading: Element): boolean {
  const around = [...upwards(heading)].find(({ name }) => name === 'a')
  let link = around?.attribs.href
  walk(heading, element => {
    if (element.name === 'a') link ??= element.attribs.href
  })
  return link !== undefined && !link.startsWith('#')
}

/** Drops headings without text below them, because their text was left out. */
function dropEmptyHeadings(blocks: Block[], chosen: boolean[]): void {
  let below: Block | null = null
  for (let at = blocks.length - 1; at >= 0; at -= 1) {
    const block = blocks[at]
    if (!chosen[at] || block === undefined) continue
    if (isHeading(block) && (below === null || below.element.name === block.element.name))
      chosen[at] = false
    else below = block
  }
}

/**
 * Chaff is a line between the paragraphs of an article that is no part of it, recognised by its
 * words. The patterns match whole lines, so an article about newsletters keeps its sentences.
 */

const any = (field: keyof LanguageRules['text']) => anyOf(rules => rules.text[field])
const words = (...parts: string[]) => new RegExp(String.raw`^\W*(?:${parts.join('|')})`, 'iu')

const READ_ALSO = words(any('readAlso'))
/** The whole heading of a box: one of these texts, and at most one more word. */
const BOX = new RegExp(
  String.raw`^\W*(?:${any('readAlso')}|${any('offers')})(?:\W+\S{1,20})?\W*$`,
  'iu',
)
/**
 * Offers. Those of a newsletter or a channel may follow other words and a sign: "+++", "To miss
 * nothing, subscribe to …".
 */
const OFFER = new RegExp(
  String.raw`^\W*${any('offers')}|(?:^[+>=*#]{2,}|^tipp?\b|(?<=[,:;.!?…–—-]\s*)(?!(?:\p{L}+ )?[\p{L}-]*newsletter)${any('offers')}).*(?:newsletter|nieuwsbrief|whatsapp|infolettre|\babo(?:nne|nnement)?\b)`,
  'iu',
)
/** A quoted sentence, and the words that tell who said it. */
const SPEECH = /^[„“”"«»‘'‚].{3,}[“”"«»’'‘],?\s(?=\p{Ll}).{6}/u
const STAMP = words(any('stamps'), String.raw`\d+ ?min(ut(e|en|es))?\.? ${any('readingTime')}`)
const MONTHS = any('months')
/** A date with at most a time, a name and a few words beside it. */
const DATE = new RegExp(
  `^.{0,40}(\\d{1,2}([.]|st|nd|rd|th|er)? (${MONTHS})\\p{L}*\\.?,? \\d{4}|(${MONTHS})\\p{L}*\\.? \\d{1,2}(st|nd|rd|th)?,? \\d{4}|\\d{1,2}[./-]\\d{1,2}[./-](\\d{4}|\\d{2})|\\d{4}-\\d{2}-\\d{2})\\b.{0,40}$`,
  'iu',
)

const PICTURE = words(String.raw`${any('captions')}s?( ?\(.{1,20}\)| ?by|/\S+)? ?[:©|]`, '© ')
const PICTURE_END = new RegExp(
  String.raw`[([]${any('captionNotes')}[^)\]]{0,60}[)\]]\W*$|(?<!^.{120,}[.!?]\W*)[|–—-]\s*©[^.!?]{2,40}$`,
  'iu',
)
const SLIDE = new RegExp(
  String.raw`^\W*${any('slides')}?\s*\d+\s*(?:${any('slidesOf')}|\/)[\s/]*\d+\W*$`,
  'iu',
)

const CREDIT = words(any('credits'))
const COMMENTS = new RegExp(String.raw`^\W*(\d+ )?${any('comments')}( \(?\d+\)?)?\W*$`, 'iu')
const RIGHTS = words('©', String.raw`\(c\) \d`, 'copyright', any('rights'))
const MACHINE = words(any('machine'))
const AFFILIATE = new RegExp(any('affiliates'), 'iu')
/** Lines of signs alone, settings of players, code of scripts, and shortcodes. */
const CODE =
  /^[^\p{L}\p{N}]*$|^(?:[[{]\s*(?:[[{]\s*)?"[\w-]+"\s*:|(?:var|let|const)\s+[\w$]+\s*=|(?:window|document|dataLayer|googletag)[.[][\w.'"\]]+\s*[=(]|\(?function\s*\w*\s*\()|^\[\/?[a-z_-]+( [^\]]*)?\](.*\[\/[a-z_-]+\])?$/iu

/**
 * Whether a line is no part of the article.
 * @param linked the share of the line that is in links, from 0 to 1
 */
export function isChaffLine(text: string, linked: number): boolean {
  if (CODE.test(text)) return true
  const { length } = text
  if (length > 400) return false
  const sentence = /(?<!\.\.)[.!?]["”»’)]?$/u.test(text)
  if (
    READ_ALSO.test(text) &&
    (linked > 0.2 || (length < 80 && !sentence) || /^[^.!?]{3,40}:/u.test(text))
  )
    return true
  if (length < 250 && OFFER.test(text) && !SPEECH.test(text)) return true
  if (length < 120 && STAMP.test(text) && (length < 40 || /\d/.test(text))) return true
  if (length < 90 && !sentence && DATE.test(text)) return true
  if (
    length < 250 &&
    (PICTURE.test(text) || PICTURE_END.test(text)) &&
    !(sentence && length > 120 && PICTURE.test(text))
  )
    return true
  return (
    SLIDE.test(text) ||
    CREDIT.test(text) ||
    COMMENTS.test(text) ||
    (length < 150 && RIGHTS.test(text)) ||
    MACHINE.test(text) ||
    (length < 300 && AFFILIATE.test(text))
  )
}
