import { Parser } from 'htmlparser2'
import { addressKey, readAddress } from '../../../shared/articles/address.ts'
import { decodeText } from '../../../shared/encoding/decode.ts'
import type { Outlet } from '../../../shared/outlets/outlet.ts'
import { type CheckedFeed, checkFeed } from './feed.ts'
import type { Trial } from './trial.ts'

/** Where content systems put their feeds and news sitemaps. */
const USUAL_PLACES = ['/feed/', '/rss.xml', '/rss', '/feed.xml', '/atom.xml', '/news-sitemap.xml', '/sitemap.xml']
/** Addresses that are tried for one outlet, besides those of the catalogue. */
const MOST_TRIES = 12
/** Of the home page's links, and of the lines in robots.txt. */
const MOST_NAMED = 6
/** Characters of a home page that are read. Links to feeds are in its head. */
const HEAD = 500_000

/**
 * Looks for an outlet's feeds: links of its home page, sitemaps of its robots.txt and, when nothing
 * of the outlet can be read, the usual places.
 *
 * @param known results of the catalogue's addresses; they are not tried again
 * @param wanted stops at so many feeds
 */
export async function findFeeds(
  trial: Trial,
  outlet: Outlet,
  known: CheckedFeed[],
  wanted: number,
  report: (result: CheckedFeed) => void,
): Promise<CheckedFeed[]> {
  const home = homeOf(outlet)
  const links = await linksOf(trial, home)
  const anchor = links.at
  const seen = new Set(known.flatMap(({ url, moved }) => [url, ...(moved === null ? [] : [moved])]).map(addressKey))
  const found: CheckedFeed[] = []
  let tries = 0
  const tryAll = async (addresses: string[], isEnough: () => boolean) => {
    for (const url of addresses) {
      if (trial.signal.aborted || tries >= MOST_TRIES || isEnough()) return
      if (seen.has(addressKey(url))) continue
      seen.add(addressKey(url))
      tries += 1
      const result = await checkFeed(trial, { domain: outlet.domain, url, listed: false })
      if (trial.signal.aborted) return
      report(result)
      if (result.ok) found.push(result)
    }
  }
  await tryAll(links.feeds, () => found.length >= wanted)
  const sitemaps = sitemapLines(await trial.robotsText(anchor), anchor)
  await tryAll(sitemaps, () => found.length > 0)
  const readable = known.some(({ ok }) => ok)
  if (!readable)
    await tryAll(
      USUAL_PLACES.map(path => new URL(path, anchor).href),
      () => found.length > 0,
    )
  return found
}

/** The home page, on the host of a listed feed where that is the outlet's own. */
function homeOf({ domain, feeds, sitemaps }: Outlet): URL {
  const own = [...feeds, ...sitemaps]
    .map(url => new URL(url))
    .find(({ host }) => host === domain || host === `www.${domain}`)
  return new URL('/', own ?? `https://${domain}`)
}

/** Links of the home page; none when it does not answer. `at`: where redirects have led to. */
async function linksOf(trial: Trial, home: URL): Promise<{ feeds: string[]; at: URL }> {
  try {
    const { answer, url } = await trial.get(home)
    if (answer.status !== 200) return { feeds: [], at: home }
    const { text } = decodeText(answer.body, { contentType: answer.headers['content-type'] ?? null, kind: 'html' })
    return { feeds: feedLinks(text.slice(0, HEAD), url.href), at: url }
  } catch {
    return { feeds: [], at: home }
  }
}

/**
 * The feeds that a page links to (RSS autodiscovery), in its order. Feeds of comments are left out.
 */
export function feedLinks(html: string, base: string): string[] {
  const found = new Set<string>()
  const parser = new Parser({
    onopentag(name, { rel = '', type = '', href = '' }) {
      if (name !== 'link' || !/\balternate\b/i.test(rel) || !FEED_TYPE.test(type)) return
      const url = readAddress(href, base)
      if (url !== null && !/comments?\b|reacties|commentaires/i.test(url.pathname)) found.add(url.href)
    },
  })
  parser.end(html)
  return [...found].slice(0, MOST_NAMED)
}

const FEED_TYPE = /^\s*application\/(rss\+xml|atom\+xml|feed\+json|rdf\+xml)/i

/**
 * The sitemaps that a robots.txt names (RFC 9309 leaves the line open); those of news come first.
 */
export function sitemapLines(robots: string, base: URL): string[] {
  const urls = [...robots.matchAll(/^[ \t]*sitemap[ \t]*:[ \t]*(\S+)/gim)]
    .map(([, address]) => readAddress(address ?? '', base.href)?.href)
    .filter(url => url !== undefined)
  const isNews = (url: string) => /news|nieuws|actu|article/i.test(url)
  return [...new Set(urls)].sort((a, b) => Number(isNews(b)) - Number(isNews(a))).slice(0, MOST_NAMED)
}
