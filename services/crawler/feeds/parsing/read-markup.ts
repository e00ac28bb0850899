import { Parser } from 'htmlparser2'
import { ADDRESS_LIMIT } from '../../../../shared/articles/address.ts'
import { decodeEntities, type FeedElement, type Markup } from './markup.ts'
import { createNamespaces, type Namespaces } from './namespaces.ts'

/** No feed is nested deeper. The parser's own stack takes time quadratic in the depth. */
const MAX_DEPTH = 200
/** A sitemap of 50,000 addresses with images has about 400,000. */
const MAX_ELEMENTS = 600_000
/** Some feeds have thousands of entries; the first ones are the newest. */
const MAX_ITEMS = 5_000
const MAX_ATTRIBUTES = 40
const MAX_ATTRIBUTE = 10_000
const MAX_LINKS_IN_TEXTS = 10_000
/**
 * CPU time of this thread in ms, so that other work of the machine does not count. The elements
 * that were read until then are kept.
 */
const TIME_LIMIT = 600
/** Characters between two looks at the clock. */
const SLICE = 131_072

/** A limit is reached, and the rest of the document is not read. */
class LimitReached extends Error {}

/** The state of reading one document. */
interface Tree {
  /** The innermost element that is open. */
  open: FeedElement
  /** The element whose start tag is being read; its attributes are not complete yet. */
  opening: FeedElement | null
  /** The attributes of `opening`. */
  attributes: Map<string, string>
  namespaces: Namespaces
  depth: number
  elements: number
  items: number
}

/**
 * Reads markup, as tolerantly as browsers read HTML: unclosed, wrongly nested and undeclared
 * elements are accepted. Depth, number of elements and time are limited. Never throws.
 *
 * @param address where the document came from; a relative `xml:base` is resolved against it
 */
export function readMarkup(text: string, address: string | null): Markup {
  const source = withoutDoctype(text)
  const root: FeedElement = {
    ...{ name: '', attributes: NO_ATTRIBUTES, children: [], parent: null, start: 0, end: source.length },
    ...{ base: address, declaredBase: null },
  }
  const tree: Tree = {
    ...{ open: root, opening: null, attributes: new Map(), namespaces: createNamespaces() },
    ...{ depth: 0, elements: 0, items: 0 },
  }
  const parser: Parser = new Parser(
    {
      onopentagname: name => openElement(tree, name, source.length),
      onattribute: (name, value) => addAttribute(tree, name, value),
      // Called at the end of a start tag. The parser's own attributes have no limit and are
      // ignored.
      onopentag() {
        tree.open.start = parser.endIndex + 1
        completeOpening(tree)
      },
      onclosetag: (_name, implied) => closeElement(tree, implied ? parser.endIndex : parser.startIndex),
    },
    { xmlMode: true, lowerCaseTags: true, lowerCaseAttributeNames: true, decodeEntities: false },
  )
  return { source, root, whole: parseAll(parser, tree, source), linksLeft: MAX_LINKS_IN_TEXTS }
}

/** Whether the document was read to its end, and all of its elements were closed. */
function parseAll(parser: Parser, tree: Tree, source: string): boolean {
  try {
    const before = process.threadCpuUsage()
    for (let at = 0; at < source.length; at += SLICE) {
      const { user, system } = process.threadCpuUsage(before)
      if (user + system > TIME_LIMIT * 1_000) throw new LimitReached()
      parser.write(source.slice(at, at + SLICE))
    }
    completeOpening(tree)
    const isClosed = tree.depth === 0
    parser.end()
    return isClosed
  } catch (error) {
    if (error instanceof LimitReached) return false
    throw error
  }
}

/** @param end where the element ends for as long as nothing closes it */
function openElement(tree: Tree, name: string, end: number): void {
  completeOpening(tree)
  tree.depth += 1
  tree.elements += 1
  if (name === 'item' || name === 'entry') tree.items += 1
  if (tree.depth > MAX_DEPTH || tree.elements > MAX_ELEMENTS || tree.items > MAX_ITEMS) throw new LimitReached()
  const { open } = tree
  const element: FeedElement = {
    ...{ name, attributes: NO_ATTRIBUTES, children: [], parent: open, start: end, end },
    ...{ base: open.base, declaredBase: open.declaredBase },
  }
  open.children.push(element)
  tree.opening = element
  tree.open = element
}

function addAttribute({ opening, attributes }: Tree, name: string, value: string): void {
  if (opening === null || attributes.size >= MAX_ATTRIBUTES || attributes.has(name)) return
  attributes.set(name, decodeEntities(value.slice(0, MAX_ATTRIBUTE)))
}

/** Gives the element whose start tag has been read its attributes, bases and name. */
function completeOpening(tree: Tree): void {
  const { opening, namespaces } = tree
  if (opening === null) return
  if (tree.attributes.size > 0) {
    opening.attributes = tree.attributes
    tree.attributes = new Map()
    const base = opening.attributes.get('xml:base')
    if (base !== undefined) {
      opening.base = resolveBase(base, opening.base)
      opening.declaredBase = resolveBase(base, opening.declaredBase)
    }
  }
  namespaces.enter(opening.attributes)
  opening.name = namespaces.canonicalName(opening.name)
  tree.opening = null
}

/** Closes the innermost element; `end` is where its content ends. */
function closeElement(tree: Tree, end: number): void {
  completeOpening(tree)
  const { open } = tree
  if (open.parent === null) return
  open.end = Math.max(open.start, end)
  tree.open = open.parent
  tree.namespaces.leave()
  tree.depth -= 1
}

/** Shared, because most elements have no attributes: empty maps for all would take much memory. */
const NO_ATTRIBUTES: ReadonlyMap<string, string> = new Map()

/**
 * Resolves one `xml:base` against the bases around it. Text that is no address, or too long for
 * one, changes nothing.
 */
function resolveBase(written: string, around: string | null): string | null {
  if (written.length > ADDRESS_LIMIT) return around
  const href = URL.parse(written.trim(), around ?? undefined)?.href ?? null
  return href === null || href.length > ADDRESS_LIMIT ? around : href
}

/**
 * Removes the document type. The parser ends it too early when it holds declarations, and we need
 * none of it.
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
