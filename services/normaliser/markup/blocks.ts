import { boundMarks, type Element } from './tree.ts'

/**
 * A stretch of text that a reader sees as one: a paragraph, a heading, a list item, a line between
 * two breaks.
 */
export interface Block {
  /** Whitespace collapsed, never empty. */
  text: string
  /** How many of its characters are links. */
  linked: number
  /** The innermost block-level element around it. */
  element: Element
  /** Positions (`Element.index`) of the elements that hold its text directly. */
  holders: number[]
}

/**
 * Elements that do not end the line around them (HTML Standard, phrasing content, without the
 * elements that `tree.ts` leaves out).
 */
const INLINE = new Set(
  'a abbr acronym b bdi bdo big br cite code data del dfn em font i img ins kbd label mark meta output picture q rp rt ruby s samp small source span strike strong sub sup time tt u var wbr input link'.split(
    ' ',
  ),
)

/** The blocks found so far, and the one that has not ended yet. */
interface BlockState {
  blocks: Block[]
  pieces: string[]
  linked: number
  holders: number[]
}

/** The blocks of a page in reading order. */
export function blocksOf(root: Element): Block[] {
  const state: BlockState = { blocks: [], pieces: [], linked: 0, holders: [] }
  readElement(state, root, root, false)
  endBlock(state, root)
  return state.blocks
}

/** @param block the innermost block-level element around `element`, or `element` itself */
function readElement(state: BlockState, element: Element, block: Element, inLink: boolean): void {
  let breaks = 0
  for (const child of element.children) {
    if (typeof child === 'string') {
      if (/\S/.test(child)) breaks = 0
      readText(state, child, element, inLink)
    } else if (child.name === 'br') {
      breaks += 1
      // Two line breaks are how paragraphs were made before there were style sheets.
      if (breaks === 2) endBlock(state, block)
      else state.pieces.push('\n')
    } else if (INLINE.has(child.name)) {
      if (child.name !== 'img' && child.children.length > 0) breaks = 0
      readElement(state, child, block, inLink || child.name === 'a')
    } else {
      breaks = 0
      endBlock(state, block)
      readElement(state, child, child, inLink)
      endBlock(state, child)
    }
  }
}

function readText(state: BlockState, text: string, holder: Element, inLink: boolean): void {
  if (/\S/.test(text)) {
    state.holders.push(holder.index)
    if (inLink) state.linked += collapse(text).length
  }
  state.pieces.push(text)
}

function endBlock(state: BlockState, element: Element): void {
  const text = collapse(state.pieces.join(''))
  if (text !== '') {
    state.blocks.push({ text, linked: Math.min(state.linked, text.length), element, holders: state.holders })
  }
  state.pieces = []
  state.linked = 0
  state.holders = []
}

/**
 * Replaces every run of whitespace by one space and trims the ends. Removes zero-width spaces, and
 * bounds combining marks (`boundMarks`).
 */
export function collapse(text: string): string {
  return boundMarks(text)
    .replace(/[\u200b\u2060\ufeff]/g, '')
    .replace(/\s+/g, ' ')
    .trim()
}
