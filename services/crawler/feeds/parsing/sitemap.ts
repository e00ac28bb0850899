import { getDomain } from 'tldts'
import { ADDRESS_LIMIT } from '../../../../shared/articles/address.ts'
import { LANGUAGES } from '../../../../shared/articles/article.ts'
import { firstText } from './constructs.ts'
import { EMPTY_ENTRY, type Feed, type RawEntry, type SitemapPart } from './feed.ts'
import { NO_LINKS } from './links.ts'
import { childrenOf, type FeedElement, type Markup } from './markup.ts'

/** The protocol's own limit. */
const MAX_ADDRESSES = 50_000

/** Other languages of one address that are read. */
const MAX_TWINS = 20

/**
 * Reads a sitemap (sitemaps.org), with or without Google's extensions for news and for languages.
 */
export function readSitemap(markup: Markup, urlset: FeedElement): Feed {
  const urls = childrenOf(urlset, 'url').slice(0, MAX_ADDRESSES)
  const listed = urls.map(url => readUrl(markup, url))
  const twins = twinsOf(urls, listed)
  const entries = [...listed, ...twins].slice(0, MAX_ADDRESSES)
  const news = urls.some(url => childrenOf(url, 'news:news').length > 0)
  return {
    format: news ? 'news sitemap' : 'sitemap',
    title: null,
    language: null,
    entries,
    parts: [],
    links: NO_LINKS,
    whole: markup.whole,
  }
}

/**
 * The other languages of the addresses (`xhtml:link`), behind all addresses of the sitemap. Each
 * should have a `url` of its own, but some sitemaps list one language and link to the others. Only
 * languages of ours are taken, on the same site. Notes the language of a listed address.
 */
function twinsOf(urls: FeedElement[], listed: RawEntry[]): RawEntry[] {
  const known = new Set(listed.map(({ link }) => link))
  const twins: RawEntry[] = []
  for (const [index, url] of urls.entries()) {
    const entry = listed[index]
    if (!entry?.link) continue
    for (const { href, language } of alternatesOf(url)) {
      if (href === entry.link) entry.language ??= language
      if (known.has(href) || !isSameSite(href, entry.link)) continue
      known.add(href)
      twins.push({ ...EMPTY_ENTRY, link: href, language, modified: entry.modified ?? entry.published })
    }
  }
  return twins
}

function alternatesOf(url: FeedElement): { href: string; language: string }[] {
  return childrenOf(url, 'xhtml:link')
    .slice(0, MAX_TWINS)
    .map(({ attributes }) => ({
      href: attributes.get('href')?.trim() ?? '',
      language: attributes.get('hreflang')?.trim().toLowerCase() ?? '',
    }))
    .filter(({ href, language }) => href.length <= ADDRESS_LIMIT && OURS.test(language))
}

const OURS = new RegExp(`^(?:${LANGUAGES.join('|')})(?:[-_]|$)`)

function isSameSite(a: string, b: string): boolean {
  const [one, other] = [URL.parse(a)?.hostname, URL.parse(b)?.hostname]
  if (one === undefined || other === undefined) return false
  return one === other || (getDomain(one) ?? one) === getDomain(other)
}

/** Reads a sitemap index. */
export function readSitemapIndex(markup: Markup, index: FeedElement): Feed {
  const parts: SitemapPart[] = []
  for (const sitemap of childrenOf(index, 'sitemap').slice(0, MAX_ADDRESSES)) {
    const url = firstText(markup, sitemap, 'loc')
    if (url !== null && url.length <= ADDRESS_LIMIT) parts.push({ url, modified: dateOf(markup, sitemap) })
  }
  return {
    format: 'sitemap index',
    title: null,
    language: null,
    entries: [],
    parts,
    links: NO_LINKS,
    whole: markup.whole,
  }
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
