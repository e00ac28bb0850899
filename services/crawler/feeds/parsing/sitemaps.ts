import { getDomain } from 'tldts'
import { ADDRESS_LIMIT } from '#shared/articles/address'
import { LANGUAGES } from '#shared/articles/article'
import { firstText } from './entries.ts'
import { EMPTY_ENTRY, EMPTY_FEED, type Feed, type RawEntry, type SitemapPart } from './feed.ts'
import { childrenOf, type FeedElement, type Markup } from './markup.ts'

/** The most parts of an index that one poll reads. */
export const MAX_PARTS = 8
/**
 * The most parts of an index that are ever read. Further parts are old news, even if their dates
 * are recent.
 */
const MOST_PARTS = 40
/** The most addresses that are taken from one sitemap. News sitemaps may hold 1,000. */
export const MAX_TAKEN = 1_000
const DAY = 86_400_000
/** Parts that changed this many ms before the newest one are old news. */
const RECENT = 7 * DAY

/**
 * The parts of an index that can hold news, the most promising first. Parts with a date must have
 * changed within a week of the latest part, or have "news" in their address. They are sorted by
 * date (`lastmod`), then by "news" in the address, then by a date in the address. Other parts are
 * read from the last to the first, because numbered parts are written in order. Parts that differ
 * in more than their number take turns: those of articles may stand before many of tags.
 */
export function recentParts(parts: SitemapPart[]): SitemapPart[] {
  const turns = turnsOf(parts)
  const dated = parts.map((part, index) => ({
    part,
    index,
    turn: turns[index]!,
    time: timeOf(part.modified),
    name: dateInName(part.url),
    news: /news|nieuws|actu/i.test(part.url),
  }))
  // A date to come, as of an event, makes no other part old.
  const past = dated.map(({ time }) => time ?? Infinity).filter(time => time < Date.now() + DAY)
  const latest = Math.max(...past)
  return dated
    .filter(({ time, news }) => time === null || latest - time <= RECENT || news)
    .sort(
      (a, b) =>
        (b.time ?? 0) - (a.time ?? 0) ||
        Number(b.news) - Number(a.news) ||
        (a.name > b.name ? -1 : a.name < b.name ? 1 : a.turn - b.turn || b.index - a.index),
    )
    .filter(({ time }, place) => place < (time === null ? MAX_PARTS : MOST_PARTS))
    .map(({ part }) => part)
}

/** For each part, how many later parts have its address but for the number. */
function turnsOf(parts: SitemapPart[]): number[] {
  const counts = new Map<string, number>()
  const turns = parts.toReversed().map(({ url }) => {
    const kind = url.replace(/\d{1,9}(?=\D{0,99}$)/, '')
    const turn = counts.get(kind) ?? 0
    counts.set(kind, turn + 1)
    return turn
  })
  return turns.reverse()
}

/**
 * The newest entries of a sitemap, and all entries of any other feed. Entries without a date come
 * last, those at both ends of the document first: new ones are written at one of them.
 */
export function recentEntries(feed: Feed): RawEntry[] {
  if (!feed.format.endsWith('sitemap') || feed.entries.length <= MAX_TAKEN) return feed.entries
  const last = feed.entries.length - 1
  return feed.entries
    .map((entry, index) => ({
      entry,
      place: Math.min(index, last - index),
      time: timeOf(entry.published) ?? timeOf(entry.modified) ?? 0,
    }))
    .sort((a, b) => b.time - a.time || a.place - b.place)
    .slice(0, MAX_TAKEN)
    .map(({ entry }) => entry)
}

/** Reads a W3C date-time. The protocol allows no other format. */
function timeOf(text: string | null): number | null {
  const time = text === null ? Number.NaN : Date.parse(text)
  return Number.isNaN(time) ? null : time
}

/** `202611` for `sitemap-2026-11.xml`; empty when the name holds no date. */
const dateInName = (url: string): string =>
  /(?:19|20)\d\d[-_/]?(?:0[1-9]|1[0-2])(?:[-_/]?[0-3]\d)?/.exec(url)?.[0].replace(/[-_/]/g, '') ??
  ''

/** The most addresses or parts of one document that are read: the limit of the sitemap protocol. */
const MAX_LISTED = 50_000

/** The most addresses in other languages that are read for one address. */
const MAX_TWINS = 20

