import { type Json, parseJson } from '#shared/encoding/json'

/*
 * JSON-LD is the best statement of a page about itself, but is often broken. The code repairs it
 * where that is safe, and otherwise searches it for single fields. Everything has limits, because
 * pages may be hostile.
 */

/** One thing that the page describes about itself (schema.org). Texts as written. */
export interface StatedThing {
  types: string[]
  /** `@id`, `url` and `mainEntityOfPage`. */
  addresses: string[]
  headline: string | null
  published: string[]
  authors: StatedAuthor[]
  publisher: string | null
  language: string | null
  body: string | null
  /** `isAccessibleForFree`; null when the page does not state it. */
  free: boolean | null
  /** Whether a part is for subscribers (schema.org `hasPart`). */
  partly: boolean
  /** CSS selectors of these parts. */
  paidParts: string[]
  /** `articleSection`. */
  sections: string[]
  genres: string[]
}

/** A step of a breadcrumb trail, from the site's start to the page (schema.org BreadcrumbList). */
export interface Crumb {
  name: string
  address: string | null
}

/** Everything that a page's JSON-LD says of its article. */
export interface LinkedData {
  /** What could be the article, in document order. */
  things: StatedThing[]
  trails: Crumb[][]
}

const THINGS = 200
const ADDRESSES = 20
/** The most characters of a headline. */
const LONGEST = 2_000

/**
 * Reads the page's JSON-LD. From a script that cannot be parsed, single fields are read where
 * possible.
 */
export function linkedDataIn(scripts: string[]): LinkedData {
  const roots: Json[] = []
  const salvaged: StatedThing[] = []
  for (const script of scripts) {
    const parsed = parseTolerantly(script)
    if (parsed !== undefined) roots.push(parsed)
    else salvaged.push(...salvage(script))
  }
  const { all, described } = nodesOf(roots)
  const byId = nodesById(all)
  const things = described.slice(0, THINGS).map(node => describe(node, byId))
  return { things: [...things, ...salvaged], trails: trailsIn(all) }
}

/** The most breadcrumb trails of a page, and the most steps of one. */
const TRAILS = 5
const CRUMBS = 20

const trailsIn = (nodes: JsonLdNode[]): Crumb[][] =>
  nodes
    .filter(node => typesOf(node).includes('breadcrumblist'))
    .slice(0, TRAILS)
    .map(node =>
      [get(node, 'itemListElement') ?? null]
        .flat()
        .filter(isNode)
        .slice(0, CRUMBS)
        .toSorted((a, b) => Number(get(a, 'position') ?? 0) - Number(get(b, 'position') ?? 0))
        .flatMap(crumbOf),
    )

function crumbOf(node: JsonLdNode): Crumb[] {
  const item = get(node, 'item')
  const name = [node, item].flatMap(one => (isNode(one) ? textsIn(one, 'name') : []))[0]
  const address = [...textsOf(item), ...idsOf(item), ...idsOf(node)][0] ?? null
  return name === undefined ? [] : [{ name: name.slice(0, LONGEST), address }]
}

/** For each `@id`, the first node that has more than this id. */
function nodesById(nodes: JsonLdNode[]): Map<string, JsonLdNode> {
  const byId = new Map<string, JsonLdNode>()
  for (const node of nodes) {
    const id = node['@id']
    if (typeof id === 'string' && Object.keys(node).length > 1 && !byId.has(id)) byId.set(id, node)
  }
  return byId
}

function describe(node: JsonLdNode, byId: Map<string, JsonLdNode>): StatedThing {
  const own = get(node, 'mainEntityOfPage')
  const paid = paidPartsOf(node, byId)
  const authors = authorsIn(get(node, 'author'), byId)
  const addresses = [
    ...textsIn(node, 'url'),
    ...textsIn(node, '@id'),
    ...textsOf(own),
    ...idsOf(own),
  ]
  return {
    types: typesOf(node),
    addresses: addresses.slice(0, ADDRESSES),
    headline: (textsIn(node, 'headline')[0] ?? textsIn(node, 'name')[0])?.slice(0, LONGEST) ?? null,
    published: publishedIn(node),
    authors: authors.length > 0 ? authors : authorsIn(get(node, 'creator'), byId),
    publisher: authorsIn(get(node, 'publisher'), byId)[0]?.name ?? null,
    language: textsIn(node, 'inLanguage')[0] ?? null,
    body: textsIn(node, 'articleBody')[0] ?? (ofUpdates(node, 'articleBody').join('\n\n') || null),
    free: freeOf(get(node, 'isAccessibleForFree')),
    partly: paid.length > 0,
    paidParts: paid.flatMap(part => textsIn(part, 'cssSelector')),
    sections: textsIn(node, 'articleSection').map(text => text.slice(0, LONGEST)),
    genres: textsIn(node, 'genre').map(text => text.slice(0, LONGEST)),
  }
}

