import { decodeHTMLStrict } from 'entities'
import { Parser } from 'htmlparser2'
import { ADDRESS_LIMIT } from '#shared/articles/address'
import namespaces from './namespaces.json' with { type: 'json' }

/*
 * Many feeds are not well-formed, and some are hostile. This reader accepts everything that a
 * browser accepts, within limits of depth, size and time. Elements hold positions in the source,
 * and no text is copied before a caller needs it.
 */

/**
 * An element of a feed. It holds no text: `textOf` reads the text from the element's range in the
 * source.
 */
export interface FeedElement {
  /**
   * The name in lower case. It has the usual prefix of its namespace (`dc:creator`), or none when
   * the namespace is the format's own.
   */
  name: string
  attributes: ReadonlyMap<string, string>
  children: FeedElement[]
  parent: FeedElement | null
  /** The range in the source that holds the content of the element. */
  start: number
  end: number
  /**
   * The base of the element's relative links: the nearest `xml:base`, else the address of the
   * document.
   */
  base: string | null
  /** The nearest `xml:base`; null when no element around it has one. */
  declaredBase: string | null
  /** The namespaces of the prefixes that are declared here, in lower case. */
  prefixes: Readonly<Record<string, string>>
}

export interface Markup {
  source: string
  root: FeedElement
  /** False: the document breaks off, or is longer than the limits. */
  whole: boolean
  /** How many more links inside texts may be resolved. Each link costs time and memory. */
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
  for (const { index, 0: found, 1: cdata = '' } of raw.matchAll(UNDECODED)) {
    text += decodeEntities(raw.slice(at, index)) + cdata
    at = index + found.length
  }
  return clean(text + decodeEntities(raw.slice(at)))
}

/** CDATA sections and comments. Without an end, they reach to the end of the text. */
const UNDECODED = /<!\[CDATA\[(.*?)(?:\]\]>|$)|<!--.*?(?:-->|$)/gs

/** The markup inside an element, as written. */
export const markupOf = (markup: Markup, element: FeedElement): string =>
  clean(markup.source.slice(element.start, Math.min(element.end, element.start + MAX_TEXT)))

/**
 * Decodes the entities of HTML, which feeds use without declaring them. An entity must end with a
 * semicolon, because `&copy=2` may be part of an address. A regular expression finds the entities,
 * because the decoder is slow at every bare ampersand.
 */
export const decodeEntities = (text: string): string =>
  text.replace(/&(?:#\d{1,7}|#x[0-9a-f]{1,6}|[a-z][a-z0-9]{1,31});/gi, entity =>
    decodeHTMLStrict(entity),
  )

/** The children with one of these names, in order. */
export const childrenOf = (element: FeedElement, ...names: string[]): FeedElement[] =>
  element.children.filter(child => names.includes(child.name))

/**
 * Removes the characters that XML 1.0 forbids. Postgres refuses NUL, and no reader needs the other
 * characters.
 */
const clean = (text: string) =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are removed
  text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '').trim()

/**
 * Greatest depth that is read. No feed is nested deeper, and the parser's own stack takes time
 * quadratic in the depth.
 */
const MAX_DEPTH = 200
/** The most elements that are read. A sitemap of 50,000 addresses with images has about 400,000. */
const MAX_ELEMENTS = 600_000
/**
 * The most entries that are parsed. Some feeds have thousands, and their first entries are the
 * newest.
 */
const MAX_ITEMS = 5_000
const MAX_ATTRIBUTES = 40
const MAX_ATTRIBUTE = 10_000
const MAX_LINKS_IN_TEXTS = 10_000
/**
 * Longest CPU time of this thread for one document, in ms. Other work of the machine does not
 * count. The elements that were read in this time are kept.
 */
const TIME_LIMIT = 600
/** Characters that are parsed between two checks of the time. */
const SLICE = 131_072

/** Thrown when a limit is reached. The remaining document is not read. */
class LimitReached extends Error {}

