import { ADDRESS_LIMIT } from '../../../../shared/articles/address.ts'
import { childrenOf, type FeedElement, type Markup, markupOf, textOf } from './markup.ts'

/** The text of the first child with text. `names` are tried in order, the most trusted first. */
export function firstText(markup: Markup, element: FeedElement, ...names: string[]): string | null {
  for (const name of names) {
    for (const child of childrenOf(element, name)) {
      const text = textOf(markup, child)
      if (text !== '') return text
    }
  }
  return null
}

/**
 * Reads a text construct of Atom (RFC 4287 §3.1, and Atom 0.3's `mode`). HTML and plain text stay
 * as written, XHTML loses its `div`, base64 is decoded.
 */
export function readConstruct(markup: Markup, element: FeedElement): string | null {
  const text = constructText(markup, element)
  const around = element.declaredBase
  return text === null || around === null || !text.includes('<') ? text : withWholeLinks(markup, text, around)
}

function constructText(markup: Markup, element: FeedElement): string | null {
  const type = element.attributes.get('type')?.toLowerCase().split(';')[0]?.trim() ?? 'text'
  const mode = element.attributes.get('mode')?.toLowerCase() ?? null
  if (type === 'xhtml' || type === 'application/xhtml+xml' || mode === 'xml') {
    const [only] = element.children
    const inner = element.children.length === 1 && only && /(^|:)div$/.test(only.name) ? only : element
    return (inner.children.length === 0 && mode === 'xml' ? textOf(markup, inner) : markupOf(markup, inner)) || null
  }
  const text = textOf(markup, element)
  if (mode === 'base64' || (type.includes('/') && !isTextual(type))) return fromBase64(text) || null
  return text || null
}

/** The first child with text, read as a text construct. `names` are tried in order. */
export function firstConstruct(markup: Markup, element: FeedElement, ...names: string[]): string | null {
  for (const name of names) {
    for (const child of childrenOf(element, name)) {
      const text = readConstruct(markup, child)
      if (text !== null) return text
    }
  }
  return null
}

/**
 * Resolves an address against the base of its element. An address that cannot be resolved stays.
 */
export function resolveLink(text: string, base: string | null): string {
  const address = text.trim()
  if (address === '') return base ?? ''
  if (base === null || address.length > ADDRESS_LIMIT || ABSOLUTE.test(address)) return address
  return URL.parse(address, base)?.href ?? address
}

const ABSOLUTE = /^[a-z][a-z0-9+.-]*:/i

/** Resolves the relative links in a text: outside of the feed they would lose their `xml:base`. */
function withWholeLinks(markup: Markup, html: string, base: string): string {
  return html.replace(
    /(\s(?:href|src|cite)\s*=\s*)(["'])([^"'<>]*)\2/gi,
    (written, name: string, quote: string, text: string) => {
      const address = text.trim()
      if (address.length > ADDRESS_LIMIT || markup.linksLeft === 0 || ABSOLUTE.test(address)) return written
      markup.linksLeft -= 1
      const whole = URL.parse(address, base)?.href
      return whole === undefined ? written : name + quote + whole + quote
    },
  )
}

function isTextual(type: string): boolean {
  return /^text\/|xml$|[/+]json$|html/.test(type) || type === 'application/javascript'
}

function fromBase64(text: string): string {
  const compact = text.replace(/\s+/g, '')
  return /^[A-Za-z0-9+/]+={0,2}$/.test(compact) ? Buffer.from(compact, 'base64').toString('utf8') : text
}
