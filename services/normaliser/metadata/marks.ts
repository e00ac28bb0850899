import { DomUtils } from 'htmlparser2'
import { anyOf } from '#services/normaliser/languages/index'
import { APART, blocksOf } from '#services/normaliser/markup/blocks'
import { lineOf } from '#services/normaliser/markup/plain'
import {
  type Element,
  isElement,
  type Page,
  positionOf,
  upwards,
  walk,
} from '#services/normaliser/markup/tree'

/*
 * Names and dates are found by markup and by their place near the headline. So a page is divided
 * into lines in reading order, and elements with significant markup refer to their line.
 */

/**
 * A run of text that readers see as one: one block, whitespace collapsed, cut after LINE_LIMIT
 * characters.
 */
export interface Line {
  text: string
  /** 1 to 6 inside a heading, else 0. */
  heading: number
  /** Whether the line is in navigation, comments, or teasers to other articles. */
  aside: boolean
  /** Whether the line is in an item of a list that leads to another page. */
  ofItem: boolean
}

/** An element whose markup says that it holds a name or a time. */
export interface Mark {
  kind: 'author' | 'date'
  /**
   * The kind of markup. Microdata and `rel` are made for machines; a class name only allows a
   * guess.
   */
  by: 'microdata' | 'rel' | 'time' | 'class'
  /** The machine-readable form: `datetime` or `content`; null without one. */
  value: string | null
  text: string
  /** Class, id and `itemprop` of the element, in lower case. */
  hint: string
  /** The hints of the marks around this one that have the same `kind`, then its own hint. */
  hints: string
  aside: boolean
  /** Whether the element is in an item of a list that leads to another page. */
  ofItem: boolean
  /** The index of the line that contains it. */
  line: number
  element: Element
}

/** The text of a page, line by line, with the elements that matter for names and dates. */
export interface MarkedText {
  lines: Line[]
  /** The index in `lines` of the headline; null without one. */
  headline: number | null
  /** In document order. */
  marks: Mark[]
}

const LINE_LIMIT = 300
const LINES = 5_000
const MARKS = 500
const HINT_LIMIT = 300
const MARK_TEXT_LIMIT = 300

/**
 * @param findHeadline finds the index of the headline. For this call, `aside` is true for every
 * line in an aside, even when the aside contains the headline
 */
export function readMarks(
  { $, root }: Page,
  findHeadline: (lines: readonly Line[]) => number | null,
): MarkedText {
  const places = new Map<Element, number>()
  const blocks = blocksOf(root, {
    without: new Set($('title').toArray()),
    apart: true,
    places,
  }).slice(0, LINES)
  const items = itemsIn($)
  const asideAround = innermostOf(new Set([...asidesIn($), ...items]))
  const itemOf = innermostOf(items)
  const lines = blocks.map(({ text, element }) => ({
    text: lineOf(text).slice(0, LINE_LIMIT),
    heading: headingOf(element),
    aside: asideAround(element) !== undefined,
    ofItem: itemOf(element) !== undefined,
  }))
  const headline = findHeadline(lines)
  const anchor = blocks[headline ?? longestOf(lines)]
  // An element that contains the headline does not count as an aside.
  const aroundAnchor = new Set(anchor === undefined ? [] : upwards(anchor.element))
  const isAside = (element: Element) => {
    const aside = asideAround(element)
    return aside !== undefined && !aroundAnchor.has(aside)
  }
  const marks = new Map<Element, Mark>()
  for (const { element, ...markup } of markedIn($)) {
    const hint = hintOf(element)
    const around = upwards(element)
      .map(outer => marks.get(outer))
      .find(outer => outer?.kind === markup.kind)
    marks.set(element, {
      ...markup,
      element,
      hint,
      text: spacedText(element),
      aside: isAside(element),
      ofItem: itemOf(element) !== undefined && isAside(element),
      hints: `${around?.hints ?? ''} ${hint}`.slice(-1_000),
      line: places.get(element) ?? 0,
    })
  }
  return {
    lines: lines.map((line, at) => ({
      ...line,
      aside: line.aside && isAside(blocks[at]!.element),
      ofItem: line.ofItem && isAside(blocks[at]!.element),
    })),
    headline,
    marks: [...marks.values()],
  }
}

