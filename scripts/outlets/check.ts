import { setTimeout as sleep } from 'node:timers/promises'
import { namedAddresses } from '../../services/crawler/feeds/addresses.ts'
import { parseFeed } from '../../services/crawler/feeds/parse.ts'
import { addressRule } from '../../services/crawler/fetch/addresses.ts'
import { guardedConnector } from '../../services/crawler/fetch/connector.ts'
import { RequestFailure } from '../../services/crawler/fetch/failure.ts'
import { type Answer, gunzipFile, request } from '../../services/crawler/fetch/request.ts'
import { isAllowed, productToken, readRobots } from '../../services/crawler/robots/rules.ts'
import { readAddress } from '../../shared/articles/address.ts'
import type { Config } from '../../shared/config/config.ts'
import { decodeText } from '../../shared/encoding/decode.ts'
import type { Outlet } from '../../shared/outlets/outlet.ts'
import { sentenceOf } from '../../shared/process/command.ts'

export interface CheckedFeed {
  domain: string
  url: string
  ok: boolean
  /** What kind of feed it is and what it holds, or why it cannot be read. */
  detail: string
}

/** Hosts that are asked side by side; one of them is asked for one thing at a time. */
const SIDE_BY_SIDE = 8

/**
 * Tries every feed once, from this machine, without a database: robots.txt, then the feed, with the crawler's own manners.
 * @param report called with each result as it comes
 */
export async function checkFeeds(
  config: Config,
  outlets: Outlet[],
  signal: AbortSignal,
  report: (result: CheckedFeed) => void,
): Promise<CheckedFeed[]> {
  const results: CheckedFeed[] = []
  const connect = guardedConnector(addressRule(config.CRAWL_ALLOW_PRIVATE), config.CRAWL_TIMEOUT)
  const robots = new Map<string, Promise<Answer | null>>()
  const get = (url: URL) =>
    request(url, { 'user-agent': config.CRAWL_USER_AGENT, accept: '*/*' }, connect, {
      timeout: config.CRAWL_TIMEOUT,
      maxBytes: config.CRAWL_MAX_BYTES,
      signal,
      wanted: () => true,
    })

  const allowed = async (url: URL): Promise<boolean> => {
    const known =
      robots.get(url.origin) ??
      follow(new URL('/robots.txt', url), get).then(
        ({ answer }) => answer,
        () => null,
      )
    robots.set(url.origin, known)
    const answer = await known
    if (answer === null || answer.status >= 500)
      throw new Error('robots.txt does not answer, so nothing may be fetched')
    if (answer.status >= 400) return true
    return isAllowed(readRobots(answer.body.toString('utf8'), productToken(config.CRAWL_USER_AGENT)).rules, url)
  }

  const check = async (domain: string, url: string): Promise<CheckedFeed> => {
    try {
      if (!(await allowed(new URL(url)))) return { domain, url, ok: false, detail: 'robots.txt forbids it' }
      await sleep(config.CRAWL_HOST_DELAY, undefined, { signal })
      return { domain, url, ...(await describe(await follow(new URL(url), get), config)) }
    } catch (error) {
      return { domain, url, ok: false, detail: error instanceof RequestFailure ? error.message : sentenceOf(error) }
    }
  }

  const queue = [...byHost(outlets).values()]
  const work = async () => {
    for (let feeds = queue.shift(); feeds !== undefined; feeds = queue.shift()) {
      for (const { domain, url } of feeds) {
        if (signal.aborted) return
        const result = await check(domain, url)
        results.push(result)
        report(result)
        await sleep(config.CRAWL_HOST_DELAY)
      }
    }
  }
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, work))
  return results
}

/** One line for each kind of result. */
export function checkTable(results: CheckedFeed[]): string {
  const failed = results.filter(({ ok }) => !ok)
  const outlets = new Set(results.map(({ domain }) => domain))
  const dead = [...outlets].filter(domain => results.every(result => result.domain !== domain || !result.ok))
  return [
    `${results.length - failed.length} of ${results.length} feeds read, ${outlets.size - dead.length} of ${outlets.size} outlets with at least one.`,
    ...failed.map(({ domain, url, detail }) => `${domain}  ${url}  ${detail}`),
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

async function follow(from: URL, get: (url: URL) => Promise<Answer>): Promise<{ answer: Answer; url: URL }> {
  let url = from
  for (let redirects = 0; redirects <= 5; redirects += 1) {
    const answer = await get(url)
    const next =
      answer.status >= 300 && answer.status < 400 ? readAddress(answer.headers.location ?? '', url.href) : null
    if (next === null) return { answer, url }
    url = next
  }
  throw new Error('redirected more than 5 times')
}

async function describe(
  { answer, url }: { answer: Answer; url: URL },
  config: Config,
): Promise<{ ok: boolean; detail: string }> {
  if (answer.status !== 200) return { ok: false, detail: `it answers ${answer.status}` }
  const bytes = await gunzipFile(answer.body, config.CRAWL_MAX_BYTES)
  const { text } = decodeText(bytes, { contentType: answer.headers['content-type'] ?? null, kind: 'xml' })
  const feed = await parseFeed(text, url.href)
  if (feed === null)
    return { ok: false, detail: `no feed, but ${answer.headers['content-type'] ?? 'something without a type'}` }
  const count =
    feed.format === 'sitemap index'
      ? `${feed.parts.length} parts`
      : `${namedAddresses(feed, url.href).length} addresses`
  return { ok: true, detail: `${feed.format}, ${count}` }
}
