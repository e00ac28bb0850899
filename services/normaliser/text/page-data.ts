import { isLanguage, isRelated, totalLength } from '#services/normaliser/languages/phrases'
import { collapse, fold } from '#services/normaliser/markup/plain'
import { isNode, type JsonLdNode } from '#services/normaliser/metadata/jsonld'
import { valuesIn } from '#services/normaliser/metadata/script-values'
import { addressKey, readAddress } from '#shared/articles/address'
import { plainText } from '#shared/articles/plain-text'
import type { Json } from '#shared/encoding/json'
import { type Access, accessOf, accessWithin, PAID, WALL } from './access.ts'
import { isChaffLine } from './chaff.ts'
import { feedText } from './feed-text.ts'

/*
 * A page that a script builds may have its article only in the data of that script. The text is
 * read by the structure of the data: an object with the title or the address of the page, and in it
 * a list of blocks, or one text of several paragraphs. Any sign of a wall forbids it.
 */

/** The facts about a page by which its article is recognised in its data. */
interface Sought {
  /** Titles of the article, from the feed and from the page. */
  titles: string[]
  url: string
  /** Whether the page states that everybody may read the article. */
  free: boolean
}

interface Keyed extends Sought {
  /** The titles without marks and case. */
  folded: string[]
  /** The key of the page's address; null: it is none. */
  key: string | null
  /** The longest name in the address. Other forms of the address contain it. */
  tail: string
}

/** The most values inside the data that are looked at, and their depth. */
const NODES = 50_000
const DEPTH = 40
/** The most objects that are taken for the article, and the most characters of their texts. */
const ARTICLES = 20
const MAX_TEXTS = 1_000_000
/** The characters that each text counts for at least, because each costs time. */
const EACH = 200
/** Fewest characters of an article's text. A shorter one may announce it. */
const SHORTEST = 200

/** The text of the article in the data of a page's scripts; null without one that all may read. */
export function textInData(html: string, sought: Sought): string | null {
  // A text that must not be quoted cannot be told from the rest, once it is plain.
  if (/data-nosnippet/i.test(html)) return null
  const reading: Reading = { room: MAX_TEXTS, paid: false }
  const own = readAddress(sought.url)
  const names = own?.pathname.match(/[\w-]+/g) ?? []
  const keyed = {
    ...sought,
    folded: sought.titles.map(fold),
    key: own && addressKey(own),
    tail: names.toSorted((a, b) => b.length - a.length)[0] ?? '',
  }
  const found = articlesIn(valuesIn(html), keyed).map(article => {
    const paragraphs = bodyOf(article.node, keyed, reading)
    return { ...article, text: paragraphs.filter(isLanguage).join('\n\n') }
  })
  const best = found
    .filter(({ text }) => text.length >= SHORTEST)
    .sort((a, b) => b.text.length - a.text.length)[0]
  if (best === undefined || reading.paid || found.some(({ access }) => access === 'paid'))
    return null
  return sought.free || best.access === 'free' || !WALL.test(html) ? best.text : null
}

/** What still may be read of the data, and whether a block of the text was for subscribers. */
interface Reading {
  room: number
  paid: boolean
}

interface FoundArticle {
  node: JsonLdNode
  access: Access
}

/** The objects that have a title or the address of the page, and who may read them. */
function articlesIn(roots: Json[], sought: Keyed): FoundArticle[] {
  const found: FoundArticle[] = []
  const waiting = roots.map(value => ({ value, depth: 0, isPaid: false }))
  for (let seen = 0; seen < NODES && found.length < ARTICLES; seen += 1) {
    const next = waiting.pop()
    if (next === undefined) break
    const { value: node } = next
    const isPaid = next.isPaid || (isNode(node) && accessOf(node) === 'paid')
    if (isNode(node) && isSought(node, sought))
      found.push({ node, access: isPaid ? 'paid' : accessWithin(node) })
    const inner = next.depth < DEPTH ? Object.values(node ?? {}) : []
    for (const value of inner.slice(0, NODES - waiting.length))
      if (typeof value === 'object') waiting.push({ value, depth: next.depth + 1, isPaid })
  }
  return found
}

