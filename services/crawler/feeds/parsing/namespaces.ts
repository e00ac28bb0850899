/**
 * Known namespaces, with the prefix that our code uses for them. The namespace of a format itself
 * has no prefix.
 */
const NAMESPACES = new Map(
  Object.entries({
    'http://www.w3.org/2005/atom': 'atom',
    'http://purl.org/atom/ns#': 'atom',
    'http://backend.userland.com/rss2': '',
    'http://blogs.law.harvard.edu/tech/rss': '',
    'http://purl.org/rss/1.0/': '',
    'http://my.netscape.com/rdf/simple/0.9/': '',
    'http://channel.netscape.com/rdf/simple/0.9/': '',
    'http://www.sitemaps.org/schemas/sitemap/0.9': '',
    'http://www.google.com/schemas/sitemap/0.84': '',
    'http://www.w3.org/1999/02/22-rdf-syntax-ns#': 'rdf',
    'http://purl.org/rss/1.0/modules/content/': 'content',
    'http://purl.org/dc/elements/1.1/': 'dc',
    'http://purl.org/dc/elements/1.0/': 'dc',
    'http://purl.org/dc/terms/': 'dcterms',
    'http://search.yahoo.com/mrss/': 'media',
    'http://search.yahoo.com/mrss': 'media',
    'http://www.itunes.com/dtds/podcast-1.0.dtd': 'itunes',
    'http://www.google.com/schemas/sitemap-news/0.9': 'news',
    'http://rssnamespace.org/feedburner/ext/1.0': 'feedburner',
    'http://www.w3.org/1999/xhtml': 'xhtml',
    'http://www.w3.org/xml/1998/namespace': 'xml',
  }),
)

/** The prefixes that are declared at the place of the document that is being read. */
export interface Namespaces {
  /** An element begins. Its attributes may declare prefixes. */
  enter(attributes: ReadonlyMap<string, string>): void
  /** The innermost element ends. */
  leave(): void
  /** An element's name with the usual prefix of its namespace, such as `dc:creator`. */
  canonicalName(name: string): string
}

/**
 * Holds a stack of declarations for each prefix. An element thus costs only as much as it declares
 * itself. To copy the prefixes around it for each element took seconds for hostile documents.
 */
export function createNamespaces(): Namespaces {
  const declared = new Map<string, string[]>()
  /** The prefixes that each open element has declared. */
  const entered: string[][] = []

  return {
    enter(attributes) {
      let prefixes = NONE
      for (const [name, value] of attributes) {
        if (name !== 'xmlns' && !name.startsWith('xmlns:')) continue
        const prefix = name.slice(6)
        const meanings = declared.get(prefix)
        if (meanings === undefined) declared.set(prefix, [value.trim().toLowerCase()])
        else meanings.push(value.trim().toLowerCase())
        if (prefixes === NONE) prefixes = []
        prefixes.push(prefix)
      }
      entered.push(prefixes)
    },
    leave() {
      for (const prefix of entered.pop() ?? NONE) declared.get(prefix)?.pop()
    },
    canonicalName(name) {
      const colon = name.indexOf(':')
      const [prefix, local] = colon < 0 ? ['', name] : [name.slice(0, colon), name.slice(colon + 1)]
      const namespace = declared.get(prefix)?.at(-1)
      const known = namespace === undefined ? undefined : NAMESPACES.get(namespace)
      // A prefix without a known declaration has its usual meaning.
      const canonical = known ?? prefix
      return canonical === '' ? local : `${canonical}:${local}`
    },
  }
}

const NONE: string[] = []