/** The longest line. On a page without a headline, it shows where the article is. */
const longestOf = (lines: readonly Line[]): number =>
  lines.reduce(
    (longest, { text }, at) => (text.length > (lines[longest]?.text.length ?? 0) ? at : longest),
    0,
  )

function headingOf(element: Element): number {
  for (const { name } of upwards(element)) if (/^h[1-6]$/.test(name)) return Number(name[1])
  return 0
}

/**
 * Makes a function that finds the innermost of some elements that contains an element, or is this
 * element itself.
 */
const innermostOf =
  (elements: ReadonlySet<Element>) =>
  (element: Element): Element | undefined =>
    upwards(element).find(around => elements.has(around))

const hintOf = ({ attribs: { class: names = '', id = '', itemprop = '' } }: Element) =>
  `${names} ${id} ${itemprop}`.toLowerCase().slice(0, HINT_LIMIT)

/** The beginning of an element's text, with the same spaces as in its line. */
function spacedText(element: Element): string {
  const pieces: string[] = []
  let length = 0
  const read = (at: Element): void => {
    for (const child of at.children) {
      if (length >= MARK_TEXT_LIMIT) return
      if (isElement(child)) {
        const space = child.name === 'br' ? ' | ' : APART.has(child.name) ? ' ' : ''
        pieces.push(space)
        read(child)
        pieces.push(space)
      } else if (DomUtils.isText(child)) {
        pieces.push(child.data.slice(0, MARK_TEXT_LIMIT))
        length += child.data.length
      }
    }
  }
  read(element)
  return lineOf(pieces.join(''))
}

/** Excludes elements that are too large for a name, a date or an aside. */
const WHOLE = ':not(html, body, main, article, h1)'
const NAMED = `:is([class], [id])${WHOLE}`

const ASIDE_HINT = new RegExp(
  String.raw`(?:^|[\s_-])${anyOf(rules => rules.markup.asides)}(?:$|[\s_-])|(?:^|\s)widget(?:$|[\s_])`,
)

/** Elements that look like navigation, comments, or teasers to other articles. */
const asidesIn = ($: Page['$']): Set<Element> =>
  new Set<Element>([
    ...$('nav, menu, form, dialog, blockquote').toArray(),
    // Inside an article, these elements may hold its byline.
    ...$('aside, header, footer').not('article *, main *').toArray(),
    ...$<Element, string>(NAMED)
      .toArray()
      .filter(element => ASIDE_HINT.test(hintOf(element)) && !isByline(hintOf(element))),
  ])

/** Items of lists that lead to other pages. */
const itemsIn = ($: Page['$']) =>
  new Set($<Element, string>('a[href]').toArray().slice(0, LINKS).flatMap(itemAround))

/** The most links that are examined. The first links are those around the headline. */
const LINKS = 2_000
/** The item of a link is among this many elements around the link. */
const ITEM_DEPTH = 6

/**
 * The list item around a link to another page; empty: there is none. An item is an `article`, `li`
 * or link with a linked heading, or one of several similar elements with links and dates.
 */
