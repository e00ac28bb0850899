import type { Attributes } from '../../../shared/markup/tags.ts'
import { anyOf } from '../languages/index.ts'
import { collapse } from './plain.ts'

/**
 * A run of text as a reader sees it: one block, whitespace collapsed, cut after LINE_LIMIT
 * characters.
 */
export interface Line {
  text: string
  /** 1 to 6 inside a heading, else 0. */
  heading: number
  /** The innermost element of `asides` that contains the line; null outside of them. */
  aside: number | null
}

/** The text of a page, line by line, with the elements that matter for names and dates. */
export interface BodyOutline {
  lines: Line[]
  marks: Mark[]
  /**
   * Elements that look like navigation, comments, teasers to other articles; each with the one
   * around it.
   */
  asides: (number | null)[]
}

const LINE_LIMIT = 300
const LINES = 5_000
const ASIDES = 5_000
const MARKS = 500
const OPEN_MARKS = 8
const MARK_TEXT_LIMIT = 300
const HINT_LIMIT = 300
const DEPTH = 200

const VOID = new Set('area base br col embed hr img input link meta param source track wbr'.split(' '))
const INLINE = new Set(
  'a abbr b bdi bdo cite code data dfn em font i ins kbd label mark q s small span strong sub sup time tt u var wbr img svg path noscript address'.split(
    ' ',
  ),
)
const UNREAD = new Set('script style template svg select textarea button iframe object'.split(' '))
const HEADING = /^h[1-6]$/

const ASIDE_NAME = /^(?:nav|aside|menu|form|dialog|header|footer|blockquote)$/
const ASIDE_IN_ARTICLE = /^(?:nav|menu|form|dialog|blockquote)$/
const ASIDE_HINT = new RegExp(
  String.raw`(?:^|[\s_-])(?:nav|navi|navbar|navigation|menu|sidebar|comments?|commentlist|reactions|related|similar|recommend\w*|recirc\w*|teasers?|teaserlist|popular|most-?read|trending|newsletter|breadcrumbs?|carousel|slider|ticker|outbrain|taboola|promo|readmore|read-more|more-news|latest|modal|cookie\w*|consent|topbar|masthead|site-header|site-footer|${anyOf(rules => rules.markup.asides)})(?:$|[\s_-])|(?:^|\s)widget(?:$|[\s_])`,
)
/** Bylines put these inline elements side by side without a space between them. */
const APART = /^(?:a|span|time)$/

/** An element that has not ended yet. */
interface OpenElement {
  name: string
  aside: number | null
  unread: boolean
  /** Inside an `article` or `main`, where a `header` or an `aside` may hold the byline. */
  article: boolean
  heading: number
  mark: Mark | null
}

/** A mark whose element has not ended yet, and its text so far. */
interface OpenMark {
  mark: Mark
  parts: string[]
  length: number
}

/** The position of a pass over a page, for its text. */
interface BodyState {
  outline: BodyOutline
  /** From the outside in. */
  elements: OpenElement[]
  /** How many open elements there are of each name. */
  openByName: Map<string, number>
  openMarks: OpenMark[]
  /** Pieces of the line that has not ended yet. */
  line: string[]
  lineLength: number
}

const ROOT: OpenElement = { name: '', aside: null, unread: false, article: false, heading: 0, mark: null }
const innermost = ({ elements }: BodyState) => elements.at(-1) ?? ROOT

export function beginBody(): BodyState {
  return {
    outline: { lines: [], marks: [], asides: [] },
    elements: [],
    openByName: new Map(),
    openMarks: [],
    line: [],
    lineLength: 0,
  }
}

/** Whether readers do not see the text at this position: inside a script, a drawing, a control. */
export function isUnread(state: BodyState): boolean {
  return innermost(state).unread
}

