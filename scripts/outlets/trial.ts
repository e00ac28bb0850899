import { setTimeout as sleep } from 'node:timers/promises'
import { type FeedParser, openFeedParser } from '#services/crawler/feeds/parsing/parser'
import { guardedConnector, introducesItself, introduction } from '#services/crawler/fetch/connector'
import { createLeniency } from '#services/crawler/fetch/lenient'
import { MISREAD } from '#services/crawler/fetch/permitted-request'
import { type Fetched, followAll, freshTrack } from '#services/crawler/fetch/polite-get'
import { type FetchedResponse, request } from '#services/crawler/fetch/request'
import {
  asFailure,
  type FailureKind,
  RequestFailure,
} from '#services/crawler/fetch/request-failure'
import { isAllowed, type RobotsRules, readRobots } from '#services/crawler/fetch/robots'
import { addressRule } from '#shared/addresses'
import type { Config } from '#shared/config/config'
import { productToken } from '#shared/outlets/rights'

/** The requests of one check: each host gets one request at a time, with a pause between two. */
export interface Trial {
  parser: FeedParser
  signal: AbortSignal
  /**
   * Fetches an address. Obeys robots.txt and follows redirects.
   * @throws Error with a sentence that says why there is no answer
   */
  get(url: URL): Promise<Answered>
  /** The text of a host's robots.txt; empty when the host has none, or does not answer. */
  robotsText(url: URL): Promise<string>
  close(): Promise<void>
}

export interface Answered {
  permanent: boolean
  kind: 'answer'
  answer: FetchedResponse
  url: URL
}

/** The crawler obeys a Crawl-delay of hours. A manual check waits at most this long, in ms. */
const LONGEST_PAUSE = 30_000

export function openTrial(config: Config, signal: AbortSignal): Trial {
  const parser = openFeedParser()
  const ask = pacedRequest(config, signal)
  const robots = new Map<string, Promise<FetchedResponse | RequestFailure>>()

  // A robots.txt is always requested, because its rules do not apply to the file itself.
  const robotsAnswer = (url: URL) => {
    const known =
      robots.get(url.origin) ??
      follow(new URL('/robots.txt', url), ask, config).then(
        ({ answer }) => answer,
        (error: unknown) => asFailure(error),
      )
    robots.set(url.origin, known)
    return known
  }
  const rulesOf = async (url: URL): Promise<RobotsRules> => {
    const answer = await robotsAnswer(url)
    if (answer instanceof RequestFailure) throw new Error(whyNotAsked(answer))
    if (answer.status >= 500 || answer.status === 429)
      throw new Error(`robots.txt answers ${answer.status}, so nothing may be fetched`)
    return readRobots(
      answer.status < 300 ? answer.body.toString('utf8') : '',
      productToken(config.CRAWL_USER_AGENT),
    )
  }
  const askAllowed: Ask = async (url, cookie) => {
    const { rules, crawlDelay } = await rulesOf(url)
    if (!isAllowed(rules, url)) throw new Error('robots.txt forbids it')
    return ask(url, cookie, Math.min(crawlDelay ?? 0, LONGEST_PAUSE))
  }
  return {
    parser,
    signal,
    get: url => follow(url, askAllowed, config),
    async robotsText(url) {
      const answer = await robotsAnswer(url)
      return !(answer instanceof RequestFailure) && answer.status < 300
        ? answer.body.toString('utf8')
        : ''
    },
    close: () => parser.close(),
  }
}

/** Kinds of failures before a request was sent. */
const NOT_ASKED: ReadonlySet<FailureKind> = new Set([
  'private-address',
  'port',
  'held',
  'name',
  'connection',
  'tls',
])

/** The reason why nothing may be fetched from a host whose robots.txt could not be read. */
const whyNotAsked = ({ kind, message }: RequestFailure) =>
  NOT_ASKED.has(kind)
    ? message
    : `robots.txt does not answer, so nothing may be fetched: ${message}`

type Ask = (url: URL, cookie: string, pause?: number) => Promise<FetchedResponse>

/**
 * Sends requests to one host one after another, with CRAWL_HOST_DELAY between them, or a longer
 * pause.
 */
function pacedRequest(config: Config, signal: AbortSignal): Ask {
  const connect = guardedConnector(
    addressRule(config.CRAWL_ALLOW_PRIVATE, config.CRAWL_PORTS, introducesItself(config)),
    config.CRAWL_TIMEOUT,
  )
  const ends = new Map<string, { turn: Promise<unknown>; at: number }>()
  return (url, cookie, pause = 0) => {
    const { host } = url
    const before = ends.get(host)
    const asking = (async () => {
      await before?.turn.catch(() => {})
      const free =
        (ends.get(host)?.at ?? Number.NEGATIVE_INFINITY) + Math.max(config.CRAWL_HOST_DELAY, pause)
      await sleep(Math.max(0, free - performance.now()), undefined, { signal })
      try {
        const headers = {
          ...introduction(config),
          accept: '*/*',
          ...(cookie === '' ? {} : { cookie }),
        }
        const limits = {
          timeout: config.CRAWL_TIMEOUT,
          maxBytes: config.CRAWL_MAX_BYTES,
          signal,
          wanted: () => true,
        }
        return await request(url, headers, connect, limits).catch(async (error: unknown) => {
          if (!MISREAD.has(asFailure(error).kind)) throw error
          await sleep(config.CRAWL_HOST_DELAY, undefined, { signal })
          return request(url, headers, connect, { ...limits, leniency: createLeniency() })
        })
      } finally {
        const known = ends.get(host)
        if (known !== undefined) known.at = performance.now()
      }
    })()
    ends.set(host, { turn: asking, at: before?.at ?? Number.NEGATIVE_INFINITY })
    return asking
  }
}

/**
 * Follows redirects as the crawler does, with cookies. `permanent`: every redirect was a permanent
 * one (301, 308).
 */
async function follow(from: URL, ask: Ask, { CRAWL_MAX_BYTES }: Config): Promise<Answered> {
  const track = freshTrack()
  const step = async (url: URL): Promise<Fetched> => {
    const answer = await ask(url, track.cookies.headerFor(url))
    return { kind: 'answer', answer, url, moved: null }
  }
  const fetched = await followAll(track, from, step, CRAWL_MAX_BYTES)
  if (fetched.kind === 'answer')
    return { ...fetched, permanent: fetched.moved?.href === fetched.url.href }
  throw new Error('detail' in fetched ? fetched.detail : fetched.kind)
}
