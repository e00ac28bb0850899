/** A JSON value, as `JSON.parse` gives it. */
type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
type Node = { [key: string]: Json }

/** A person or an organisation as structured data names one. */
export interface StatedAuthor {
  name: string
  organisation: boolean
  /** The account that posted, which Yoast SEO states whether or not readers are shown it. */
  account: boolean
}

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
  /** `isAccessibleForFree`; null when it does not say. */
  free: boolean | null
}

const NODES = 20_000
const THINGS = 200
/** Of one property. */
const TEXTS = 50
const ADDRESSES = 20
/** Of a headline or a name, in characters. */
const LONGEST = 2_000
const AUTHOR_NODES = 200

/** Links from an article to other things: what hangs on them is not this page's article. */
const ELSEWHERE = new Set([
  ...[
    'ispartof',
    'haspart',
    'mentions',
    'about',
    'citation',
    'relatedlink',
    'comment',
    'review',
    'reviews',
    'itemreviewed',
  ],
  ...[
    'isbasedon',
    'liveblogupdate',
    'author',
    'publisher',
    'image',
    'video',
    'breadcrumb',
    'potentialaction',
    'creator',
  ],
])

const DESCRIBED =
  /article|posting|blogpost|webpage|itempage|report|recipe|review$|creativework|videoobject|podcastepisode|newsletter|claimreview/

/**
 * Everything in the page's JSON-LD that could be its article, in document order; broken scripts
 * give what can be read.
 */
export function thingsIn(scripts: string[]): StatedThing[] {
  const roots: Json[] = []
  const salvaged: StatedThing[] = []
  for (const script of scripts) {
    const parsed = parseTolerantly(script)
    if (parsed !== undefined) roots.push(parsed)
    else salvaged.push(...salvage(script))
  }
  const nodes = nodesOf(roots)
  const byId = new Map<string, Node>()
  for (const node of nodes.all) {
    const id = node['@id']
    if (typeof id === 'string' && Object.keys(node).length > 1 && !byId.has(id)) byId.set(id, node)
  }
  const things = nodes.described.slice(0, THINGS).map(node => describe(node, byId))
  return [...things, ...salvaged]
}

/** Walks without recursion: a page may nest a hundred thousand arrays. */
function nodesOf(roots: Json[]): { all: Node[]; described: Node[] } {
  const all: Node[] = []
  const described: Node[] = []
  const waiting: { value: Json; own: boolean }[] = roots.map(value => ({ value, own: true })).reverse()
  for (let seen = 0; seen < NODES; seen += 1) {
    const next = waiting.pop()
    if (next === undefined) break
    const { value, own } = next
    if (Array.isArray(value)) {
      for (const child of value.slice(0, 1000).reverse()) if (isContainer(child)) waiting.push({ value: child, own })
    } else if (value !== null && typeof value === 'object') {
      all.push(value)
      if (own && typesOf(value).some(type => DESCRIBED.test(type))) described.push(value)
      for (const [key, child] of Object.entries(value).slice(0, 200).reverse()) {
        if (isContainer(child)) waiting.push({ value: child, own: own && !ELSEWHERE.has(key.toLowerCase()) })
      }
    }
  }
  return { all, described }
}

function isContainer(value: Json): boolean {
  return value !== null && typeof value === 'object'
}

function describe(node: Node, byId: Map<string, Node>): StatedThing {
  const free =
    textsOf(get(node, 'isAccessibleForFree'))[0]?.toLowerCase() ?? String(get(node, 'isAccessibleForFree') ?? '')
  const own = get(node, 'mainEntityOfPage')
  const authors = authorsIn(get(node, 'author'), byId)
  return {
    types: typesOf(node),
    addresses: [...textsOf(get(node, 'url')), ...textsOf(get(node, '@id')), ...textsOf(own), ...idsOf(own)].slice(
      0,
      ADDRESSES,
    ),
    headline: (textsOf(get(node, 'headline'))[0] ?? textsOf(get(node, 'name'))[0])?.slice(0, LONGEST) ?? null,
    published: ['datePublished', 'dateCreated', 'uploadDate'].flatMap(key => textsOf(get(node, key))),
    authors: authors.length > 0 ? authors : authorsIn(get(node, 'creator'), byId),
    publisher: authorsIn(get(node, 'publisher'), byId)[0]?.name ?? null,
    language: textsOf(get(node, 'inLanguage'))[0] ?? null,
    body: textsOf(get(node, 'articleBody'))[0] ?? null,
    free: /^(?:true|1|yes|.*\/true)$/.test(free) ? true : /^(?:false|0|no|.*\/false)$/.test(free) ? false : null,
  }
}

