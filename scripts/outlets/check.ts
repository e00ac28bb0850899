import { setTimeout as sleep } from 'node:timers/promises'
import type { FeedFormat } from '../../services/crawler/feeds/parsing/feed.ts'
import { type FeedParser, openFeedParser } from '../../services/crawler/feeds/parsing/parser.ts'
import { addressRule } from '../../services/crawler/fetch/addresses.ts'
import { gunzipFile } from '../../services/crawler/fetch/compression.ts'
import { guardedConnector } from '../../services/crawler/fetch/connector.ts'
import { type FetchedResponse, request } from '../../services/crawler/fetch/request.ts'
import { RequestFailure } from '../../services/crawler/fetch/request-failure.ts'
import { isAllowed, productToken, type RobotsRules, readRobots } from '../../services/crawler/robots/rules.ts'
import { readAddress } from '../../shared/articles/address.ts'
import type { Config } from '../../shared/config/config.ts'
import { counted } from '../../shared/log/counted.ts'
import { printableLine } from '../../shared/log/printable.ts'
import type { Outlet } from '../../shared/outlets/outlet.ts'
import { sentenceOf } from '../../shared/process/command.ts'

export interface CheckedFeed {
  domain: string
  url: string
  /** It can be read and names addresses. */
  ok: boolean
  /** The kind of feed and its contents, or why it cannot be read. */
  detail: string
  /** HTTP status of the last answer; null: none came. */
  status: number | null
  format: FeedFormat | null
  /** Articles that it names, or parts of a sitemap index. */
  named: number
  /** The latest date among its entries. */
  newest: string | null
  /** The address at the end of redirects; null: no redirect. */
  moved: string | null
  /** ms, pauses left out. */
  took: number
}

/** The result of one feed, without its address and its time. */
type Findings = Pick<CheckedFeed, 'ok' | 'detail'> & Partial<CheckedFeed>

/** Hosts that are asked at the same time. Each host gets one request at a time. */
const SIDE_BY_SIDE = 8
/** The crawler obeys a Crawl-delay of hours. A check by hand waits this long at most, in ms. */
const LONGEST_PAUSE = 30_000
const UNKNOWN = { status: null, format: null, named: 0, newest: null, moved: null }

/**
 * Tries every feed once, from this machine, without a database: robots.txt, then the feed, with the
 * crawler's own manners.
 *
 * @param report called with each result as it comes
 */
export async function checkFeeds(
  config: Config,
  outlets: Outlet[],
  signal: AbortSignal,
  report: (result: CheckedFeed) => void,
): Promise<CheckedFeed[]> {
  const results: CheckedFeed[] = []
  const parser = openFeedParser({ timeout: config.CRAWL_PARSE_TIMEOUT })
  const trial = openTrial(config, parser, signal)
  const queue = [...byHost(outlets).values()]
  const work = async () => {
    for (let feeds = queue.shift(); feeds !== undefined; feeds = queue.shift()) {
      for (const { domain, url } of feeds) {
        if (signal.aborted) return
        const { found, pause, took } = await check(trial, url)
        if (signal.aborted) return
        const result = { ...UNKNOWN, domain, url, ...found, took: Math.round(took) }
        results.push(result)
        report(result)
        if (url !== feeds.at(-1)?.url) await sleep(pause, undefined, { signal }).catch(() => {})
      }
    }
  }
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, work)).finally(() => parser.close())
  return results
}

/** Shared by all requests of one check. */
interface Trial {
  config: Config
  parser: FeedParser
  signal: AbortSignal
  get(url: URL): Promise<FetchedResponse>
  /** robots.txt by origin, each asked for once; null: it does not answer. */
  robots: Map<string, Promise<FetchedResponse | null>>
}

function openTrial(config: Config, parser: FeedParser, signal: AbortSignal): Trial {
  const connect = guardedConnector(addressRule(config.CRAWL_ALLOW_PRIVATE, config.CRAWL_PORTS), config.CRAWL_TIMEOUT)
  const get = (url: URL) =>
    request(url, { 'user-agent': config.CRAWL_USER_AGENT, accept: '*/*' }, connect, {
      timeout: config.CRAWL_TIMEOUT,
      maxBytes: config.CRAWL_MAX_BYTES,
      signal,
      wanted: () => true,
    })
  return { config, parser, signal, get, robots: new Map() }
}

