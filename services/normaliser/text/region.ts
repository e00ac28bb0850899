import { Readability } from '@mozilla/readability'
import { parseHTML } from 'linkedom'
import { type Element, textOf, walk } from '../markup/tree.ts'
import { isHidden, isHiddenByStyle } from './prune.ts'

/**
 * The positions (`Element.index`) of the elements that Mozilla's Readability takes for the article;
 * null when it finds none. Readability gets a document that is written from the tree, and is
 * therefore well-formed and bounded. Every element carries its position in an attribute that
 * Readability keeps.
 */
export function articleRegion(root: Element): Set<number> | null {
  const { document } = parseHTML(writeDocument(root))
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
const HEAD = new Set(['head', 'title', 'meta', 'link', 'base'])

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

function writeDocument(root: Element): string {
  let title = ''
  walk(root, element => {
    if (element.name === 'title') title ||= textOf(element)
    return undefined
  })
  return `<!doctype html><html><head><title>${harmless(title)}</title></head><body>${write(root, hiddenWrappers(root))}</body></html>`
}

/**
 * The hidden elements with more than half of the page's text: nothing else on the page is the
 * article, which a script opens. Readability is not told that they are hidden.
 */
function hiddenWrappers(root: Element): Set<Element> {
  const wrappers = new Set<Element>()
  const { length } = textOf(root)
  if (length >= LARGE) return wrappers
  walk(root, element => {
    if (isHidden(element) && textOf(element).length > length / 2) wrappers.add(element)
  })
  return wrappers
}

function write(parent: Element, wrappers: ReadonlySet<Element>): string {
  // Readability puts loose text into new paragraphs. It may then drop the element around the text,
  // with its position.
  const wrapped = !KEEPS_ITS_NAME.has(parent.name)
  let html = ''
  for (const node of parent.children) {
    if (typeof node === 'string') {
      html += wrapped && /\S/.test(node) ? `<span ${PLACE}${parent.index}>${harmless(node)}</span>` : harmless(node)
    } else if (node.name === 'html' || node.name === 'body') html += write(node, wrappers)
    else if (node.name === 'br' || node.name === 'hr') html += `<${node.name}>`
    // Readability removes images without a source, and counts images to tell galleries from text.
    else if (node.name === 'img') html += '<img src="x.jpg">'
    else if (node.name === 'input') html += '<input>'
    else if (!HEAD.has(node.name) && NAME.test(node.name)) {
      html += `<${node.name} ${PLACE}${node.index}${attributes(node, !wrappers.has(node))}>${write(node, wrappers)}</${node.name}>`
    }
  }
  return html
}
const KEEPS_ITS_NAME = new Set(
  'p h1 h2 h3 h4 h5 h6 li pre blockquote dt dd a b i em strong span u q s sub sup small code font cite abbr mark time label'.split(
    ' ',
  ),
)

function attributes(element: Element, hides: boolean): string {
  let written = element.name === 'a' && 'href' in element.attributes ? ' href="/"' : ''
  // Readability wants nothing else from a style, and whole styles would be slow to read.
  if (hides && isHiddenByStyle(element)) written += ' style="display:none"'
  for (const name of LOOKED_AT) {
    if (!hides && HIDING.has(name)) continue
    const value = element.attributes[name]
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
