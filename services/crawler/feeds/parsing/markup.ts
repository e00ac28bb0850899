import { decodeHTMLStrict } from 'entities'
import { Parser } from 'htmlparser2'
import { ADDRESS_LIMIT } from '../../../../shared/articles/address.ts'
import { createNamespaces } from './namespaces.ts'

/**
 * An element of a feed, as tolerantly as browsers read HTML: unclosed, wrongly nested and
 * undeclared things are taken as they come. Its text is a stretch of the source and is read when
 * asked for (`textOf`).
 */
export interface FeedElement {
  /**
   * Lower case; with a known namespace's usual prefix (`dc:creator`), bare in the format's own
   * namespace.
   */
  name: string
  attributes: ReadonlyMap<string, string>
  children: FeedElement[]
  parent: FeedElement | null
  /** Where its content lies in the source. */
  start: number
  end: number
  /**
   * Against which its relative links are read: the nearest `xml:base`, else the document's own
   * address.
   */
  base: string | null
  /** The same, of `xml:base` alone. */
  declaredBase: string | null
}

export interface Markup {
  source: string
  root: FeedElement
  /** False: the document was broken off, or more than the limits allow. */
  whole: boolean
  /** Links inside texts that may still be resolved: each costs time, and the length of its base. */
  linksLeft: number
}

/** Deeper nesting is no feed; the parser's own stack takes time quadratic in the depth. */
const MAX_DEPTH = 200
/** A sitemap of 50,000 addresses with images has about 400,000. */
const MAX_ELEMENTS = 600_000
/** Feeds of thousands of entries exist; their first are their newest. */
const MAX_ITEMS = 5_000
const MAX_ATTRIBUTES = 40
const MAX_ATTRIBUTE = 10_000
/** Longest text of one element, in characters. */
const MAX_TEXT = 2_000_000
const MAX_LINKS_IN_TEXTS = 10_000
/**
 * ms of this thread's work, whatever else keeps the machine busy; what was found until then counts.
 */
const TIME_LIMIT = 600
/** Characters between two looks at the clock. */
const SLICE = 131_072

class Enough extends Error {}

/**
 * Reads markup within limits of depth, number and time. Never throws.
 * @param address where the document came from; relative `xml:base` are read against it
 */
export function readMarkup(text: string, address: string | null): Markup {
  const source = withoutDoctype(text)
  const end = source.length
  const root: FeedElement = {
    ...{ name: '', attributes: NO_ATTRIBUTES, children: [], parent: null, start: 0, end },
    ...{ base: address, declaredBase: null },
  }
  let open = root
  let opening: FeedElement | null = null
  let attributes = new Map<string, string>()
  const namespaces = createNamespaces()
  let depth = 0
  let elements = 0
  let items = 0
  let whole = true

  const settle = () => {
    if (opening === null) return
    if (attributes.size > 0) {
      opening.attributes = attributes
      attributes = new Map()
      const base = opening.attributes.get('xml:base')
      if (base !== undefined) {
        opening.base = resolveBase(base, opening.base)
        opening.declaredBase = resolveBase(base, opening.declaredBase)
      }
    }
    namespaces.enter(opening.attributes)
    opening.name = namespaces.canonicalName(opening.name)
    opening = null
  }
  const parser = new Parser(
    {
      onopentagname(name) {
        settle()
        depth += 1
        elements += 1
        if (name === 'item' || name === 'entry') items += 1
        if (depth > MAX_DEPTH || elements > MAX_ELEMENTS || items > MAX_ITEMS) throw new Enough()
        opening = {
          ...{ name, attributes: NO_ATTRIBUTES, children: [], parent: open, start: end, end },
          ...{ base: open.base, declaredBase: open.declaredBase },
        }
        open.children.push(opening)
        open = opening
      },
      onattribute(name, value) {
        if (opening !== null && attributes.size < MAX_ATTRIBUTES && !attributes.has(name)) {
          attributes.set(name, decodeEntities(value.slice(0, MAX_ATTRIBUTE)))
        }
      },
      // Called when the tag is complete; attributes were collected above, with a limit.
      onopentag() {
        open.start = parser.endIndex + 1
        settle()
      },
      onclosetag(_name, implied) {
        settle()
        if (open.parent === null) return
        open.end = Math.max(open.start, implied ? parser.endIndex : parser.startIndex)
        open = open.parent
        namespaces.leave()
        depth -= 1
      },
    },
    { xmlMode: true, lowerCaseTags: true, lowerCaseAttributeNames: true, decodeEntities: false },
  )
  try {
    const before = process.threadCpuUsage()
    for (let at = 0; at < end; at += SLICE) {
      const { user, system } = process.threadCpuUsage(before)
      if (user + system > TIME_LIMIT * 1_000) throw new Enough()
      parser.write(source.slice(at, at + SLICE))
    }
    settle()
    whole = depth === 0
    parser.end()
  } catch (error) {
    if (!(error instanceof Enough)) throw error
    whole = false
  }
  return { source, root, whole, linksLeft: MAX_LINKS_IN_TEXTS }
}

/** Most elements have none: hundreds of thousands of empty maps would be memory for nothing. */
const NO_ATTRIBUTES: ReadonlyMap<string, string> = new Map()

/**
 * One `xml:base` against those around it. What is no address, or a longer one than any, changes
 * nothing.
 */
function resolveBase(written: string, around: string | null): string | null {
  if (written.length > ADDRESS_LIMIT) return around
  const href = URL.parse(written.trim(), around ?? undefined)?.href ?? null
  return href === null || href.length > ADDRESS_LIMIT ? around : href
}

/**
 * The text of an element: entities decoded, CDATA taken as it stands, comments dropped. Elements
 * inside it stay as the markup that they are, for texts of feeds are HTML as often as not.
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
 * HTML's entities, for feeds use them undeclared; only those with their semicolon, for `&copy=2` is
 * part of an address. Found by a pattern, because the decoder itself takes its time over every bare
 * ampersand.
 */
function decodeEntities(text: string): string {
  return text.replace(/&(?:#\d{1,7}|#x[0-9a-f]{1,6}|[a-z][a-z0-9]{1,31});/gi, entity => decodeHTMLStrict(entity))
}

/** The children with one of these names, in order. */
export function childrenOf(element: FeedElement, ...names: string[]): FeedElement[] {
  return element.children.filter(child => names.includes(child.name))
}

// Characters that XML 1.0 forbids; Postgres refuses NUL, and no reader wants the others.
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is removed
const clean = (text: string) => text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '').trim()

/**
 * A document type with declarations inside ends the tolerant parser's patience early; nothing in it
 * is needed.
 */
function withoutDoctype(text: string): string {
  const start = text.slice(0, 20_000).search(/<!DOCTYPE/i)
  if (start === -1) return text
  const bracket = text.indexOf('[', start)
  const close = text.indexOf('>', start)
  if (close === -1) return text
  if (bracket === -1 || bracket > close) return text.slice(0, start) + text.slice(close + 1)
  const end = /\]\s*>/g
  end.lastIndex = bracket
  const found = end.exec(text)
  return found === null ? text : text.slice(0, start) + text.slice(found.index + found[0].length)
}