async function robotsOf({ config, get, robots }: Trial, url: URL): Promise<RobotsRules> {
  const known =
    robots.get(url.origin) ??
    follow(new URL('/robots.txt', url), get, config.CRAWL_HOST_DELAY).then(
      ({ answer }) => answer,
      () => null,
    )
  robots.set(url.origin, known)
  const answer = await known
  if (answer === null || answer.status >= 500) throw new Error('robots.txt does not answer, so nothing may be fetched')
  return readRobots(answer.status < 300 ? answer.body.toString('utf8') : '', productToken(config.CRAWL_USER_AGENT))
}

/** @returns the pause that the host asks for, in ms, besides the findings */
async function check(trial: Trial, url: string): Promise<{ found: Findings; pause: number; took: number }> {
  const { config, get, signal } = trial
  let pause: number = config.CRAWL_HOST_DELAY
  let start = performance.now()
  try {
    const { rules, crawlDelay } = await robotsOf(trial, new URL(url))
    pause = Math.max(pause, Math.min(crawlDelay ?? 0, LONGEST_PAUSE))
    const found: Findings = { ok: false, detail: 'robots.txt forbids it' }
    if (!isAllowed(rules, new URL(url))) return { found, pause, took: performance.now() - start }
    await sleep(pause, undefined, { signal })
    start = performance.now()
    return {
      found: await describe(await follow(new URL(url), get, pause), url, trial),
      pause,
      took: performance.now() - start,
    }
  } catch (error) {
    const detail = error instanceof RequestFailure ? error.message : sentenceOf(error)
    return { found: { ok: false, detail }, pause, took: performance.now() - start }
  }
}

/** One line for each kind of result. */
export function checkTable(results: CheckedFeed[]): string {
  const failed = results.filter(({ ok }) => !ok)
  const outlets = new Set(results.map(({ domain }) => domain))
  const dead = [...outlets].filter(domain => results.every(result => result.domain !== domain || !result.ok))
  return [
    `${results.length - failed.length} of ${counted(results.length, 'feed')} read, ${outlets.size - dead.length} of ${counted(outlets.size, 'outlet')} with at least one.`,
    ...failed.map(({ domain, url, detail }) => printableLine(`${domain}  ${url}  ${detail}`)),
  ].join('\n')
}

function byHost(outlets: Outlet[]): Map<string, { domain: string; url: string }[]> {
  const hosts = new Map<string, { domain: string; url: string }[]>()
  for (const { domain, feeds, sitemaps } of outlets) {
    for (const url of [...feeds, ...sitemaps]) {
      const { host } = new URL(url)
      hosts.set(host, [...(hosts.get(host) ?? []), { domain, url }])
    }
  }
  return hosts
}

/**
 * Follows redirects, five at most.
 * @param pause ms before each
 */
export async function follow(
  from: URL,
  get: (url: URL) => Promise<FetchedResponse>,
  pause: number,
): Promise<{ answer: FetchedResponse; url: URL }> {
  let url = from
  for (let redirects = 0; redirects <= 5; redirects += 1) {
    const answer = await get(url)
    const next =
      answer.status >= 300 && answer.status < 400 ? readAddress(answer.headers.location ?? '', url.href) : null
    if (next === null) return { answer, url }
    url = next
    await sleep(pause)
  }
  throw new Error('redirected more than 5 times')
}

async function describe(
  { answer, url }: { answer: FetchedResponse; url: URL },
  from: string,
  { config, parser }: Trial,
): Promise<Findings> {
  const { status } = answer
  const moved = url.href === new URL(from).href ? null : url.href
  if (status !== 200) return { ok: false, status, moved, detail: `it answers ${status}` }
  const type = answer.headers['content-type'] ?? null
  const bytes = await gunzipFile(answer.body, config.CRAWL_MAX_BYTES)
  const feed = await parser.parse({ bytes, contentType: type, url: url.href }, url.host)
  if (feed === null) return { ok: false, status, moved, detail: `no feed, but ${type ?? 'something without a type'}` }
  const { format, total: named, newest } = feed
  const parts = [
    `${format}, ${format === 'sitemap index' ? counted(named, 'part') : counted(named, 'address', 'addresses')}`,
    ...(newest === null ? [] : [`newest ${newest.slice(0, 10)}`]),
    ...(moved === null ? [] : [`moved to ${moved}`]),
  ]
  return { ok: named > 0, status, format, named, newest, moved, detail: parts.join(', ') }
}
