import { type CheerioAPI, load } from 'cheerio/slim'
import { DomHandler, DomUtils, Parser, type parseDocument } from 'htmlparser2'
import { PAGE_LIMITS } from '#shared/articles/plain-text'
import { boundMarkup, MAX_DEPTH } from './bounds.ts'

type Node = ReturnType<typeof parseDocument>['children'][number]
/** An element of the tree that cheerio searches (`domhandler`). */
export type Element = Extract<Node, { attribs: object }>

/** A page that is parsed once for all stages, which must not change it. */
export interface Page {
  /** The markup as the outlet served it. */
  html: string
  /** Selects elements of the tree. */
  $: CheerioAPI
  /** The element around the whole tree. */
  root: Element
}

/**
 * Elements whose content is not text of the page, or appears only when scripts run. They are left
 * out. Only scripts with JSON-LD are kept.
 */
const UNREAD = new Set(
  'script style template noscript svg math iframe object embed canvas video audio map select textarea datalist'.split(
    ' ',
  ),
)
/** Elements of `UNREAD` that play a video or a sound. They are kept, without content. */
const PLAYERS = new Set(['video', 'audio', 'iframe', 'embed', 'object'])
const JSON_LD = /^\s*application\/(?:ld\+json|json\+ld)/i

/** The most characters of an attribute that are kept. Longer addresses are refused. */
const LONGEST_ATTRIBUTE = 4_096
/** The most characters of JSON-LD that are kept of a page. */
const MAX_JSON_LD = 4_000_000

/** The most text that is read of a page, in UTF-16 units. */
const MAX_TEXT = PAGE_LIMITS.body
/**
 * The most characters, each counted once for every element around it, because text extractors read
 * a text once for each such element. The limit allows `MAX_TEXT` at depth 40; real pages have their
 * text at depths of 15 to 30.
 */
const MAX_TEXT_IN_DEPTH = 20_000_000

/**
 * Reads a page into a tree of bounded size, number of tags and depth (`bounds.ts`), with a bounded
 * length of text. Never throws.
 */
export function parsePage(html: string): Page {
  const handler = new DomHandler(undefined, { withStartIndices: true })
  let unread = 0
  let depth = 0
  let inJsonLd = false
  const room = { text: MAX_TEXT, deep: MAX_TEXT_IN_DEPTH, jsonLd: MAX_JSON_LD }
  const parser = new Parser({
    onparserinit: own => handler.onparserinit(own),
    onopentag(name, attributes) {
      const isJsonLd = name === 'script' && JSON_LD.test(attributes.type ?? '')
      const isPlace = name === 'template' && STREAMED.test(attributes.id ?? '')
      if (unread > 0 || (UNREAD.has(name) && !isJsonLd)) {
        if (unread === 0 && (PLAYERS.has(name) || isPlace)) {
          handler.onopentag(name, shortened(attributes))
          handler.onclosetag()
        }
        unread += 1
        return
      }
      inJsonLd = isJsonLd
      depth += 1
      handler.onopentag(name, shortened(attributes))
    },
    ontext(whole) {
      if (unread > 0) return
      const text = whole.slice(
        0,
        inJsonLd ? room.jsonLd : Math.min(room.text, Math.ceil(room.deep / (depth + 1))),
      )
      if (inJsonLd) room.jsonLd -= text.length
      else {
        room.text -= text.length
        room.deep = Math.max(0, room.deep - text.length * (depth + 1))
      }
      if (text !== '') handler.ontext(text)
    },
    onclosetag() {
      if (unread > 0) {
        unread -= 1
        return
      }
      inJsonLd = false
      depth -= 1
      handler.onclosetag()
    },
  })
  handler.onopentag('#page', {})
  const root = handler.root.children.find(isElement)!
  root.startIndex = -1
  parser.end(boundMarkup(html))
  removeButtons(root)
  placeStreamed(root)
  return { html, $: load(handler.root), root }
}

/**
 * React sends a part that takes long at the end of the page, as hidden element `S:1`. A script puts
 * it in the place of the template `B:1`. This does the same.
 */
const STREAMED = /^[BS]:[\da-f]{1,4}$/
/** The most parts that are placed, and the most elements around a place. */
const PARTS = 500
const AROUND_PLACE = MAX_DEPTH / 2

function placeStreamed(root: Element): void {
  const byId = new Map<string, Element>()
  walk(root, element => {
    const { id } = element.attribs
    if (id !== undefined && STREAMED.test(id) && !byId.has(id)) byId.set(id, element)
  })
  const parts = [...byId].filter(([id]) => id.startsWith('S')).slice(0, PARTS)
  for (const [id, part] of parts) {
    const place = byId.get(`B${id.slice(1)}`)
    // A part comes behind its place, so no part is put into itself, and none grows before it moves.
    if (
      place?.name !== 'template' ||
      positionOf(place) > positionOf(part) ||
      [...upwards(place)].length > AROUND_PLACE
    )
      continue
    DomUtils.removeElement(part)
    DomUtils.replaceElement(place, part)
    delete part.attribs.hidden
  }
}