/** The parts of an article that are for subscribers. */
const paidPartsOf = (node: JsonLdNode, byId: Map<string, JsonLdNode>): JsonLdNode[] =>
  [get(node, 'hasPart') ?? null]
    .flat()
    .filter(isNode)
    .slice(0, TEXTS)
    .map(part => byId.get(textsOf(part['@id'])[0] ?? '') ?? part)
    .filter(part => freeOf(get(part, 'isAccessibleForFree')) === false)

/** The texts of one property of a live blog's entries. */
const ofUpdates = (node: JsonLdNode, name: string) =>
  [get(node, 'liveBlogUpdate') ?? null]
    .flat()
    .filter(isNode)
    .slice(0, ITEMS)
    .flatMap(update => textsIn(update, name))

/**
 * The dates of publication. For a live blog without such a date: the beginning of its coverage,
 * then the date of its oldest entry.
 */
function publishedIn(node: JsonLdNode): string[] {
  const own = ['datePublished', 'dateCreated', 'uploadDate'].flatMap(name => textsIn(node, name))
  if (own.length > 0 || !typesOf(node).includes('liveblogposting')) return own
  const oldest = ofUpdates(node, 'datePublished').sort((a, b) => Date.parse(a) - Date.parse(b))
  return [...textsIn(node, 'coverageStartTime'), ...oldest.slice(0, 1)]
}

/**
 * Reads `true`, `"True"`, `"https://schema.org/False"` and similar values; null for any other
 * value.
 */
function freeOf(value: Json | undefined): boolean | null {
  const text = textsOf(value)[0]?.toLowerCase() ?? String(value ?? '')
  if (/^(?:true|1|yes|.*\/true)$/.test(text)) return true
  return /^(?:false|0|no|.*\/false)$/.test(text) ? false : null
}

/** Finds fields by their names in a script that a stray quote has broken. */
function salvage(script: string): StatedThing[] {
  const field = (name: string) =>
    new RegExp(`"${name}"\\s*:\\s*"((?:[^"\\\\]|\\\\.){1,500})"`).exec(script)?.[1] ?? null
  const published = field('datePublished')
  const headline = field('headline')
  if (published === null && headline === null) return []
  const [block = ''] =
    /"author"\s*:\s*[[{]([^\]]{0,2000})/
      .exec(script)?.[1]
      ?.split(/"(?:publisher|image|logo)"/, 1) ?? []
  const names = block.matchAll(/"name"\s*:\s*"((?:[^"\\]|\\.){1,200})"/g)
  const author = Array.from(names, ([, name = '']) => ({ name: unquote(name) }))
  const node = {
    '@type': 'Article',
    headline: headline && unquote(headline),
    datePublished: published,
    author,
  }
  return [describe(node, new Map())]
}

/**
 * Parses a JSON-LD script, in spite of the wrappers that outlets put around it and the mistakes of
 * their templates. Undefined when it cannot be repaired.
 */
function parseTolerantly(script: string): Json | undefined {
  const bare = script
    .replace(/^\s*(?:<!--|\/\*\s*<!\[CDATA\[\s*\*\/|\/\/\s*<!\[CDATA\[|<!\[CDATA\[)/, '')
    .replace(/(?:-->|\/\*\s*\]\]>\s*\*\/|\/\/\s*\]\]>|\]\]>)\s*$/, '')
    .replace(/^\uFEFF/, '')
    .trim()
    .replace(/;$/, '')
  if (bare === '') return undefined
  return parseJson(bare) ?? parseJson(mend(bare)) ?? parseJson(mend(bare.replaceAll('&quot;', '"')))
}

