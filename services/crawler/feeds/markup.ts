import { decodeHTMLStrict } from 'entities'
import { Parser } from 'htmlparser2'

/**
 * An element of a feed, as tolerantly as browsers read HTML: unclosed, wrongly nested and undeclared things are taken as
 * they come. Its text is a stretch of the source and is read when asked for (`textOf`).
 */
export interface Element {
  /** Lower case; with a known namespace's usual prefix (`dc:creator`), bare in the format's own namespace. */
  name: string
  attributes: Map<string, string>
  children: Element[]
  parent: Element | null
  /** Where its content lies in the source. */
  start: number
  end: number
}

export interface Markup {
  source: string
  root: Element
  /** False: the document was broken off, or more than the limits allow. */
  whole: boolean
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
/** ms of this thread's work, whatever else keeps the machine busy; what was found until then counts. */
const TIME_LIMIT = 600
/** Characters between two looks at the clock, and between two turns of the event loop. */
const SLICE = 131_072

/** Namespaces under the prefix that the readers of `formats/` use; the empty prefix is the format's own. */
const NAMESPACES: Record<string, string> = {
  'http://www.w3.org/2005/atom': 'atom',
  'http://purl.org/atom/ns#': 'atom',
  'http://backend.userland.com/rss2': '',
  'http://blogs.law.harvard.edu/tech/rss': '',
  'http://purl.org/rss/1.0/': '',
  'http://my.netscape.com/rdf/simple/0.9/': '',
  'http://channel.netscape.com/rdf/simple/0.9/': '',
  'http://www.sitemaps.org/schemas/sitemap/0.9': '',
  'http://www.google.com/schemas/sitemap/0.84': '',
  'http://www.w3.org/1999/02/22-rdf-syntax-ns#': 'rdf',
  'http://purl.org/rss/1.0/modules/content/': 'content',
  'http://purl.org/dc/elements/1.1/': 'dc',
  'http://purl.org/dc/elements/1.0/': 'dc',
  'http://purl.org/dc/terms/': 'dcterms',
  'http://search.yahoo.com/mrss/': 'media',
  'http://search.yahoo.com/mrss': 'media',
  'http://www.itunes.com/dtds/podcast-1.0.dtd': 'itunes',
  'http://www.google.com/schemas/sitemap-news/0.9': 'news',
  'http://rssnamespace.org/feedburner/ext/1.0': 'feedburner',
  'http://www.w3.org/1999/xhtml': 'xhtml',
  'http://www.w3.org/xml/1998/namespace': 'xml',
}

class Enough extends Error {}

/** Reads markup within limits of depth, number, and time; never throws, gives way to the event loop as it goes. */
export async function readMarkup(text: string): Promise<Markup> {
  const source = withoutDoctype(text)
  const root: Element = { name: '', attributes: new Map(), children: [], parent: null, start: 0, end: source.length }
  let open = root
  let opening: Element | null = null
  const scopes: Map<string, string>[] = [new Map()]
  let depth = 0
  let elements = 0
  let items = 0
  let whole = true

  const settle = () => {
    if (opening === null) return
    const scope = scopeOf(opening.attributes, scopes.at(-1) ?? new Map())
    scopes.push(scope)
    opening.name = canonicalName(opening.name, scope)
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
        opening = { name, attributes: new Map(), children: [], parent: open, start: source.length, end: source.length }
        open.children.push(opening)
        open = opening
      },
      onattribute(name, value) {
        if (opening !== null && opening.attributes.size < MAX_ATTRIBUTES && !opening.attributes.has(name)) {
          opening.attributes.set(name, decodeEntities(value.slice(0, MAX_ATTRIBUTE)))
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
        scopes.pop()
        depth -= 1
      },
    },
    { xmlMode: true, lowerCaseTags: true, lowerCaseAttributeNames: true, decodeEntities: false },
  )
  try {
    let worked = 0
    for (let at = 0; at < source.length; at += SLICE) {
      if (worked > TIME_LIMIT) throw new Enough()
      const before = process.threadCpuUsage()
      parser.write(source.slice(at, at + SLICE))
      const { user, system } = process.threadCpuUsage(before)
      worked += (user + system) / 1_000
      await new Promise(resolve => setImmediate(resolve))
    }
    settle()
    whole = depth === 0
    parser.end()
  } catch (error) {
    if (!(error instanceof Enough)) throw error
    whole = false
  }
  return { source, root, whole }
}

/**
 * The text of an element: entities decoded, CDATA taken as it stands, comments dropped. Elements inside it stay as the
 * markup that they are, for texts of feeds are HTML as often as not.
 */
export function textOf(markup: Markup, element: Element): string {
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
export function markupOf(markup: Markup, element: Element): string {
  return clean(markup.source.slice(element.start, Math.min(element.end, element.start + MAX_TEXT)))
}

/**
 * HTML's entities, for feeds use them undeclared; only those with their semicolon, for `&copy=2` is part of an address.
 * Found by a pattern, because the decoder itself takes its time over every bare ampersand.
 */
function decodeEntities(text: string): string {
  return text.replace(/&(?:#\d{1,7}|#x[0-9a-f]{1,6}|[a-z][a-z0-9]{1,31});/gi, entity => decodeHTMLStrict(entity))
}

/** The children with one of these names, in order. */
export function childrenOf(element: Element, ...names: string[]): Element[] {
  return element.children.filter(child => names.includes(child.name))
}

/** The nearest `xml:base` and those around it, resolved against one another and then `base`. */
export function baseOf(element: Element, base: string | null): string | null {
  const outer = element.parent === null ? base : baseOf(element.parent, base)
  const own = element.attributes.get('xml:base')
  return own === undefined ? outer : (URL.parse(own.trim(), outer ?? undefined)?.href ?? outer)
}

// Characters that XML 1.0 forbids; Postgres refuses NUL, and no reader wants the others.
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is removed
const clean = (text: string) => text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '').trim()

function scopeOf(attributes: Map<string, string>, outer: Map<string, string>): Map<string, string> {
  let scope = outer
  for (const [name, value] of attributes) {
    if (name !== 'xmlns' && !name.startsWith('xmlns:')) continue
    if (scope === outer) scope = new Map(outer)
    scope.set(name === 'xmlns' ? '' : name.slice(6), value.trim().toLowerCase())
  }
  return scope
}

function canonicalName(name: string, scope: Map<string, string>): string {
  const colon = name.indexOf(':')
  const [prefix, local] = colon < 0 ? ['', name] : [name.slice(0, colon), name.slice(colon + 1)]
  const namespace = scope.get(prefix)
  const known = namespace === undefined ? undefined : NAMESPACES[namespace]
  // A prefix that nobody declared, or declared as something unknown, means what it usually means.
  const canonical = known ?? prefix
  return canonical === '' ? local : `${canonical}:${local}`
}

/** A document type with declarations inside ends the tolerant parser's patience early; nothing in it is needed. */
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
