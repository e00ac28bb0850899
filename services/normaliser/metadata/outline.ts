import { type Attributes, readTags } from '../../../shared/markup/tags.ts'
import { type BodyOutline, beginBody, closeElement, endBody, isUnread, openElement, readText } from './outline-body.ts'
import { collapse } from './plain.ts'

/** The parts of a page that one pass over its tags finds. Nothing is judged yet. */
export interface Outline extends HeadOutline, BodyOutline {}

/** Reads a page once. Never throws. Its time grows linearly with the length, at any nesting. */
export function outlineOf(html: string): Outline {
  const head = beginHead()
  const body = beginBody()
  readTags(html, {
    open(name, attributes) {
      openHeadElement(head, name, attributes, isUnread(body))
      openElement(body, name, attributes)
    },
    close(name) {
      closeHeadElement(head, name)
      closeElement(body, name)
    },
    text(text) {
      if (!takeHeadText(head, text)) readText(body, text)
    },
  })
  endBody(body)
  return { ...head.outline, ...body.outline }
}

/** The statements of a page about itself: its head, its JSON-LD, its links. */
interface HeadOutline {
  /** The `lang` of the `html` element. */
  language: string | null
  title: string | null
  /**
   * Content of meta tags by name, property, itemprop or http-equiv, in lower case; in document
   * order.
   */
  metas: Map<string, string[]>
  links: { rel: string; href: string }[]
  /** `<link rel="alternate" hreflang>`: the page in several languages. */
  twins: { language: string; href: string }[]
  /** The first `<base href>`, as written. */
  base: string | null
  jsonLd: string[]
}

/** Characters of JSON-LD that are read of a page. */
const JSON_LD_LIMIT = 4_000_000
const META_NAMES = 1_000
const META_VALUES = 50
const LINKS = 500
const TWINS = 100
const TITLE_PIECES = 100
const TITLE_PIECE_LIMIT = 1_000

const JSON_LD_TYPE = /^application\/(?:ld\+json|json\+ld)/i
const LINK_RELATION = /\b(?:canonical|amphtml|shortlink)\b/

/** The position of a pass over a page, for its head. */
interface HeadState {
  outline: HeadOutline
  /** Pieces of the JSON-LD script that is open; null outside of one. */
  script: string[] | null
  jsonLdLength: number
  /** Pieces of the title that is open; null outside of it. */
  title: string[] | null
}

function beginHead(): HeadState {
  return {
    outline: { language: null, title: null, metas: new Map(), links: [], twins: [], base: null, jsonLd: [] },
    script: null,
    jsonLdLength: 0,
    title: null,
  }
}

/** @param unread the element stands inside one whose text no reader sees: a drawing's title */
function openHeadElement(state: HeadState, name: string, attributes: Attributes, unread: boolean): void {
  const { outline } = state
  if (name === 'meta') readMeta(outline, attributes)
  else if (name === 'link') readLink(outline, attributes)
  else if (name === 'base') outline.base ??= attributes.get('href')?.trim() ?? null
  else if (name === 'html') outline.language ??= attributes.get('lang') ?? attributes.get('xml:lang') ?? null
  else if (name === 'title' && outline.title === null && !unread) state.title = []
  else if (name === 'script' && JSON_LD_TYPE.test(attributes.get('type')?.trim() ?? '')) state.script = []
}

function closeHeadElement(state: HeadState, name: string): void {
  if (name === 'title' && state.title !== null) {
    state.outline.title = collapse(state.title.join(''))
    state.title = null
  }
  if (name === 'script' && state.script !== null) {
    state.outline.jsonLd.push(state.script.join(''))
    state.script = null
  }
}

/** Takes a text that belongs to the title or to JSON-LD. False: the text is the body's. */
function takeHeadText(state: HeadState, text: string): boolean {
  if (state.script !== null) {
    state.jsonLdLength += text.length
    if (state.jsonLdLength <= JSON_LD_LIMIT) state.script.push(text)
    return true
  }
  if (state.title === null) return false
  if (state.title.length < TITLE_PIECES) state.title.push(text.slice(0, TITLE_PIECE_LIMIT))
  return true
}

function readMeta({ metas }: HeadOutline, attributes: Attributes): void {
  const content = attributes.get('content') ?? attributes.get('value')
  if (content === undefined || content.trim() === '') return
  for (const attribute of ['property', 'name', 'itemprop', 'http-equiv']) {
    const name = attributes.get(attribute)?.trim().toLowerCase()
    if (!name || metas.size >= META_NAMES) continue
    const values = metas.get(name) ?? []
    if (values.length < META_VALUES) metas.set(name, [...values, content.trim()])
  }
}

function readLink({ links, twins }: HeadOutline, attributes: Attributes): void {
  const rel = attributes.get('rel')?.toLowerCase().trim()
  const href = attributes.get('href')?.trim()
  const language = attributes.get('hreflang')?.trim()
  if (rel && /\balternate\b/.test(rel) && href && language && twins.length < TWINS) twins.push({ language, href })
  if (rel && href && links.length < LINKS && LINK_RELATION.test(rel)) links.push({ rel, href })
}