/** Properties are matched without case and without a `schema:` or `http://schema.org/` in front. */
function get(node: Node, name: string): Json | undefined {
  if (name in node) return node[name]
  const wanted = name.toLowerCase()
  for (const key of Object.keys(node).slice(0, 200)) {
    if (key.toLowerCase().replace(/^(?:schema:|https?:\/\/schema\.org\/)/, '') === wanted) return node[key]
  }
  return undefined
}

function typesOf(node: Node): string[] {
  return textsOf(get(node, '@type')).map(type => type.toLowerCase().replace(/^.*[/:#]/, ''))
}

function textsOf(value: Json | undefined): string[] {
  const flat = Array.isArray(value) ? value.slice(0, TEXTS) : [value]
  return flat.flatMap(one => {
    if (typeof one === 'string') return one.trim() === '' ? [] : [one.trim()]
    if (typeof one === 'number') return [String(one)]
    if (one !== null && typeof one === 'object' && !Array.isArray(one)) {
      const inner = one['@value'] ?? (one['@type'] === 'Language' ? (one.alternateName ?? one.name) : undefined)
      return typeof inner === 'string' ? [inner.trim()] : []
    }
    return []
  })
}

function idsOf(value: Json | undefined): string[] {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return []
  return [...textsOf(get(value, '@id')), ...textsOf(get(value, 'url'))]
}

/**
 * References are followed no further than `AUTHOR_NODES`: a page of 60 kB can name a list of
 * authors ten thousand times.
 */
function authorsIn(value: Json | undefined, byId: Map<string, Node>): StatedAuthor[] {
  const found: StatedAuthor[] = []
  let nodes = 0
  const read = (list: Json | undefined, depth: number) => {
    for (const one of Array.isArray(list) ? list.slice(0, TEXTS) : [list]) {
      nodes += 1
      if (nodes > AUTHOR_NODES || found.length >= TEXTS) return
      if (typeof one === 'string') note([one.trim()], false, false)
      else if (one === null || typeof one !== 'object' || depth > 3) continue
      else if (Array.isArray(one)) read(one, depth + 1)
      else if (one['@list'] !== undefined || one['@set'] !== undefined) read(one['@list'] ?? one['@set'], depth + 1)
      else readNode(one)
    }
  }
  const readNode = (one: Node) => {
    const id = one['@id']
    const node = get(one, 'name') === undefined && typeof id === 'string' ? (byId.get(id) ?? one) : one
    const organisation = typesOf(node).some(type => /organi[sz]ation|newsmedia|corporation|brand|website/.test(type))
    const names = textsOf(get(node, 'name'))
    const parts = [get(node, 'givenName'), get(node, 'familyName')].flatMap(part => textsOf(part).slice(0, 1))
    const account = textsOf(node['@id']).some(own => own.includes('#/schema/person/'))
    note(names.length > 0 ? names : parts.length > 0 ? [parts.join(' ')] : [], organisation, account)
  }
  const note = (names: string[], organisation: boolean, account: boolean) => {
    for (const name of names) {
      if (name !== '' && found.length < TEXTS) found.push({ name: name.slice(0, LONGEST), organisation, account })
    }
  }
  read(value, 0)
  return found
}

/**
 * What outlets wrap JSON-LD in, and the mistakes that their templates make. Undefined when it is
 * beyond repair.
 */
function parseTolerantly(script: string): Json | undefined {
  const bare = script
    .replace(/^\s*(?:<!--|\/\*\s*<!\[CDATA\[\s*\*\/|\/\/\s*<!\[CDATA\[|<!\[CDATA\[)/, '')
    .replace(/(?:-->|\/\*\s*\]\]>\s*\*\/|\/\/\s*\]\]>|\]\]>)\s*$/, '')
    .replace(/^\uFEFF/, '')
    .trim()
    .replace(/;$/, '')
  if (bare === '') return undefined
  return parse(bare) ?? parse(mend(bare)) ?? parse(mend(bare.replaceAll('&quot;', '"')))
}

function parse(text: string): Json | undefined {
  try {
    const value: Json = JSON.parse(text)
    return value ?? undefined
  } catch {
    return undefined
  }
}

/**
 * Raw line breaks and tabs inside strings, escapes that JSON does not know, commas before a closing
 * bracket, two objects in a row.
 */
function mend(text: string): string {
  const mended = text
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what breaks the parser
    .replace(/[\u0000-\u0020]+/g, ' ')
    .replace(/\\(?!["\\/bfnrtu])/g, '\\\\')
    .replace(/\\u(?![0-9a-fA-F]{4})/g, '\\\\u')
    .replace(/,\s*(?=[}\]])/g, '')
  return /\} ?,? ?\{/.test(mended) && mended.startsWith('{') ? `[${mended.replace(/\} ?\{/g, '},{')}]` : mended
}

/** The last resort: the fields by their names, where a stray quote has broken the rest. */
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

function unquote(text: string): string {
  const value = parse(`"${text}"`)
  return typeof value === 'string' ? value : text
}