const TITLE = /^(?:(?:head|page|seo|main)?_?title|headlines?|heading|name|titel|kop|titre|basic)$/i
const ADDRESS = /^(?:canonical_?)?(?:url|uri|link|permalink|href|path)$/i
const FEWEST_WORDS = 4

/** The titles of an object, also those in an object of titles, as in `{headlines: {basic}}`. */
const titlesOf = (node: JsonLdNode): string[] =>
  Object.entries(node)
    .filter(([key]) => TITLE.test(key))
    .flatMap(([, value]) => (isNode(value) ? Object.values(value) : [value]))
    .filter(value => typeof value === 'string')

function isSought(node: JsonLdNode, { folded, url, key: own, tail }: Keyed): boolean {
  const isHere = Object.entries(node).some(([key, value]) => {
    // Most addresses in the data lead elsewhere, and to read one takes long.
    if (typeof value !== 'string' || !value.includes(tail) || !ADDRESS.test(key)) return false
    const at = readAddress(value, url)
    return at !== null && at.pathname !== '/' && addressKey(at) === own
  })
  const isTitled = (title: string) => {
    const words = fold(title)
    return folded.some(
      known =>
        known === words ||
        (words.split(' ').length >= FEWEST_WORDS && isRelated(words, known, 0.7)),
    )
  }
  return isHere || titlesOf(node).some(title => title.length < 500 && isTitled(title))
}

/** Keys on the way from an article to its text, and keys of what is no part of it. */
const TEXT_KEY =
  /body|content|te?xte?|tekst|inhoud|corps|contenu|inhalt|html|block|paragraph|section|element|component|rendered|document|children|root|nodes|^(?:article|story|post|data|fields|attributes|value|main)$/i
const OTHER_KEY =
  /relat|comment|reacti|teaser|recommend|next|prev|transl|message|config|setting|legal|terms|cookie|polic|footer|header|newsletter|author|bio|promo|advert|^ads?$|seo|meta|image|media|caption|gallery|video|faq|context|alt/i
const LEAD = /^(?:lead|intro|introduction|standfirst|chapo|chapeau|vorspann|inleiding)$/i

/** The paragraphs of the longest text in an article's object, with its lead. */
function bodyOf(article: JsonLdNode, sought: Keyed, reading: Reading): string[] {
  const texts = textsIn(article, sought, reading).filter(({ length }) => length > 1)
  const best = texts.sort((a, b) => totalLength(b) - totalLength(a))[0] ?? []
  const known = fold(best.join(' '))
  const lead = Object.entries(article).flatMap(([key, value]) =>
    LEAD.test(key) && typeof value === 'string' ? paragraphsIn(value, reading) : [],
  )
  return [...lead.filter(text => !known.includes(fold(text))), ...best]
}

/** All texts in an object of an article, each as its paragraphs. */
const textsIn = (node: JsonLdNode, sought: Keyed, reading: Reading, depth = 4): string[][] =>
  Object.entries(node).flatMap(([key, value]) => {
    if (!TEXT_KEY.test(key) || OTHER_KEY.test(key)) return []
    if (typeof value === 'string') return [paragraphsIn(value, reading)]
    if (Array.isArray(value))
      return areThings(value) ? [] : [value.flatMap(block => blockTexts(block, reading))]
    return isNode(value) && depth > 0 && !isOther(value, sought)
      ? textsIn(value, sought, reading, depth - 1)
      : []
  })

const isOther = (node: JsonLdNode, sought: Keyed) =>
  titlesOf(node).length > 0 && !isSought(node, sought)

/** Whether a list has teasers, comments or posts: objects with an address or a person each. */
const areThings = (list: Json[]): boolean =>
  2 * list.filter(one => isNode(one) && Object.keys(one).some(key => THING.test(key))).length >
  list.length
const THING =
  /^(?:(?:canonical_?)?url|permalink|slug|author|user(?:_?name)?|(?:created|published|posted)(?:_?(?:at|on|date))?|date(?:_?published)?|timestamp|likes|votes)$/i