function itemAround(link: Element): Element[] {
  if (/^(?:#|mailto:)/.test(link.attribs.href ?? '') || /author/.test(link.attribs.rel ?? ''))
    return []
  const around = upwards(link).take(ITEM_DEPTH).toArray()
  const isTitle = [...around, ...link.children.filter(isElement)].some(({ name }) =>
    /^h[2-6]$/.test(name),
  )
  const isOneOfMany = (one: Element) =>
    one.parent?.children.some(other => isLike(other, one)) === true
  const item =
    around.find(
      one =>
        (isTitle && /^(?:article|li)$/.test(one.name)) ||
        ((one.name === 'li' || (one.name === 'div' && isTitle)) && isOneOfMany(one)),
    ) ?? (isTitle || isOneOfMany(link) ? link : undefined)
  return item === undefined || textLength(item) > LONGEST_ITEM ? [] : [item]
}

/**
 * The most characters of an item. A longer item is an article: the front page of a blog may contain
 * whole articles.
 */
const LONGEST_ITEM = 600
const textLength = (element: Element): number =>
  element.children.reduce(
    (sum, one) =>
      sum + (isElement(one) ? textLength(one) : DomUtils.isText(one) ? one.data.length : 0),
    0,
  )

/**
 * Whether an element is another item of the same list: it has the same name and class, a link and a
 * date.
 */
function isLike(other: Element['children'][number], one: Element): boolean {
  if (
    !isElement(other) ||
    other === one ||
    other.name !== one.name ||
    other.attribs.class !== one.attribs.class
  )
    return false
  let linked = other.name === 'a'
  let dated = /\d{1,4}[./:h]\d{2}|\b(?:19|20)\d{2}\b/.test(spacedText(other))
  walk(other, ({ name }) => {
    linked ||= name === 'a'
    dated ||= name === 'time'
  })
  return linked && dated
}

const AUTHOR_HINT = new RegExp(
  String.raw`(?:^|[\s_-]|post|article|entry)${anyOf(rules => rules.markup.authors)}(?:$|[\s_-]|name|link)`,
)
const DATE_HINT = new RegExp(
  String.raw`(?:^|[\s_-]|post|article|entry|publi\w*)${anyOf(rules => rules.markup.dates)}(?:$|[\s_-]|s?time|line)`,
)

/**
 * Whether a single class name contains the name of a byline. The class may contain other words:
 * with `teaser-meta`, the teaser can be the article's own standfirst.
 */
const isByline = (hint: string): boolean =>
  !/\s/.test(hint.trim()) && (AUTHOR_HINT.test(hint) || DATE_HINT.test(hint))

/** One kind of markup. */
interface Markup extends Pick<Mark, 'kind' | 'by'> {
  selector: string
  /** A pattern that the element's class and id must match. */
  hint?: RegExp
}

const AUTHOR_PROPERTY = ':is([itemprop~="author" i], [itemprop~="creator" i])'

/**
 * Markup of names and times, the most certain first. For each element, only the first matching
 * entry counts.
 */
const MARKUP: Markup[] = [
  {
    kind: 'author',
    by: 'microdata',
    selector: `${AUTHOR_PROPERTY}, ${AUTHOR_PROPERTY} [itemprop~="name" i]`,
  },
  { kind: 'date', by: 'microdata', selector: '[itemprop~="datePublished" i]' },
  { kind: 'date', by: 'time', selector: 'time' },
  // hCard: `<span class="author vcard">`.
  { kind: 'author', by: 'rel', selector: '[rel~="author" i], .author.vcard' },
  // hAtom's form from before HTML had `time`: `<abbr class="published" title="2009-02-18T12:00">`.
  { kind: 'date', by: 'class', selector: 'abbr[title]' },
  { kind: 'author', by: 'class', selector: NAMED, hint: AUTHOR_HINT },
  { kind: 'date', by: 'class', selector: `:is([data-datetime], [data-timestamp])${WHOLE}` },
  { kind: 'date', by: 'class', selector: NAMED, hint: DATE_HINT },
]

/** The elements that hold a name or a time, in document order. */
function markedIn($: Page['$']): Pick<Mark, 'kind' | 'by' | 'value' | 'element'>[] {
  const found = new Map<Element, Pick<Mark, 'kind' | 'by' | 'value' | 'element'>>()
  for (const { kind, by, selector, hint } of MARKUP) {
    for (const element of $<Element, string>(selector).toArray()) {
      if (found.has(element) || (by !== 'microdata' && element.name === 'meta')) continue
      if (hint === undefined || hint.test(hintOf(element)))
        found.set(element, { kind, by, value: machineValue(element), element })
    }
  }
  return [...found.values()]
    .sort((a, b) => positionOf(a.element) - positionOf(b.element))
    .slice(0, MARKS)
}

function machineValue({ name, attribs }: Element): string | null {
  const { datetime, content, title } = attribs
  return (
    datetime ??
    content ??
    attribs['data-datetime'] ??
    attribs['data-timestamp'] ??
    (name === 'abbr' ? title : null) ??
    null
  )
}