/** The state of reading one document. */
interface Tree {
  /** The innermost open element. */
  open: FeedElement
  /** The element whose start tag is being read; its attributes are not complete yet. */
  opening: FeedElement | null
  /** The attributes of `opening`. */
  attributes: Map<string, string>
  depth: number
  elements: number
  items: number
}

/**
 * Reads markup as tolerantly as browsers read HTML: it accepts unclosed, wrongly nested and
 * undeclared elements. Depth, number of elements and time are limited. Never throws.
 *
 * @param address the address of the document; a relative `xml:base` is resolved against it
 */
export function readMarkup(text: string, address: string | null): Markup {
  const source = withoutDoctype(text)
  const root: FeedElement = {
    name: '',
    attributes: NO_ATTRIBUTES,
    children: [],
    parent: null,
    start: 0,
    end: source.length,
    base: address,
    declaredBase: null,
    prefixes: NO_PREFIXES,
  }
  const tree: Tree = {
    open: root,
    opening: null,
    attributes: new Map(),
    depth: 0,
    elements: 0,
    items: 0,
  }
  const parser: Parser = new Parser(
    {
      onopentagname(name) {
        closeBefore(tree, name, parser.startIndex)
        openElement(tree, name, source.length)
      },
      onattribute: (name, value) => addAttribute(tree, name, value),
      // The parser calls this at the end of a start tag. It would collect any number of attributes
      // itself, so `tree` collects them, up to a limit.
      onopentag() {
        tree.open.start = parser.endIndex + 1
        completeOpening(tree)
      },
      onclosetag: () => closeElement(tree, parser.startIndex),
    },
    { xmlMode: true, lowerCaseTags: true, lowerCaseAttributeNames: true, decodeEntities: false },
  )
  return { source, root, whole: parseAll(parser, tree, source), linksLeft: MAX_LINKS_IN_TEXTS }
}

/** Parses the source. Returns whether it was read to its end, with all elements closed. */
function parseAll(parser: Parser, tree: Tree, source: string): boolean {
  try {
    const before = process.threadCpuUsage()
    for (let at = 0; at < source.length; at += SLICE) {
      const { user, system } = process.threadCpuUsage(before)
      if (user + system > TIME_LIMIT * 1_000) throw new LimitReached()
      parser.write(source.slice(at, at + SLICE))
    }
    completeOpening(tree)
    const { open, depth } = tree
    parser.end()
    // The element in which the document breaks off is dropped, because its text may be half an
    // address, a date or a title.
    if (open.children.length === 0) open.parent?.children.pop()
    return depth === 0
  } catch (error) {
    if (error instanceof LimitReached) return false
    throw error
  }
}

/** Closes an unclosed element of a sitemap where the next one begins. */
function closeBefore(tree: Tree, name: string, end: number): void {
  if (name !== 'url' && name !== 'sitemap') return
  completeOpening(tree)
  let same: FeedElement | null = tree.open
  while (same !== null && same.name !== name) same = same.parent
  if (same?.parent && SITEMAPS.has(same.parent.name))
    while (tree.open !== same.parent) closeElement(tree, end)
}
const SITEMAPS = new Set(['urlset', 'sitemapindex'])

/** @param end the end of the element until something closes it */
function openElement(tree: Tree, name: string, end: number): void {
  completeOpening(tree)
  tree.depth += 1
  tree.elements += 1
  if (name === 'item' || name === 'entry') tree.items += 1
  if (tree.depth > MAX_DEPTH || tree.elements > MAX_ELEMENTS || tree.items > MAX_ITEMS)
    throw new LimitReached()
  const { open } = tree
  const element: FeedElement = {
    name,
    attributes: NO_ATTRIBUTES,
    children: [],
    parent: open,
    start: end,
    end,
    base: open.base,
    declaredBase: open.declaredBase,
    prefixes: open.prefixes,
  }
  open.children.push(element)
  tree.opening = element
  tree.open = element
}