/** Reads the content of a JSON string. If its escapes are broken, the text stays unchanged. */
function unquote(text: string): string {
  const value = parseJson(`"${text}"`)
  return typeof value === 'string' ? value : text
}

/**
 * Removes comments. Repairs raw line breaks and tabs inside strings, escapes that JSON does not
 * know, commas before a closing bracket, and two objects in a row.
 */
function mend(text: string): string {
  const mended = text
    .replace(/("(?:[^"\\]|\\[\s\S])*(?:"|\\?$))|\/\*[\s\S]*?(?:\*\/|$)|\/\/.*/g, '$1')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what breaks the parser
    .replace(/[\u0000-\u0020]+/g, ' ')
    .replace(/\\(?!["\\/bfnrtu])/g, '\\\\')
    .replace(/\\u(?![0-9a-fA-F]{4})/g, '\\\\u')
    .replace(/,\s*(?=[}\]])/g, '')
  return /\} ?,? ?\{/.test(mended) && mended.startsWith('{')
    ? `[${mended.replace(/\} ?\{/g, '},{')}]`
    : mended
}

/** A person or an organisation in structured data. */
export interface StatedAuthor {
  name: string
  organisation: boolean
  /**
   * Whether this is the account that posted the article. Yoast SEO states that account even when
   * readers do not see it.
   */
  account: boolean
}

/** The most characters of a name. */
const LONGEST_NAME = 2_000
const AUTHOR_NODES = 200
const AUTHOR_DEPTH = 3
const ORGANISATION = /organi[sz]ation|newsmedia|corporation|brand|website/

/**
 * The authors that a property names: texts, objects, references, or lists of these. At most
 * `AUTHOR_NODES` values are read, because a page of 60 kB can refer to a list of authors ten
 * thousand times.
 */
const authorsIn = (value: Json | undefined, byId: Map<string, JsonLdNode>): StatedAuthor[] =>
  flattened(value, 0)
    .take(AUTHOR_NODES)
    .flatMap(one => (one === null ? [] : authorsOf(one, byId)))
    .take(TEXTS)
    .toArray()

/**
 * The texts and objects of a value, with lists opened up to `AUTHOR_DEPTH`. Every other value, and
 * each list itself, yields a null, so that the caller can count it.
 */
function* flattened(value: Json | undefined, depth: number): Generator<string | JsonLdNode | null> {
  for (const one of Array.isArray(value) ? value.slice(0, TEXTS) : [value]) {
    if (typeof one === 'string') yield one
    else if (one === undefined || one === null || typeof one !== 'object' || depth > AUTHOR_DEPTH)
      yield null
    else if (isNode(one) && listIn(one) === undefined) yield one
    else {
      yield null
      yield* flattened(isNode(one) ? listIn(one) : one, depth + 1)
    }
  }
}

/** The list or item that an object wraps (JSON-LD 1.1, §4.3; schema.org's ItemList and Role). */
const listIn = (node: JsonLdNode) =>
  node['@list'] ?? node['@set'] ?? node.itemListElement ?? node.item ?? node.author

function authorsOf(one: string | JsonLdNode, byId: Map<string, JsonLdNode>): StatedAuthor[] {
  if (typeof one === 'string') return stated([one.trim()], { organisation: false, account: false })
  const id = one['@id']
  const node =
    get(one, 'name') === undefined && typeof id === 'string' ? (byId.get(id) ?? one) : one
  const names = textsIn(node, 'name')
  const parts = ['givenName', 'additionalName', 'familyName'].flatMap(part =>
    textsIn(node, part).slice(0, 1),
  )
  return stated(names.length > 0 ? names : [parts.join(' ')], {
    organisation: typesOf(node).some(type => ORGANISATION.test(type)),
    account: textsOf(node['@id']).some(own => own.includes('#/schema/person/')),
  })
}

const stated = (
  names: string[],
  kind: Pick<StatedAuthor, 'organisation' | 'account'>,
): StatedAuthor[] =>
  names.filter(name => name !== '').map(name => ({ name: name.slice(0, LONGEST_NAME), ...kind }))

/** An object of JSON-LD (JSON-LD 1.1, "node object"). */
export type JsonLdNode = { [key: string]: Json }

const NODES = 20_000
/** The most texts of one property. */
const TEXTS = 50
const KEYS = 200
const ITEMS = 1_000

/**
 * Links from an article to other things. An object below such a link is not this page's article.
 */
const ELSEWHERE = new Set(
  `ispartof haspart mentions about citation relatedlink comment review reviews itemreviewed
   isbasedon liveblogupdate author publisher image video breadcrumb potentialaction creator`.split(
    /\s+/,
  ),
)

const DESCRIBED =
  /article|posting|blogpost|webpage|itempage|report|recipe|review$|creativework|videoobject|podcastepisode|newsletter|claimreview/

/** A value that the walk has not visited yet. `own`: no link to another thing leads to it. */
interface Waiting {
  value: Json
  own: boolean
}

/**
 * All objects of a page's data in document order, and those that may be its article. The walk uses
 * no recursion, because a page may nest a hundred thousand arrays.
 */
function nodesOf(roots: Json[]): { all: JsonLdNode[]; described: JsonLdNode[] } {
  const all: JsonLdNode[] = []
  const described: JsonLdNode[] = []
  const waiting: Waiting[] = roots.map(value => ({ value, own: true })).reverse()
  for (let seen = 0; seen < NODES; seen += 1) {
    const next = waiting.pop()
    if (next === undefined) break
    const { value, own } = next
    if (isNode(value)) {
      all.push(value)
      if (own && typesOf(value).some(type => DESCRIBED.test(type))) described.push(value)
    }
    // The value that is pushed last is visited first.
    waiting.push(...childrenOf(value, own).reverse())
  }
  return { all, described }
}

function childrenOf(value: Json, own: boolean): Waiting[] {
  if (Array.isArray(value)) {
    return value
      .slice(0, ITEMS)
      .filter(isContainer)
      .map(child => ({ value: child, own }))
  }
  if (!isNode(value)) return []
  return Object.entries(value)
    .slice(0, KEYS)
    .filter(([, child]) => isContainer(child))
    .map(([key, child]) => ({ value: child, own: own && !ELSEWHERE.has(key.toLowerCase()) }))
}

const isContainer = (value: Json): boolean => value !== null && typeof value === 'object'

export const isNode = (value: Json | undefined): value is JsonLdNode =>
  value !== null && typeof value === 'object' && !Array.isArray(value)

/** Reads a property, without regard to case or to a prefix `schema:` or `http://schema.org/`. */
function get(node: JsonLdNode, name: string): Json | undefined {
  if (name in node) return node[name]
  const wanted = name.toLowerCase()
  for (const key of Object.keys(node).slice(0, KEYS)) {
    if (key.toLowerCase().replace(/^(?:schema:|https?:\/\/schema\.org\/)/, '') === wanted)
      return node[key]
  }
  return undefined
}

/** The types of a node in lower case, without the vocabulary's address. */
const typesOf = (node: JsonLdNode): string[] =>
  textsIn(node, '@type').map(type => type.toLowerCase().replace(/^.*[/:#]/, ''))

/** The texts of a property: one or a list, plain or as `{"@value": …}`. */
function textsOf(value: Json | undefined): string[] {
  const flat = Array.isArray(value) ? value.slice(0, TEXTS) : [value]
  return flat.flatMap(one => {
    if (typeof one === 'string') return one.trim() === '' ? [] : [one.trim()]
    if (typeof one === 'number') return [String(one)]
    if (!isNode(one)) return []
    const inner =
      one['@value'] ?? (one['@type'] === 'Language' ? (one.alternateName ?? one.name) : undefined)
    return typeof inner === 'string' ? [inner.trim()] : []
  })
}

const textsIn = (node: JsonLdNode, name: string): string[] => textsOf(get(node, name))

/** The addresses of the thing that a property names. */
const idsOf = (value: Json | undefined): string[] =>
  isNode(value) ? [...textsIn(value, '@id'), ...textsIn(value, 'url')] : []

/** A thing of which the page says nothing. */
export const NO_THING: StatedThing = describe({}, new Map())
