/**
 * Namespaces under the prefix that the readers of formats use; the empty prefix is the format's
 * own.
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

/** The prefixes in force while a document is read from its beginning to its end. */
export interface Namespaces {
  /** An element begins, with the declarations among its attributes. */
  enter(attributes: ReadonlyMap<string, string>): void
  /** The element that was entered last ends. */
  leave(): void
  /**
   * An element's name with its namespace's usual prefix (`dc:creator`), bare in the format's own
   * namespace.
   */
  canonicalName(name: string): string
}

/**
 * Each prefix has a stack of what it was declared as. Entering and leaving cost as much as an
 * element declares, however many prefixes the elements around it hold: a copy of all of them for
 * each element took seconds.
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
      // A prefix that nobody declared, or declared as something unknown, means what it usually
      // means.
      const canonical = known ?? prefix
      return canonical === '' ? local : `${canonical}:${local}`
    },
  }
}

const NONE: string[] = []
