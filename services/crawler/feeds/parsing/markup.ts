import { decodeHTMLStrict } from 'entities'

/**
 * An element of a feed. It holds no text: `textOf` reads that from the element's stretch of the
 * source.
 */
export interface FeedElement {
  /**
   * In lower case. It has the usual prefix of its namespace (`dc:creator`), or none when the
   * namespace is the format's own.
   */
  name: string
  attributes: ReadonlyMap<string, string>
  children: FeedElement[]
  parent: FeedElement | null
  /** The stretch of the source that holds its content. */
  start: number
  end: number
  /** The base of its relative links: the nearest `xml:base`, else the address of the document. */
  base: string | null
  /** The nearest `xml:base`; null when no element around it has one. */
  declaredBase: string | null
}

export interface Markup {
  source: string
  root: FeedElement
  /** False: the document breaks off, or is longer than the limits. */
  whole: boolean
  /** How many more links inside texts are resolved. Each costs time, and memory for its base. */
  linksLeft: number
}

/** Longest text of one element, in characters. */
const MAX_TEXT = 2_000_000

/**
 * The text of an element. Entities are decoded, CDATA is taken as it stands, and comments are
 * dropped. Elements inside it stay as markup, because the texts of many feeds are HTML.
 */
export function textOf(markup: Markup, element: FeedElement): string {
  const raw = markup.source.slice(element.start, Math.min(element.end, element.start + MAX_TEXT))
  if (!raw.includes('<!')) return clean(decodeEntities(raw))
  let text = ''
  let at = 0
  while (at < raw.length) {
    const next = raw.indexOf('<!', at)
    if (next === -1) break
    text += decodeEntities(raw.slice(at, next))
    const [opening, closing] = raw.startsWith('<![CDATA[', next) ? ['<![CDATA[', ']]>'] : ['<!--', '-->']
    if (!raw.startsWith(opening, next)) {
      text += '<!'
      at = next + 2
      continue
    }
    const end = raw.indexOf(closing, next + opening.length)
    if (opening === '<![CDATA[') text += raw.slice(next + opening.length, end === -1 ? raw.length : end)
    at = end === -1 ? raw.length : end + closing.length
  }
  return clean(text + decodeEntities(raw.slice(at)))
}

/** The markup inside an element, as written. */
export function markupOf(markup: Markup, element: FeedElement): string {
  return clean(markup.source.slice(element.start, Math.min(element.end, element.start + MAX_TEXT)))
}

/**
 * Decodes the entities of HTML, which feeds use without declaring them. An entity must end with a
 * semicolon, because `&copy=2` may be part of an address. A pattern finds them, because the decoder
 * is slow at every bare ampersand.
 */
export function decodeEntities(text: string): string {
  return text.replace(/&(?:#\d{1,7}|#x[0-9a-f]{1,6}|[a-z][a-z0-9]{1,31});/gi, entity => decodeHTMLStrict(entity))
}

/** The children with one of these names, in order. */
export function childrenOf(element: FeedElement, ...names: string[]): FeedElement[] {
  return element.children.filter(child => names.includes(child.name))
}

/**
 * Removes the characters that XML 1.0 forbids. Postgres refuses NUL; no reader wants the others.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are removed
const clean = (text: string) => text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '').trim()