/** The most characters of a word or term in a button. */
const TERM = 60

/** Removes buttons, but not the words of a sentence that explain themselves when clicked. */
function removeButtons(root: Element): void {
  const parents = new Set<Element>()
  walk(root, ({ name, parent }) => {
    if (name === 'button' && parent !== null && isElement(parent)) parents.add(parent)
  })
  for (const parent of parents) {
    const opening = parent.children.findIndex(
      child => DomUtils.isText(child) && /\p{L}/u.test(child.data),
    )
    // Backwards, because the text behind each button decides.
    let behind = ''
    const kept = parent.children.toReversed().filter((child, place, { length }) => {
      if (DomUtils.isText(child) && /\S/.test(child.data)) behind = child.data
      const isBegun = opening >= 0 && opening < length - 1 - place
      return !isElement(child) || child.name !== 'button' || isTerm(child, isBegun, behind)
    })
    parent.children = kept.reverse()
    for (const [at, child] of parent.children.entries()) {
      child.prev = parent.children[at - 1] ?? null
      child.next = parent.children[at + 1] ?? null
    }
  }
}

/**
 * Whether a button is a word of a sentence: short, in a paragraph or list item, with text of its
 * own on both sides, or with the rest of a sentence behind it.
 */
function isTerm(button: Element, isBegun: boolean, behind: string): boolean {
  const { parent } = button
  if (parent === null || !('name' in parent) || !SENTENCES.has(parent.name)) return false
  const word = DomUtils.innerText(button).trim()
  return (
    /^\p{L}[^.!?]*$/u.test(word) &&
    word.length <= TERM &&
    (isBegun ? /^\s*[\p{L}.,;:)!?]/u : /^\s*\p{Ll}/u).test(behind)
  )
}
const SENTENCES = new Set('p li td dd blockquote em i b strong span'.split(' '))

function shortened(attributes: Record<string, string>): Record<string, string> {
  for (const [name, value] of Object.entries(attributes)) {
    if (value.length > LONGEST_ATTRIBUTE) attributes[name] = value.slice(0, LONGEST_ATTRIBUTE)
  }
  return attributes
}

/** Whether a node is an element with text. Scripts with JSON-LD are not. */
export const isElement = (node: Node): node is Element => node.type === 'tag'

/** Whether an element plays a video or a sound. An `iframe` may also show an advertisement. */
export const isPlayer = ({ name, attribs }: Element): boolean =>
  PLAYERS.has(name) &&
  (name === 'video' || name === 'audio' || PLAYED.test(attribs.src ?? attribs.data ?? ''))
const PLAYED =
  /video|audio|podcast|player|youtu|vimeo|dailymotion|brightcove|jwplatform|soundcloud|spotify/i

/** The position of an element in reading order; -1 is the root. */
export const positionOf = (element: Element): number => element.startIndex ?? -1

/**
 * Calls `visit` for every element below `root` in reading order. When `visit` returns false, the
 * descendants of the element are skipped.
 */
export function walk(root: Element, visit: (element: Element) => unknown): void {
  for (const child of root.children)
    if (isElement(child) && visit(child) !== false) walk(child, visit)
}

/** The element, then its ancestors. */
export function* upwards(element: Element): Generator<Element> {
  for (let at: Element['parent'] = element; at !== null && at.type === 'tag'; at = at.parent)
    yield at
}

/** Whether an element is the container itself, or is inside it. */
export const isWithin = (element: Element, container: Element): boolean =>
  upwards(element).some(around => around === container)

/** Attributes that sites use to name an element for their tests and components. */
const NAMING = [
  'data-testid',
  'data-test',
  'data-qa',
  'data-component',
  'data-name',
  'data-gu-name',
]

/**
 * The names that an outlet gives an element, in lower case: class, id, role and similar attributes.
 */
export function label({ attribs }: Pick<Element, 'attribs'>): string {
  const { class: className = '', id = '', role = '', itemprop = '' } = attribs
  // WordPress adds an article's tags and categories to its classes. These name the subject, not the
  // layout.
  const classes = className.includes('hentry') ? className.replace(SUBJECT_CLASS, '') : className
  let names = `${classes} ${id} ${role} ${itemprop}`
  for (const attribute of NAMING) if (attribute in attribs) names += ` ${attribs[attribute]}`
  return names.toLowerCase()
}

const SUBJECT_CLASS = /(?<!\S)(tag|category|author|topic)-\S+/g
