import { boundMarks } from './marks.ts'
import type { Element } from './tree.ts'

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
  /** Places (`Element.index`) of the elements that hold its text directly. */
  holders: number[]
}

/**
 * Elements that do not end the line they stand in (HTML Standard, phrasing content; what `tree.ts`
 * leaves out apart).
 */
const INLINE = new Set(
  'a abbr acronym b bdi bdo big br cite code data del dfn em font i img ins kbd label mark meta output picture q rp rt ruby s samp small source span strike strong sub sup time tt u var wbr input link'.split(
    ' ',
  ),
)

/** The blocks of a page in reading order. */
export function blocksOf(root: Element): Block[] {
  const blocks: Block[] = []
  let pieces: string[] = []
  let linked = 0
  let holders: number[] = []

  const end = (element: Element) => {
    const text = collapse(pieces.join(''))
    if (text !== '') blocks.push({ text, linked: Math.min(linked, text.length), element, holders })
    pieces = []
    linked = 0
    holders = []
  }

  const read = (element: Element, block: Element, inLink: boolean) => {
    let breaks = 0
    for (const child of element.children) {
      if (typeof child === 'string') {
        if (/\S/.test(child)) {
          breaks = 0
          holders.push(element.index)
          if (inLink) linked += collapse(child).length
        }
        pieces.push(child)
      } else if (child.name === 'br') {
        breaks += 1
        // Two line breaks are how paragraphs were made before there were style sheets.
        if (breaks === 2) end(block)
        else pieces.push('\n')
      } else if (INLINE.has(child.name)) {
        if (child.name !== 'img' && child.children.length > 0) breaks = 0
        read(child, block, inLink || child.name === 'a')
      } else {
        breaks = 0
        end(block)
        read(child, child, inLink)
        end(child)
      }
    }
  }
  read(root, root, false)
  end(root)
  return blocks
}

/**
 * One space for every run of whitespace, none at the ends; zero-width spaces go, and marks beyond
 * all measure.
 */
export function collapse(text: string): string {
  return boundMarks(text)
    .replace(/[\u200b\u2060\ufeff]/g, '')
    .replace(/\s+/g, ' ')
    .trim()
}