function addAttribute({ opening, attributes }: Tree, name: string, value: string): void {
  if (opening === null || attributes.size >= MAX_ATTRIBUTES || attributes.has(name)) return
  attributes.set(name, decodeEntities(value.slice(0, MAX_ATTRIBUTE)))
}

/** Sets attributes, bases and name of the element whose start tag has been read. */
function completeOpening(tree: Tree): void {
  const { opening } = tree
  if (opening === null) return
  if (tree.attributes.size > 0) {
    opening.attributes = tree.attributes
    tree.attributes = new Map()
    const base = opening.attributes.get('xml:base')
    if (base !== undefined) {
      opening.base = resolveBase(base, opening.base)
      opening.declaredBase = resolveBase(base, opening.declaredBase)
    }
    opening.prefixes = prefixesIn(opening)
  }
  opening.name = canonicalName(opening)
  tree.opening = null
}

/** Closes the innermost element. `end`: the end of its content. */
function closeElement(tree: Tree, end: number): void {
  completeOpening(tree)
  const { open } = tree
  if (open.parent === null) return
  open.end = Math.max(open.start, end)
  tree.open = open.parent
  tree.depth -= 1
}

/**
 * One shared map, because most elements have no attributes, and a map for each would take much
 * memory.
 */
const NO_ATTRIBUTES: ReadonlyMap<string, string> = new Map()

/**
 * Resolves one `xml:base` against the base around it. A text that is no address, or is too long,
 * changes nothing.
 */
function resolveBase(written: string, around: string | null): string | null {
  if (written.length > ADDRESS_LIMIT) return around
  const href = URL.parse(written.trim(), around ?? undefined)?.href ?? null
  return href === null || href.length > ADDRESS_LIMIT ? around : href
}

/**
 * Removes the document type, which we do not need. When it holds declarations, the parser ends it
 * too early.
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

/**
 * Known namespaces, with the prefix that our code uses for them. The namespace of a format itself
 * has no prefix.
 */
const NAMESPACES = new Map(Object.entries(namespaces))

const NO_PREFIXES: FeedElement['prefixes'] = Object.create(null)

/**
 * The prefixes in an element. Those that it declares inherit from those around it, because copying
 * all prefixes for each element takes seconds for hostile documents.
 */
function prefixesIn({ name, attributes, prefixes }: FeedElement): FeedElement['prefixes'] {
  const declared = [...attributes].filter(([one]) => one === 'xmlns' || one.startsWith('xmlns:'))
  if (declared.length === 0) return prefixes
  const own: Record<string, string> = Object.create(prefixes)
  for (const [one, value] of declared) {
    const prefix = one.slice(6)
    const namespace = value.trim().toLowerCase()
    const isOwn = OF_RSS.has(name) || (OF_ATOM.has(name) && NAMESPACES.get(namespace) !== 'atom')
    own[prefix] = prefix === '' && isOwn ? '' : namespace
  }
  return own
}

/** An element's name with the usual prefix of its namespace, such as `dc:creator`. */
function canonicalName({ name, prefixes }: FeedElement): string {
  const colon = name.indexOf(':')
  const prefix = name.slice(0, Math.max(0, colon))
  const local = name.slice(colon + 1)
  // A prefix without a known declaration has its usual meaning.
  const canonical = NAMESPACES.get(prefixes[prefix] ?? '') ?? prefix
  return canonical === '' ? local : `${canonical}:${local}`
}

/**
 * Elements whose default namespace always counts as the namespace of their format. Some feeds
 * declare a module's namespace as the default one, and feed readers ignore that.
 */
const OF_RSS = new Set([
  'rss',
  'channel',
  'item',
  'rdf:rdf',
  'rdf',
  'urlset',
  'url',
  'sitemapindex',
  'sitemap',
])
const OF_ATOM = new Set(['feed', 'entry'])
