import { readEntries } from './entries.ts'
import type { Feed } from './feed.ts'
import { readJsonFeed } from './json.ts'
import type { FeedElement } from './markup.ts'
import { readMarkup } from './read-markup.ts'
import { readSitemap, readSitemapIndex } from './sitemap.ts'

/**
 * Reads any feed or sitemap: RSS 0.9x, 1.0, 2.0, Atom, RDF, JSON Feed, (news) sitemaps and their
 * indexes. Null: the text is none of them. Never throws. Foreign bytes are parsed in a thread
 * (`parser.ts`).
 *
 * @param base the address of the document
 */
export function parseFeed(text: string, base: string | null): Feed | null {
  if (/^\s*[{[]/.test(text.slice(0, 1_000))) {
    const feed = readJsonFeed(text, base)
    if (feed !== null) return feed
  }
  const markup = readMarkup(text, base)
  const top = findTop(markup.root)
  if (top === null) return null
  switch (top.name.replace(/^.*:/, '')) {
    case 'urlset':
      return readSitemap(markup, top)
    case 'sitemapindex':
      return readSitemapIndex(markup, top)
    case 'feed':
      return readEntries(markup, top, 'atom')
    case 'rss':
    case 'channel':
      return readEntries(markup, top, 'rss')
    default:
      return readEntries(markup, top, 'rdf')
  }
}

/** Finds the outermost element of a feed. Some servers put other elements around it. */
function findTop(root: FeedElement): FeedElement | null {
  let level = [root]
  for (let depth = 0; depth < 4 && level.length > 0; depth += 1) {
    level = level.flatMap(element => element.children).slice(0, 1_000)
    const top = level.find(({ name }) => TOPS.has(name))
    if (top !== undefined) return top
  }
  return null
}

const TOPS = new Set(['rss', 'rdf:rdf', 'rdf', 'feed', 'atom:feed', 'channel', 'urlset', 'sitemapindex'])
