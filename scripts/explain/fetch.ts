import { setTimeout as sleep } from 'node:timers/promises'
import { addressRule } from '../../services/crawler/fetch/addresses.ts'
import { gunzipFile } from '../../services/crawler/fetch/compression.ts'
import { guardedConnector } from '../../services/crawler/fetch/connector.ts'
import { request } from '../../services/crawler/fetch/request.ts'
import { RequestFailure } from '../../services/crawler/fetch/request-failure.ts'
import { isAllowed, productToken, readRobots } from '../../services/crawler/robots/rules.ts'
import type { Config } from '../../shared/config/config.ts'
import type { StoredPage } from '../../shared/pages/page.ts'
import { follow } from '../outlets/check.ts'

/** ms. The crawler obeys a Crawl-delay of hours; a command waits this long at most. */
const LONGEST_PAUSE = 30_000

/**
 * Asks the outlet for a page once more, with the crawler's own manners: public addresses alone,
 * robots.txt first, a pause between two requests.
 *
 * @throws an error whose message says why there is no page
 */
export async function fetchPage(config: Config, page: StoredPage, signal: AbortSignal): Promise<StoredPage> {
  const connect = guardedConnector(addressRule(config.CRAWL_ALLOW_PRIVATE, config.CRAWL_PORTS), config.CRAWL_TIMEOUT)
  const headers = { 'user-agent': config.CRAWL_USER_AGENT, accept: 'text/html,*/*;q=0.5' }
  const limits = { timeout: config.CRAWL_TIMEOUT, maxBytes: config.CRAWL_MAX_BYTES, signal, wanted: () => true }
  const get = (url: URL) => request(url, headers, connect, limits)
  try {
    const url = new URL(page.url)
    const robots = (await follow(new URL('/robots.txt', url), get, config.CRAWL_HOST_DELAY)).answer
    if (robots.status >= 500) throw new Error('robots.txt does not answer, so nothing may be fetched')
    const { rules, crawlDelay } = readRobots(
      robots.status < 300 ? robots.body.toString('utf8') : '',
      productToken(config.CRAWL_USER_AGENT),
    )
    if (!isAllowed(rules, url)) throw new Error('robots.txt forbids it')
    const pause = Math.max(config.CRAWL_HOST_DELAY, Math.min(crawlDelay ?? 0, LONGEST_PAUSE))
    await sleep(pause, undefined, { signal })
    const { answer, url: finalUrl } = await follow(url, get, pause)
    const body = answer.status < 300 ? await gunzipFile(answer.body, config.CRAWL_MAX_BYTES) : null
    return {
      ...{ ...page, finalUrl: finalUrl.href, status: answer.status, body, fetchedAt: new Date() },
      contentType: answer.headers['content-type'] ?? null,
    }
  } catch (error) {
    const reason = error instanceof RequestFailure || error instanceof Error ? error.message : String(error)
    throw new Error(`${page.url} cannot be fetched: ${reason}`, { cause: error })
  }
}