/**
 * Reads a sitemap (sitemaps.org), with or without Google's extensions for news and for languages.
 */
export function readSitemap(markup: Markup, urlset: FeedElement): Feed {
  const urls = [urlset, ...childrenOf(urlset, 'urlset')]
    .flatMap(one => childrenOf(one, 'url'))
    .slice(0, MAX_LISTED)
  const listed = urls.map(url => readUrl(markup, url))
  const twins = twinsOf(urls, listed)
  const entries = [...listed, ...twins].slice(0, MAX_LISTED)
  const news = urls.some(url => childrenOf(url, 'news:news', 'news').length > 0)
  return { ...EMPTY_FEED, format: news ? 'news sitemap' : 'sitemap', entries, whole: markup.whole }
}

/**
 * The addresses in other languages that a sitemap links to (`xhtml:link`). They come after all
 * addresses of the sitemap. Each should have a `url` of its own, but some sitemaps list one
 * language and link to the other languages. Only addresses in our languages and on the same site
 * are taken. This function also sets the language of listed addresses.
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
      twins.push({
        ...EMPTY_ENTRY,
        link: href,
        language,
        modified: entry.modified ?? entry.published,
      })
    }
  }
  return twins
}

const alternatesOf = (url: FeedElement): { href: string; language: string }[] =>
  childrenOf(url, 'xhtml:link')
    .slice(0, MAX_TWINS)
    .map(({ attributes }) => ({
      href: attributes.get('href')?.trim() ?? '',
      language: attributes.get('hreflang')?.trim().toLowerCase() ?? '',
    }))
    .filter(({ href, language }) => href.length <= ADDRESS_LIMIT && OURS.test(language))

const OURS = new RegExp(`^(?:${LANGUAGES.join('|')})(?:[-_]|$)`)

function isSameSite(a: string, b: string): boolean {
  const one = URL.parse(a)?.hostname
  const other = URL.parse(b)?.hostname
  if (one === undefined || other === undefined) return false
  return one === other || (getDomain(one) ?? one) === getDomain(other)
}

/**
 * Reads a sitemap that is a text file with an address on each line (sitemaps.org, "Text file").
 * Null: the text is no such file.
 */
export function readTextSitemap(text: string): Feed | null {
  if (!/^\s*https?:\/\/\S/i.test(text.slice(0, 1_000))) return null
  const lines = text.split(/[\r\n]+/, MAX_LISTED).map(line => line.trim())
  const written = lines.filter(line => line !== '' && !line.startsWith('#'))
  const addresses = written.filter(
    line => /^https?:\/\/[^\s<>"]+$/i.test(line) && line.length <= ADDRESS_LIMIT,
  )
  if (addresses.length < written.length / 2) return null
  const entries = [...new Set(addresses)].map(link => ({ ...EMPTY_ENTRY, link }))
  return { ...EMPTY_FEED, format: 'sitemap', entries }
}

/** Reads a sitemap index. */
export function readSitemapIndex(markup: Markup, index: FeedElement): Feed {
  const parts: SitemapPart[] = []
  for (const sitemap of childrenOf(index, 'sitemap').slice(0, MAX_LISTED)) {
    const url = firstText(markup, sitemap, 'loc')
    if (url !== null && url.length <= ADDRESS_LIMIT)
      parts.push({ url, modified: dateOf(markup, sitemap) })
  }
  return { ...EMPTY_FEED, format: 'sitemap index', parts, whole: markup.whole }
}

/** A longer text is no date. */
const LONGEST_DATE = 100

const dateOf = (markup: Markup, element: FeedElement) =>
  firstText(markup, element, 'lastmod')?.slice(0, LONGEST_DATE) ?? null

function readUrl(markup: Markup, url: FeedElement): RawEntry {
  const read = (of: FeedElement | undefined, ...names: string[]) =>
    of ? firstText(markup, of, ...names) : null
  const news = childrenOf(url, 'news:news', 'news')[0]
  const publication =
    news === undefined ? undefined : childrenOf(news, 'news:publication', 'publication')[0]
  return {
    ...EMPTY_ENTRY,
    link: firstText(markup, url, 'loc'),
    title: read(news, 'news:title', 'title'),
    published: read(news, 'news:publication_date', 'publication_date'),
    language:
      read(publication, 'news:language', 'language') ?? read(news, 'news:language', 'language'),
    modified: dateOf(markup, url),
  }
}
