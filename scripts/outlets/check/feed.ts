import { getDomain } from 'tldts'
import type { FeedFormat } from '../../../services/crawler/feeds/parsing/feed.ts'
import { gunzipFile } from '../../../services/crawler/fetch/compression.ts'
import { RequestFailure } from '../../../services/crawler/fetch/request-failure.ts'
import { counted } from '../../../shared/log/counted.ts'
import { sentenceOf } from '../../../shared/process/command.ts'
import type { Answered, Trial } from './trial.ts'

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
  /** The redirects say that it has moved for good. */
  permanent: boolean
  /** There is no feed at this address, and waiting will not bring it back. */
  dead: boolean
  /** The catalogue names it; false: the check found it. */
  listed: boolean
  /** ms, pauses left out. */
  took: number
}

/** The result of one feed, without its address and its time. */
type Findings = Pick<CheckedFeed, 'ok' | 'detail'> & Partial<CheckedFeed>

const UNKNOWN = { status: null, format: null, named: 0, newest: null, moved: null, permanent: false, dead: false }

/** Tries one address once. */
export async function checkFeed(
  trial: Trial,
  of: { domain: string; url: string; listed: boolean },
): Promise<CheckedFeed> {
  const found = await tryFeed(trial, of.url)
  return { ...UNKNOWN, ...of, ...found, took: Math.round(found.took ?? 0) }
}

async function tryFeed(trial: Trial, url: string): Promise<Findings> {
  try {
    const answered = await trial.get(new URL(url))
    return { ...(await describe(answered, url, trial)), took: answered.took }
  } catch (error) {
    if (!(error instanceof RequestFailure)) return { ok: false, detail: sentenceOf(error) }
    return { ok: false, detail: error.message, dead: error.kind === 'name' }
  }
}

async function describe(
  { answer, url, permanent }: Answered,
  from: string,
  { config, parser }: Trial,
): Promise<Findings> {
  const { status } = answer
  const moved = url.href === new URL(from).href ? null : url.href
  const at = { status, moved, permanent: moved !== null && permanent }
  if (status !== 200)
    return { ok: false, ...at, detail: `it answers ${status}`, dead: status === 404 || status === 410 }
  const type = answer.headers['content-type'] ?? null
  const bytes = await gunzipFile(answer.body, config.CRAWL_MAX_BYTES)
  const feed = await parser.parse({ bytes, contentType: type, url: url.href }, url.host)
  if (feed === null) {
    const detail = `no feed, but ${type ?? 'something without a type'}`
    // A temporary redirect to another site leads to a consent page: the feed may be there for
    // others.
    if (at.permanent || isSameSite(new URL(from), url)) return { ok: false, ...at, detail, dead: true }
    return { ok: false, ...at, detail: `${detail} of ${url.host}, as consent pages are` }
  }
  const { format, total: named, newest } = feed
  const parts = [
    `${format}, ${format === 'sitemap index' ? counted(named, 'part') : counted(named, 'address', 'addresses')}`,
    ...(newest === null ? [] : [`newest ${newest.slice(0, 10)}`]),
    ...(moved === null ? [] : [`moved to ${moved}`]),
  ]
  return { ok: named > 0, ...at, format, named, newest, detail: parts.join(', ') }
}

/** Whether two addresses have the same registrable domain; hosts without one must be equal. */
function isSameSite(one: URL, other: URL): boolean {
  return one.host === other.host || (getDomain(one.hostname) ?? one.host) === getDomain(other.hostname)
}
