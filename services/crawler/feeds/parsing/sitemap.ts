import { ADDRESS_LIMIT } from '../../../../shared/articles/address.ts'
import { firstText } from './constructs.ts'
import { EMPTY_ENTRY, type Feed, type RawEntry, type SitemapPart } from './feed.ts'
import { childrenOf, type FeedElement, type Markup } from './markup.ts'

/** The protocol's own limit. */
const MAX_ADDRESSES = 50_000

/** Reads a sitemap (sitemaps.org), with or without Google's news extension. */
export function readSitemap(markup: Markup, urlset: FeedElement): Feed {
  const urls = childrenOf(urlset, 'url').slice(0, MAX_ADDRESSES)
  const entries = urls.map(url => readUrl(markup, url))
  const news = urls.some(url => childrenOf(url, 'news:news').length > 0)
  return {
    format: news ? 'news sitemap' : 'sitemap',
    title: null,
    language: null,
    entries,
    parts: [],
    whole: markup.whole,
  }
}

/** Reads a sitemap index. */
export function readSitemapIndex(markup: Markup, index: FeedElement): Feed {
  const parts: SitemapPart[] = []
  for (const sitemap of childrenOf(index, 'sitemap').slice(0, MAX_ADDRESSES)) {
    const url = firstText(markup, sitemap, 'loc')
    if (url !== null && url.length <= ADDRESS_LIMIT) parts.push({ url, modified: dateOf(markup, sitemap) })
  }
  return { format: 'sitemap index', title: null, language: null, entries: [], parts, whole: markup.whole }
}

/** A longer text is no date. */
const LONGEST_DATE = 100

const dateOf = (markup: Markup, element: FeedElement) =>
  firstText(markup, element, 'lastmod')?.slice(0, LONGEST_DATE) ?? null

function readUrl(markup: Markup, url: FeedElement): RawEntry {
  const news = childrenOf(url, 'news:news')[0]
  const publication = news === undefined ? undefined : childrenOf(news, 'news:publication')[0]
  return {
    ...EMPTY_ENTRY,
    link: firstText(markup, url, 'loc'),
    title: news === undefined ? null : firstText(markup, news, 'news:title'),
    published: news === undefined ? null : firstText(markup, news, 'news:publication_date'),
    language:
      (publication === undefined ? null : firstText(markup, publication, 'news:language')) ??
      (news === undefined ? null : firstText(markup, news, 'news:language')),
    modified: dateOf(markup, url),
  }
}
