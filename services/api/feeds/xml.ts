/** An element: its attributes, and either text or elements. */
export interface XmlElement {
  name: string
  attributes?: Record<string, string>
  content?: string | XmlElement[]
}

export const text = (name: string, content: string): XmlElement => ({ name, content })

/** The element, unless its content is null. */
export const optional = (name: string, content: string | null): XmlElement[] =>
  content === null ? [] : [{ name, content }]

/**
 * Writes an XML 1.0 document, indented by two spaces. Whatever the texts hold, it is well-formed
 * and a parser gives them back: characters that XML cannot carry (§2.2, half a surrogate pair among
 * them) are removed, line ends that a parser would change (§2.11, §3.3.3) are written as
 * references.
 */
export function writeXml(root: XmlElement): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n${writeElement(root, '')}`
}

/** Writes an element and what it contains, by the rules of `writeXml`. */
export function writeElement({ name, attributes = {}, content = '' }: XmlElement, indent: string): string {
  const start = Object.entries(attributes).reduce(
    (tag, [key, value]) => `${tag} ${key}="${quoted(value)}"`,
    `${indent}<${name}`,
  )
  if (content.length === 0) return `${start}/>\n`
  if (typeof content === 'string') return `${start}>${escaped(content)}</${name}>\n`
  const children = content.map(child => writeElement(child, `${indent}  `)).join('')
  return `${start}>\n${children}${indent}</${name}>\n`
}

/** The text without what XML cannot carry. */
export const carried = (text: string): string => text.replace(FORBIDDEN, '')

const FORBIDDEN = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu

const REFERENCES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\t': '&#9;',
  '\n': '&#10;',
  '\r': '&#13;',
}

/**
 * Most texts hold nothing that is written in another way, and a look is faster than a replacement.
 */
const PLAIN = /^[\t\n\x20-%'-;=?-\ud7ff\ue000-\ufffd]*$/

// `>` too, because of `]]>`.
const escaped = (text: string) =>
  PLAIN.test(text) ? text : carried(text).replace(/[&<>\r]/g, character => REFERENCES[character] ?? character)

const quoted = (text: string) => carried(text).replace(/[&<>"\t\n\r]/g, character => REFERENCES[character] ?? character)
