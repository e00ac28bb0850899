import { Readability } from '@mozilla/readability'
import { DomUtils } from 'htmlparser2'
import { parseHTML } from 'linkedom'
import { type Element, isElement, positionOf, walk } from '../markup/tree.ts'
import { isHidden, isHiddenByStyle } from './prune.ts'

/**
 * The positions (`positionOf`) of the elements that Mozilla's Readability takes for the article;
 * null when it finds none. Readability gets a document that is written from the tree without the
 * `pruned` elements, and is therefore well-formed and bounded. Every element carries its position
 * in an attribute that Readability keeps.
 */
export function articleRegion(root: Element, pruned: ReadonlySet<Element>): Set<number> | null {
  const { document } = parseHTML(writeDocument(root, pruned))
  try {
    const reader = new Readability<Set<number>>(document, {
      charThreshold: CHARACTER_THRESHOLD,
      keepClasses: true,
      disableJSONLD: true,
      serializer: placesIn,
    })
    return reader.parse()?.content ?? null
  } catch {
    // Readability expects an order of elements that broken pages do not have.
    return null
  }
}

/**
 * When Readability finds fewer characters, it tries again with looser rules. Short news items have
 * 300; the default is 500.
 */
const CHARACTER_THRESHOLD = 250
/**
 * The name of the attribute holds the position, not its value. When Readability merges a parent
 * with its only child, it keeps the attributes of both, but of two with one name only the parent's.
 */
const PLACE = 'place-'
/** Attributes that Readability reads. */
const LOOKED_AT = ['class', 'id', 'role', 'rel', 'itemprop', 'property', 'hidden', 'aria-hidden', 'aria-modal']
/** Of `LOOKED_AT`, those that make Readability drop an element. */
const HIDING = new Set(['hidden', 'aria-hidden', 'aria-modal'])
/** Characters of text from which on all hidden parts stay hidden, so that they cost no time. */
const LARGE = 50_000
const LEFT_OUT = new Set(['head', 'title', 'meta', 'link', 'base', 'video', 'audio', 'iframe', 'embed', 'object'])

interface DomElement {
  querySelectorAll(selector: string): Iterable<{ attributes: Iterable<{ name: string }> }>
}

function placesIn(content: DomElement): Set<number> {
  const places = new Set<number>()
  for (const { attributes } of content.querySelectorAll('*')) {
    for (const { name } of attributes) if (name.startsWith(PLACE)) places.add(Number(name.slice(PLACE.length)))
  }
  return places
}

function writeDocument(root: Element, pruned: ReadonlySet<Element>): string {
  let title = ''
  walk(root, element => {
    if (element.name === 'title') title ||= DomUtils.innerText(element)
    return undefined
  })
  return `<!doctype html><html><head><title>${harmless(title)}</title></head><body>${write(root, { pruned, wrappers: hiddenWrappers(root, pruned) })}</body></html>`
}

/**
 * The hidden elements with more than half of the page's text: nothing else on the page is the
 * article, which a script opens. Readability is not told that they are hidden.
 */
function hiddenWrappers(root: Element, pruned: ReadonlySet<Element>): Set<Element> {
  const lengths = new Map<Element, number>()
  const measure = (node: Element['children'][number]): number => {
    if (DomUtils.isText(node)) return node.data.length
    if (!isElement(node) || pruned.has(node)) return 0
    const length = node.children.reduce((sum, child) => sum + measure(child), 0)
    if (isHidden(node)) lengths.set(node, length)
    return length
  }
  const whole = measure(root)
  return new Set([...lengths.keys()].filter(hidden => whole < LARGE && (lengths.get(hidden) ?? 0) > whole / 2))
}

interface Writing {
  pruned: ReadonlySet<Element>
  wrappers: ReadonlySet<Element>
}

function write(parent: Element, writing: Writing): string {
  // Readability puts loose text into new paragraphs. It may then drop the element around the text,
  // with its position.
  const wrapped = !KEEPS_ITS_NAME.has(parent.name)
  let html = ''
  for (const node of parent.children) {
    if (DomUtils.isText(node)) {
      const text = harmless(node.data)
      html += wrapped && /\S/.test(text) ? `<span ${PLACE}${positionOf(parent)}>${text}</span>` : text
    } else if (isElement(node) && !writing.pruned.has(node)) html += writeElement(node, writing)
  }
  return html
}

function writeElement(element: Element, writing: Writing): string {
  const { name } = element
  if (name === 'html' || name === 'body') return write(element, writing)
  // Readability removes images without a source, and counts images to tell galleries from text.
  if (name === 'img') return '<img src="x.jpg">'
  if (name === 'br' || name === 'hr' || name === 'input') return `<${name}>`
  if (LEFT_OUT.has(name) || !NAME.test(name)) return ''
  const written = attributes(element, !writing.wrappers.has(element))
  return `<${name} ${PLACE}${positionOf(element)}${written}>${write(element, writing)}</${name}>`
}
const KEEPS_ITS_NAME = new Set(
  'p h1 h2 h3 h4 h5 h6 li pre blockquote dt dd a b i em strong span u q s sub sup small code font cite abbr mark time label'.split(
    ' ',
  ),
)

function attributes(element: Element, hides: boolean): string {
  let written = element.name === 'a' && 'href' in element.attribs ? ' href="/"' : ''
  // Readability wants nothing else from a style, and whole styles would be slow to read.
  if (hides && isHiddenByStyle(element)) written += ' style="display:none"'
  for (const name of LOOKED_AT) {
    if (!hides && HIDING.has(name)) continue
    const value = element.attribs[name]
    if (value !== undefined) written += ` ${name}="${harmless(value)}"`
  }
  return written
}

const NAME = /^[a-z][a-z0-9-]*$/
/**
 * Replaces markup characters. The text itself is never read back, only measured. Entities would be
 * slow, because each becomes a text node of its own.
 */
const harmless = (text: string) => text.replace(/[&<>"]/g, '+')
