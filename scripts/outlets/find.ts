import { Parser } from 'htmlparser2'
import { getDomain } from 'tldts'
import type { FeedFormat } from '#services/crawler/feeds/parsing/feed'
import type { ParsedFeed } from '#services/crawler/feeds/parsing/parse'
import { RequestFailure } from '#services/crawler/fetch/request-failure'
import { isOfNews, sitemapsOf } from '#services/crawler/fetch/robots'
import { addressKey, readAddress } from '#shared/articles/address'
import { decodeText } from '#shared/encoding/decode'
import { counted } from '#shared/log/printable'
import type { Outlet } from '#shared/outlets/catalogue'
import { sentenceOf } from '#shared/process/command'
import type { Answered, Trial } from './trial.ts'

export interface CheckedFeed {
  domain: string
  url: string
  /** Whether the feed can be read and names addresses. */
  ok: boolean
  /** The kind of feed and its contents, or the reason why the feed cannot be read. */
  detail: string
  /** HTTP status of the last answer; null: there was no answer. */
  status: number | null
  format: FeedFormat | null
  /** The number of articles that the feed names, or of parts of a sitemap index. */
  named: number
  /** The latest date among the feed's entries. */
  newest: string | null
  /** The address at the end of redirects; null: no redirect. */
  moved: string | null
  /** Whether all redirects are permanent. */
  permanent: boolean
  /** There is no feed at this address, and waiting will not change that. */
  dead: boolean
  /** Whether the catalogue names the feed; false: the check found it. */
  listed: boolean
}

/** The result of one feed, without its address. */
type Findings = Pick<CheckedFeed, 'ok' | 'detail'> & Partial<CheckedFeed>

const UNKNOWN = {
  status: null,
  format: null,
  named: 0,
  newest: null,
  moved: null,
  permanent: false,
  dead: false,
}

/** Tries one address once. */
export const checkFeed = async (
  trial: Trial,
  of: { domain: string; url: string; listed: boolean },
): Promise<CheckedFeed> => ({ ...UNKNOWN, ...of, ...(await tryFeed(trial, of.url)) })

async function tryFeed(trial: Trial, url: string): Promise<Findings> {
  try {
    return await describe(await trial.get(new URL(url)), url, trial)
  } catch (error) {
    if (!(error instanceof RequestFailure)) return { ok: false, detail: sentenceOf(error) }
    return { ok: false, detail: error.message, dead: error.kind === 'name' }
  }
}

/** Null: the answer is no feed. */
export async function parseFeed(
  { answer, url }: Answered,
  { parser }: Trial,
): Promise<ParsedFeed | null> {
  const contentType = answer.headers['content-type'] ?? null
  return parser.parse({ bytes: answer.body, contentType, url: url.href }, url.host)
}

async function describe(answered: Answered, from: string, trial: Trial) {
  const { answer, url, permanent } = answered
  const { status } = answer
  const moved = url.href === new URL(from).href ? null : url.href
  const at = { status, moved, permanent: moved !== null && permanent }
  if (status !== 200)
    return {
      ok: false,
      ...at,
      detail: `it answers ${status}`,
      dead: status === 404 || status === 410,
    }
  const feed = await parseFeed(answered, trial)
  if (feed === null) {
    const type = answer.headers['content-type'] ?? null
    const detail = `no feed, but ${type ?? 'something without a type'}`
    // A temporary redirect to another site may lead to a consent page. The feed may still exist for
    // other visitors.
    if (at.permanent || isSameSite(new URL(from), url))
      return { ok: false, ...at, detail, dead: true }
    return { ok: false, ...at, detail: `${detail} of ${url.host}, as consent pages are` }
  }
  const { format, total: named, newest } = feed
  const parts = [
    `${format}, ${format === 'sitemap index' ? counted(named, 'part') : counted(named, 'address', 'addresses')}`,
    newest !== null && `newest ${newest.slice(0, 10)}`,
    moved !== null && `moved to ${moved}`,
  ]
  return { ok: named > 0, ...at, format, named, newest, detail: parts.filter(Boolean).join(', ') }
}

/** Whether two addresses have the same registrable domain; hosts without one must be equal. */
const isSameSite = (one: URL, other: URL): boolean =>
  one.host === other.host || (getDomain(one.hostname) ?? one.host) === getDomain(other.hostname)

/** The paths at which content systems usually have their feeds and news sitemaps. */
const USUAL_PLACES = [
  '/feed/',
  '/rss.xml',
  '/rss',
  '/feed.xml',
  '/atom.xml',
  '/news-sitemap.xml',
  '/sitemap.xml',
]
/** The most addresses that are tried for one outlet, besides those of the catalogue. */
const MOST_TRIES = 12
/** The most links of the home page, and the most lines of robots.txt, that are tried. */
const MOST_NAMED = 6
/** Characters of a home page that are read. Links to feeds are in its head. */
const HEAD = 500_000

/**
 * Searches for an outlet's feeds: links of its home page, sitemaps of its robots.txt and, when
 * nothing of the outlet can be read, the usual paths.
 *
 * @param known results of the catalogue's addresses, which are not tried again
 * @param wanted stops at this many links that are feeds; elsewhere the first feed is enough
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
  const seen = new Set(
    known.flatMap(({ url, moved }) => [url, ...(moved === null ? [] : [moved])]).map(addressKey),
  )
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
  const sitemaps = sitemapsOf(await trial.robotsText(anchor), anchor.href)
  sitemaps.sort((a, b) => Number(isOfNews(b)) - Number(isOfNews(a)))
  await tryAll(
    [...new Set(sitemaps.map(({ href }) => href))].slice(0, MOST_NAMED),
    () => found.length > 0,
  )
  const readable = known.some(({ ok }) => ok)
  if (!readable)
    await tryAll(
      USUAL_PLACES.map(path => new URL(path, anchor).href),
      () => found.length > 0,
    )
  return found
}

/** The home page, on the host of a listed feed if the host is the outlet's own. */
function homeOf({ domain, feeds, sitemaps }: Outlet): URL {
  const own = [...feeds, ...sitemaps]
    .map(url => new URL(url))
    .find(({ host }) => host === domain || host === `www.${domain}`)
  return new URL('/', own ?? `https://${domain}`)
}

/** Links of the home page; empty when it does not answer. `at`: the address after redirects. */
async function linksOf(trial: Trial, home: URL): Promise<{ feeds: string[]; at: URL }> {
  try {
    const { answer, url } = await trial.get(home)
    if (answer.status !== 200) return { feeds: [], at: home }
    const text = decodeText(answer.body, {
      contentType: answer.headers['content-type'] ?? null,
      kind: 'html',
    })
    return { feeds: feedLinks(text.slice(0, HEAD), url.href), at: url }
  } catch {
    return { feeds: [], at: home }
  }
}

/** The feeds that a page links to (RSS autodiscovery), in its order, without feeds of comments. */
function feedLinks(html: string, base: string): string[] {
  const found = new Set<string>()
  const parser = new Parser({
    onopentag(name, { rel = '', type = '', href = '' }) {
      if (name !== 'link' || !/\balternate\b/i.test(rel) || !FEED_TYPE.test(type)) return
      const url = readAddress(href, base)
      if (url !== null && !/comments?\b|reacties|commentaires/i.test(url.pathname))
        found.add(url.href)
    },
  })
  parser.end(html)
  return [...found].slice(0, MOST_NAMED)
}

const FEED_TYPE = /^\s*application\/(rss\+xml|atom\+xml|feed\+json|rdf\+xml)/i