export function openElement(state: BodyState, name: string, attributes: Attributes): void {
  if (!INLINE.has(name)) endLine(state)
  else if (name === 'br' || APART.test(name)) addText(state, ' ')
  const hint = `${attributes.get('class') ?? ''} ${attributes.get('id') ?? ''}`.toLowerCase().slice(0, HINT_LIMIT)
  const around = innermost(state)
  const aside = asideOf(state.outline, around, name, hint)
  const unread = around.unread || UNREAD.has(name)
  const mark = unread ? null : openMark(state, name, attributes, hint, aside)
  if (VOID.has(name)) return
  if ((name === 'p' || name === 'li') && around.name === name) endElements(state, 1)
  if (state.elements.length >= DEPTH) return
  state.openByName.set(name, (state.openByName.get(name) ?? 0) + 1)
  state.elements.push({
    name,
    aside,
    unread,
    article: around.article || name === 'article' || name === 'main',
    heading: HEADING.test(name) ? Number(name[1]) : around.heading,
    mark,
  })
}

export function closeElement(state: BodyState, name: string): void {
  if (!INLINE.has(name)) endLine(state)
  else if (APART.test(name)) addText(state, ' ')
  // An end tag without its start closes nothing; hostile pages hold millions of them.
  if (!state.openByName.get(name)) return
  endElements(state, state.elements.length - state.elements.findLastIndex(open => open.name === name))
}

export function readText(state: BodyState, text: string): void {
  if (isUnread(state)) return
  addText(state, text)
  state.lineLength += text.length
}

/** Ends the last line and all elements that the page left open. */
export function endBody(state: BodyState): void {
  endLine(state)
  endElements(state, state.elements.length)
}

/** The aside of an element: a new one when the element looks like one, else that around it. */
function asideOf(outline: BodyOutline, around: OpenElement, name: string, hint: string): number | null {
  if (VOID.has(name) || WHOLE.test(name) || outline.asides.length >= ASIDES) return around.aside
  const byName = (around.article ? ASIDE_IN_ARTICLE : ASIDE_NAME).test(name)
  if (!byName && !(ASIDE_HINT.test(hint) && !isByline(hint))) return around.aside
  return outline.asides.push(around.aside) - 1
}

/** Notes an element that holds a name or a time. Null when its text need not be collected. */
function openMark(
  { outline, openMarks }: BodyState,
  name: string,
  attributes: Attributes,
  hint: string,
  aside: number | null,
): Mark | null {
  if (outline.marks.length >= MARKS) return null
  const inside = openMarks.at(-1)?.mark
  const found = markOf(name, attributes, hint, inside?.kind === 'author' && inside.by === 'microdata')
  if (found === null) return null
  const around = openMarks.findLast(open => open.mark.kind === found.kind)?.mark
  const within = around === undefined ? null : outline.marks.indexOf(around)
  const mark: Mark = { ...found, text: '', hint, aside, line: outline.lines.length, within }
  outline.marks.push(mark)
  if (VOID.has(name) || openMarks.length >= OPEN_MARKS) return null
  openMarks.push({ mark, parts: [], length: 0 })
  return mark
}

function endElements(state: BodyState, count: number): void {
  for (let n = 0; n < count; n += 1) {
    const closed = state.elements.pop()
    if (closed !== undefined) state.openByName.set(closed.name, (state.openByName.get(closed.name) ?? 1) - 1)
    if (closed?.mark) endMark(state, closed.mark)
  }
}

function endMark(state: BodyState, mark: Mark): void {
  const at = state.openMarks.findIndex(candidate => candidate.mark === mark)
  const [open] = at === -1 ? [] : state.openMarks.splice(at, 1)
  if (open !== undefined) mark.text = collapse(open.parts.join(''))
}

function endLine(state: BodyState): void {
  const { lines } = state.outline
  const text = state.lineLength === 0 ? '' : collapse(state.line.join(''))
  if (text !== '' && lines.length < LINES) {
    const { heading, aside } = innermost(state)
    lines.push({ text: text.slice(0, LINE_LIMIT), heading, aside })
  }
  state.line = []
  state.lineLength = 0
}

/** Adds text to the line and to all open marks. */
function addText(state: BodyState, text: string): void {
  if (state.lineLength < LINE_LIMIT * 2) state.line.push(text.slice(0, LINE_LIMIT * 2))
  for (const open of state.openMarks) {
    if (open.length < MARK_TEXT_LIMIT) open.parts.push(text.slice(0, MARK_TEXT_LIMIT))
    open.length += text.length
  }
}