/** The paragraphs of one text, which may be HTML, also escaped once more. */
function paragraphsIn(text: string, reading: Reading): string[] {
  const own = text.slice(0, Math.max(0, reading.room))
  reading.room -= own.length + EACH
  const html = (/&lt;\/(?:p|div|h[1-6]|li)&gt;/i.test(own) ? plainText(own) : own) ?? ''
  // Without markup, each line is a paragraph.
  const pieces = /<[a-z!/]/i.test(html) ? [html] : html.split('\n')
  return pieces.flatMap(piece => feedText(piece)?.split('\n\n') ?? [])
}

const TYPE = ['type', '_type', 'nodeType', 'blockName', '__typename', 'component', 'kind', 'name']
const NO_TEXT =
  /image|picture|figure|photo|video|audio|embed|iframe|\bads?\b|advert|promo|newsletter|relat|read.?(?:more|also)|link.?list|interstitial|gallery|caption|button|poll|quiz|teaser|divider|tweet|social|author|weather|horoscope|raw_html|script/i
const INLINE =
  /^(?:text|span|.*link|a|b|i|u|strong|em|bold|italic|underline|mark|.*break|br|mention)$/i
const LIST = /list|doc|root|section|group/i
const TEXT = /^(?:te?xte?|tekst|content|html|innerhtml|value|body|data|paragraph|rendered|markup)$/i
const INNER = /^(?:children|content|spans|runs|nodes|items|elements|paragraphs|blocks|root)$/i
const WRAPPER = /^(?:data|props|fields|attributes|value|content|body|text)$/i
const BLOCK_DEPTH = 12

/** The paragraphs of one block of a text, in any of the forms that editors for the web store. */
function blockTexts(block: Json, reading: Reading, depth = 0): string[] {
  if (typeof block === 'string') return paragraphsIn(block, reading)
  if (!isNode(block) || depth > BLOCK_DEPTH) return []
  const type = typeOf(block)
  if (accessOf(block) === 'paid' || PAID.test(type)) reading.paid = true
  if (NO_TEXT.test(type)) return []
  const headings = titlesOf(block).filter(title => title !== type)
  const inside = Object.entries(block).flatMap(([key, value]) => {
    if (typeof value === 'string') return TEXT.test(key) ? paragraphsIn(value, reading) : []
    if (isNode(value))
      return WRAPPER.test(key) ? blockTexts({ ...value, type }, reading, depth + 1) : []
    if (!Array.isArray(value) || !INNER.test(key) || areThings(value)) return []
    return LIST.test(type) || key === 'items' || !value.every(isInline)
      ? value.flatMap(inner => blockTexts(inner, reading, depth + 1))
      : lineOf(value, reading)
  })
  return [...headings.slice(0, 1), ...inside]
}

/** One paragraph of parts that stand in a line. */
function lineOf(parts: Json[], reading: Reading): string[] {
  const line = collapse(parts.map(part => inlineText(part)).join('')).slice(
    0,
    Math.max(0, reading.room),
  )
  reading.room -= line.length + EACH
  return line === '' || isChaffLine(line, 0) ? [] : [line]
}

const typeOf = (node: JsonLdNode) =>
  TYPE.map(key => node[key])
    .find(value => typeof value === 'string')
    ?.toString() ?? ''

/** Whether a part of a block stands in a line with its neighbours. */
const isInline = (part: Json): boolean =>
  typeof part === 'string' || (isNode(part) && (typeOf(part) === '' || INLINE.test(typeOf(part))))

function inlineText(part: Json, depth = 0): string {
  if (typeof part === 'string') return part
  if (!isNode(part) || depth > BLOCK_DEPTH) return ''
  const texts = Object.entries(part).flatMap(([key, value]) => {
    if (Array.isArray(value) && INNER.test(key))
      return value.map(inner => inlineText(inner, depth + 1))
    return typeof value === 'string' && TEXT.test(key) ? value : ''
  })
  return texts.join('')
}
