import { DomUtils } from 'htmlparser2'
import { collapse } from './plain.ts'
import { type Element, isElement, positionOf } from './tree.ts'

/**
 * A piece of text that readers see as one: a paragraph, a heading, a list item, a line between two
 * breaks.
 */
export interface Block {
  /** Whitespace collapsed, never empty. */
  text: string
  /** The text without its parts in elements with `data-nosnippet`. */
  quotable: string
  /** How many characters of the text are in links. */
  linked: number
  /** The innermost block-level element around the text. */
  element: Element
  /** Positions (`positionOf`) of the elements that hold the text directly. */
  holders: number[]
}

/**
 * Elements that do not end the line around them (HTML Standard, phrasing content). The list leaves
 * out elements that `tree.ts` removes. It has the elements that `tree.ts` keeps without content.
 */
const INLINE = new Set(
  'a abbr acronym b bdi bdo big br button cite code data del dfn em font i img ins kbd label mark meta nobr output picture q rp rt ruby s samp small source span strike strong sub sup time tt u var wbr input link video audio iframe embed object'.split(
    ' ',
  ),
)
/** Bylines put these inline elements side by side without a space between them. */
export const APART: Set<string> = new Set(['a', 'span', 'time'])

interface BlockOptions {
  /** Elements that are left out with their descendants. */
  without?: ReadonlySet<Element>
  /** Inline elements that end the line around them all the same. */
  divided?: ReadonlySet<Element>
  /** Ends a block at each break outside of `h1`, and puts spaces around links, spans and times. */
  apart?: boolean
  /**
   * By element: the index of the block that contains the element, or else of the block after it.
   */
  places?: Map<Element, number>
}

/** The blocks so far, and the block that has not ended yet. */
interface BlockState extends BlockOptions {
  blocks: Block[]
  pieces: string[]
  /** The number of open elements with `data-nosnippet`, and the pieces inside them. */
  silences: number
  silent: Set<number>
  linked: number
  holders: number[]
}

/** The blocks of a page in reading order. */
export function blocksOf(root: Element, options: BlockOptions = {}): Block[] {
  const state: BlockState = {
    ...options,
    blocks: [],
    pieces: [],
    silences: 0,
    silent: new Set(),
    linked: 0,
    holders: [],
  }
  readElement(state, root, root, false)
  endBlock(state, root)
  return state.blocks
}

/** @param block the innermost block-level element around `element`, or `element` itself */
function readElement(state: BlockState, element: Element, block: Element, inLink: boolean): void {
  state.places?.set(element, state.blocks.length)
  const isSilent = 'data-nosnippet' in element.attribs
  if (isSilent) state.silences += 1
  let breaks = 0
  for (const child of element.children) {
    if (DomUtils.isText(child)) {
      if (/\S/.test(child.data)) breaks = 0
      readText(state, child.data, element, inLink)
    } else if (isElement(child) && !state.without?.has(child)) {
      breaks = breaksWith(child, breaks)
      if (child.name === 'br') readBreak(state, block, breaks)
      else readChild(state, child, block, inLink)
    }
  }
  if (isSilent) state.silences -= 1
}

/** The number of breaks in a row, up to this element. */
function breaksWith({ name, children }: Element, before: number): number {
  if (name === 'br') return before + 1
  return name === 'img' || (INLINE.has(name) && children.length === 0) ? before : 0
}

/** @param breaks the number of breaks here without a text between them */
function readBreak(state: BlockState, block: Element, breaks: number): void {
  // Before style sheets existed, two line breaks separated paragraphs.
  if (breaks === 2 || (state.apart && block.name !== 'h1')) endBlock(state, block)
  else state.pieces.push('\n')
}

function readChild(state: BlockState, child: Element, block: Element, inLink: boolean): void {
  if (isFootnoteMark(child, state)) return
  if (!INLINE.has(child.name) || state.divided?.has(child)) {
    endBlock(state, block)
    readElement(state, child, child, inLink)
    endBlock(state, child)
  } else {
    const space = state.apart && APART.has(child.name) ? ' ' : ''
    state.pieces.push(space)
    readElement(state, child, block, inLink || isLink(child, block))
    state.pieces.push(space)
  }
}

/** Whether an element is a link. A heading's link to its own place on the page is none. */
const isLink = ({ name, attribs: { href } }: Element, block: Element) =>
  name === 'a' && href !== undefined && !(href.startsWith('#') && /^h[1-6]$/.test(block.name))

/**
 * Whether an element is the mark of a footnote: a number or sign that leads to a note on the page,
 * or stands raised behind a word or a year, or in brackets. Raised numbers of units stay (m²).
 */
function isFootnoteMark(element: Element, { pieces }: BlockState): boolean {
  const { name, attribs } = element
  if (name !== 'sup' && name !== 'a') return false
  const mark = DomUtils.innerText(element).trim()
  if (mark.length > LONGEST_MARK || !MARK.test(mark)) return false
  if (name === 'a') return attribs.href?.startsWith('#') === true
  const before = pieces.slice(-3).join('').trimEnd()
  return /^[[(*†‡]/.test(mark) || hasLink(element) || BEFORE_MARK.test(before)
}
const LONGEST_MARK = 12
const MARK = /^(?:[[(]?\d{1,3}(?:[,–-]\s?\d{1,3})?[\])]?|[[(][a-z][\])]|[*†‡]{1,3})$/
const BEFORE_MARK = /(?:\p{L}{4}|\d{4}|[.,;:!?"”»’)])$/u
const hasLink = ({ children }: Element) =>
  children.some(child => isElement(child) && child.name === 'a')

function readText(state: BlockState, text: string, holder: Element, inLink: boolean): void {
  if (/\S/.test(text)) {
    state.holders.push(positionOf(holder))
    if (inLink) state.linked += collapse(text).length
  }
  if (state.silences > 0) state.silent.add(state.pieces.length)
  state.pieces.push(text)
}

function endBlock(state: BlockState, element: Element): void {
  const text = collapse(state.pieces.join(''))
  if (text !== '') {
    const { pieces, silent, holders } = state
    const quotable =
      silent.size === 0 ? text : collapse(pieces.filter((_, at) => !silent.has(at)).join(''))
    state.blocks.push({
      text,
      quotable,
      linked: Math.min(state.linked, text.length),
      element,
      holders,
    })
    if (silent.size > 0) state.silent = new Set()
  }
  state.pieces = []
  state.linked = 0
  state.holders = []
}