/** An element whose markup says that it holds a name or a time. */
export interface Mark {
  kind: 'author' | 'date'
  /**
   * The kind of markup: microdata and `rel` are meant for machines, a class name is a guess.
   */
  by: 'microdata' | 'rel' | 'time' | 'class'
  /** The machine-readable form: `datetime` or `content`; null without one. */
  value: string | null
  text: string
  /** Class, id, itemprop and rel of the element, in lower case. */
  hint: string
  aside: number | null
  /** The index in `lines` of the line that contains it. */
  line: number
  /** The index in `marks` of the mark of the same kind around it; null without one. */
  within: number | null
}

/** Elements too large to be a name or a date. */
const WHOLE = /^(?:html|body|main|article|h1)$/

const AUTHOR_HINT = new RegExp(
  String.raw`(?:^|[\s_-]|post|article|entry)(?:authors?|${anyOf(rules => rules.markup.authors)}|byline|by-line|writer|contributors?|signature|journalist|creators?|author-?name|fn)(?:$|[\s_-]|name|link)`,
)
const DATE_HINT = new RegExp(
  String.raw`(?:^|[\s_-]|post|article|entry|publi\w*)(?:date|${anyOf(rules => rules.markup.dates)}|time|datetime|timestamp|published|publish|pubdate|updated|posted|publication|created|meta|datestamp|dateline)(?:$|[\s_-]|s?time|line)`,
)

/**
 * Whether a single class name contains the name of a byline. It may contain other words too: in
 * `teaser-meta`, the teaser can be the article's own standfirst.
 */
function isByline(hint: string): boolean {
  return !/\s/.test(hint.trim()) && (AUTHOR_HINT.test(hint) || DATE_HINT.test(hint))
}

/** The judgement of an element by one kind of markup. */
type Judged = Pick<Mark, 'kind' | 'by' | 'value'>

/**
 * Whether an element holds a name or a time, and which markup says so.
 *
 * @param inAuthor the element stands inside microdata's author, of whom only the name counts
 */
function markOf(name: string, attributes: Attributes, hint: string, inAuthor: boolean): Judged | null {
  const stated = microdataMark(attributes, inAuthor)
  if (stated !== null || name === 'meta') return stated
  return elementMark(name, attributes) ?? (WHOLE.test(name) ? null : classMark(attributes, hint))
}

function microdataMark(attributes: Attributes, inAuthor: boolean): Judged | null {
  const properties = attributes.get('itemprop')?.toLowerCase().split(/\s+/) ?? []
  const content = attributes.get('content') ?? null
  const isAuthor = inAuthor
    ? properties.includes('name')
    : properties.includes('author') || properties.includes('creator')
  if (isAuthor) return { kind: 'author', by: 'microdata', value: content }
  if (!properties.includes('datepublished')) return null
  return { kind: 'date', by: 'microdata', value: attributes.get('datetime') ?? content }
}

/** Elements and attributes that are made for names and times. */
function elementMark(name: string, attributes: Attributes): Judged | null {
  if (name === 'time') return { kind: 'date', by: 'time', value: attributes.get('datetime') ?? null }
  if (/\bauthor\b/.test(attributes.get('rel')?.toLowerCase() ?? '')) return { kind: 'author', by: 'rel', value: null }
  // hAtom's way before HTML had `time`: `<abbr class="published" title="2009-02-18T12:00">`.
  const title = name === 'abbr' ? attributes.get('title') : undefined
  return title === undefined ? null : { kind: 'date', by: 'class', value: title }
}

function classMark(attributes: Attributes, hint: string): Judged | null {
  // hCard: `<span class="author vcard">`.
  if (/\bauthor\b/.test(hint) && /\bvcard\b/.test(hint)) return { kind: 'author', by: 'rel', value: null }
  if (AUTHOR_HINT.test(hint)) return { kind: 'author', by: 'class', value: null }
  const value = attributes.get('data-datetime') ?? attributes.get('data-timestamp') ?? null
  return value !== null || DATE_HINT.test(hint) ? { kind: 'date', by: 'class', value } : null
}
