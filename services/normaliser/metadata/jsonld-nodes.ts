/** A JSON value, as `JSON.parse` gives it. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
/** An object of JSON-LD (JSON-LD 1.1, "node object"). */
export type JsonLdNode = { [key: string]: Json }

const NODES = 20_000
/** Of one property. */
export const TEXTS = 50
const KEYS = 200
const ITEMS = 1_000

/** Links from an article to other things: an object below one is not this page's article. */
const ELSEWHERE = new Set(
  `ispartof haspart mentions about citation relatedlink comment review reviews itemreviewed
   isbasedon liveblogupdate author publisher image video breadcrumb potentialaction creator`.split(/\s+/),
)

const DESCRIBED =
  /article|posting|blogpost|webpage|itempage|report|recipe|review$|creativework|videoobject|podcastepisode|newsletter|claimreview/

/** A value that the walk has still to visit. `own`: no link to another thing leads to it. */
interface Waiting {
  value: Json
  own: boolean
}

/**
 * All objects of a page's data in document order, and those among them that may be its article.
 * Walks without recursion: a page may nest a hundred thousand arrays.
 */
export function nodesOf(roots: Json[]): { all: JsonLdNode[]; described: JsonLdNode[] } {
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
    // The last one pushed is visited first.
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

function isContainer(value: Json): boolean {
  return value !== null && typeof value === 'object'
}

export function isNode(value: Json | undefined): value is JsonLdNode {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}

/** Properties are matched without case and without a `schema:` or `http://schema.org/` in front. */
export function get(node: JsonLdNode, name: string): Json | undefined {
  if (name in node) return node[name]
  const wanted = name.toLowerCase()
  for (const key of Object.keys(node).slice(0, KEYS)) {
    if (key.toLowerCase().replace(/^(?:schema:|https?:\/\/schema\.org\/)/, '') === wanted) return node[key]
  }
  return undefined
}

/** The types of a node in lower case, without the vocabulary's address. */
export function typesOf(node: JsonLdNode): string[] {
  return textsOf(get(node, '@type')).map(type => type.toLowerCase().replace(/^.*[/:#]/, ''))
}

/** The texts of a property: one, or a list, plain or as `{"@value": …}`. */
export function textsOf(value: Json | undefined): string[] {
  const flat = Array.isArray(value) ? value.slice(0, TEXTS) : [value]
  return flat.flatMap(one => {
    if (typeof one === 'string') return one.trim() === '' ? [] : [one.trim()]
    if (typeof one === 'number') return [String(one)]
    if (!isNode(one)) return []
    const inner = one['@value'] ?? (one['@type'] === 'Language' ? (one.alternateName ?? one.name) : undefined)
    return typeof inner === 'string' ? [inner.trim()] : []
  })
}

/** The addresses of the thing that a property names. */
export function idsOf(value: Json | undefined): string[] {
  return isNode(value) ? [...textsOf(get(value, '@id')), ...textsOf(get(value, 'url'))] : []
}
