import { Parser } from 'htmlparser2'

/**
 * An element as the text stages need it. Scripts, styles, controls and their contents are left out.
 */
export interface Element {
  name: string
  attributes: Record<string, string>
  children: Node[]
  parent: Element | null
  /** Position in reading order; 0 is the root. */
  index: number
}
type Node = Element | string

/** Elements whose content is not text of the page, or appears only when scripts run. */
const UNREAD = new Set(
  'script style template noscript svg math iframe object embed canvas video audio map select textarea button datalist'.split(
    ' ',
  ),
)

/** Attributes that a stage reads, and the characters that are kept of each. */
const NAMING = ['data-testid', 'data-test', 'data-qa', 'data-component', 'data-name', 'data-gu-name']
const KEPT = new Set([
  ...'class id role rel itemprop property name content href hidden style aria-hidden aria-modal'.split(' '),
  ...NAMING,
])
const LONGEST_ATTRIBUTE = 2_000

/**
 * Most text that is read, in UTF-16 units: as much as a novel. Twice as much would hold up the
 * indexing thread.
 */
export const MAX_TEXT = 500_000
/**
 * Most characters times the elements around them: text extractors read a text once for each element
 * around it. The limit lets `MAX_TEXT` through at depth 40; real pages have their text at depths of
 * 15 to 30.
 */
const MAX_TEXT_IN_DEPTH = 20_000_000

/**
 * Builds the elements and texts of a page below a root of its own. Expects bounded markup
 * (`bounds.ts`).
 */
export function parseTree(html: string): Element {
  const root: Element = { name: '#root', attributes: {}, children: [], parent: null, index: 0 }
  let current = root
  let index = 0
  let unread = 0
  let depth = 0
  let room = MAX_TEXT
  let deepRoom = MAX_TEXT_IN_DEPTH
  const parser = new Parser({
    onopentag(name, attributes) {
      if (unread > 0 || UNREAD.has(name)) {
        unread += 1
        return
      }
      index += 1
      const element: Element = { name, attributes: kept(attributes), children: [], parent: current, index }
      current.children.push(element)
      current = element
      depth += 1
    },
    ontext(whole) {
      if (unread > 0 || room === 0 || deepRoom === 0) return
      const text = whole.slice(0, Math.min(room, Math.ceil(deepRoom / (depth + 1))))
      room -= text.length
      deepRoom = Math.max(0, deepRoom - text.length * (depth + 1))
      const last = current.children.length - 1
      const before = current.children[last]
      if (typeof before === 'string') current.children[last] = before + text
      else current.children.push(text)
    },
    onclosetag() {
      if (unread > 0) unread -= 1
      else {
        current = current.parent ?? root
        depth -= 1
      }
    },
  })
  parser.end(html)
  return root
}

function kept(attributes: Record<string, string>): Record<string, string> {
  const short: Record<string, string> = {}
  for (const name in attributes) if (KEPT.has(name)) short[name] = (attributes[name] ?? '').slice(0, LONGEST_ATTRIBUTE)
  return short
}

/**
 * Calls `visit` for every element below `root` in reading order. When `visit` returns false, the
 * elements below are left out.
 */
export function walk(root: Element, visit: (element: Element) => unknown): void {
  for (const child of root.children) {
    if (typeof child !== 'string' && visit(child) !== false) walk(child, visit)
  }
}

/** The text of a node and of all nodes below it, with its whitespace. */
export function textOf(node: Node): string {
  return typeof node === 'string' ? node : node.children.map(textOf).join('')
}

/** The element, then its ancestors. */
export function* upwards(element: Element): Generator<Element> {
  for (let at: Element | null = element; at !== null; at = at.parent) yield at
}

/** The names that an outlet gives an element: class, id, role and the like, in lower case. */
export function label({ attributes }: Element): string {
  const { class: className = '', id = '', role = '', itemprop = '' } = attributes
  // WordPress writes an article's tags and categories into its classes. They name the subject, not
  // the layout.
  const classes = className.includes('hentry') ? className.replace(SUBJECT_CLASS, '') : className
  let names = `${classes} ${id} ${role} ${itemprop}`
  for (const attribute of NAMING) if (attribute in attributes) names += ` ${attributes[attribute]}`
  return names.toLowerCase()
}

const SUBJECT_CLASS = /(?<!\S)(tag|category|author|topic)-\S+/g

/**
 * Keeps at most 30 combining marks in a row, as in Unicode's Stream-Safe Text Format (UAX #15, 13).
 * Normalising sorts the marks of a letter, in time quadratic in their number: 100,000 of them took
 * five seconds.
 */
export function boundMarks(text: string): string {
  return text.replace(MANY_MARKS, '$1')
}

const MANY_MARKS = /(\p{M}{30})\p{M}+/gu
