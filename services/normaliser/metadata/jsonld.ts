import { authorsIn, type StatedAuthor } from './jsonld-authors.ts'
import { get, idsOf, type Json, type JsonLdNode, nodesOf, textsOf, typesOf } from './jsonld-nodes.ts'
import { parseTolerantly, unquote } from './jsonld-parse.ts'

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
}

const THINGS = 200
const ADDRESSES = 20
/** Of a headline, in characters. */
const LONGEST = 2_000

/**
 * Everything in the page's JSON-LD that could be its article, in document order. A script that
 * cannot be parsed gives the fields that can still be found in it.
 */
export function thingsIn(scripts: string[]): StatedThing[] {
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
  return [...things, ...salvaged]
}

/** The first node of each `@id` that says more than its id. */
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
  const authors = authorsIn(get(node, 'author'), byId)
  const addresses = [...textsOf(get(node, 'url')), ...textsOf(get(node, '@id')), ...textsOf(own), ...idsOf(own)]
  return {
    types: typesOf(node),
    addresses: addresses.slice(0, ADDRESSES),
    headline: (textsOf(get(node, 'headline'))[0] ?? textsOf(get(node, 'name'))[0])?.slice(0, LONGEST) ?? null,
    published: ['datePublished', 'dateCreated', 'uploadDate'].flatMap(key => textsOf(get(node, key))),
    authors: authors.length > 0 ? authors : authorsIn(get(node, 'creator'), byId),
    publisher: authorsIn(get(node, 'publisher'), byId)[0]?.name ?? null,
    language: textsOf(get(node, 'inLanguage'))[0] ?? null,
    body: textsOf(get(node, 'articleBody'))[0] ?? null,
    free: freeOf(get(node, 'isAccessibleForFree')),
  }
}

/** `true`, `"True"`, `"https://schema.org/False"` and the like; null for any other value. */
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
  const block = /"author"\s*:\s*[[{]([^\]]{0,2000})/.exec(script)?.[1] ?? ''
  const names = [...block.matchAll(/"name"\s*:\s*"((?:[^"\\]|\\.){1,200})"/g)].map(match => match[1] ?? '')
  const publisherAt = block.search(/"publisher"|"image"|"logo"/)
  const before = publisherAt < 0 ? names : names.filter(name => block.indexOf(name) < publisherAt)
  return [
    {
      types: ['article'],
      addresses: [],
      headline: headline === null ? null : unquote(headline),
      published: published === null ? [] : [published],
      authors: before.map(name => ({ name: unquote(name), organisation: false, account: false })),
      publisher: null,
      language: null,
      body: null,
      free: null,
    },
  ]
}
