import type { StoredPage } from '#shared/outlets/page'
import type { Fetched } from './fetch/polite-get.ts'
import { type FetchedResponse, hasEnd } from './fetch/request.ts'

/** The stored parts of an answer, without its body. */
type Head = Pick<StoredPage, 'status' | 'contentType' | 'rights' | 'foreign'> & { url: string }

/** The decision about a page after a try. */
export type Verdict =
  | ({ kind: 'store'; body: Buffer } & Head)
  /** The outlet refuses the page in the way `block`. The article is made from the feed's entry. */
  | ({ kind: 'store without body'; block: string } & Head)
  /** The page is never indexed. */
  | {
      kind: 'refuse'
      reason:
        | 'gone'
        | 'robots'
        | 'other outlet'
        | 'foreign host'
        | 'not-html'
        | 'private-address'
        | 'port'
        | 'too-large'
      detail: string | null
    }
  /**
   * The page is tried again, with growing pauses. `end`: its state when it is given up, by default
   * `failed`.
   */
  | { kind: 'retry'; reason: string; detail: string | null; end?: 'refused' }
  /** The page was not tried. It is due again in `wait` ms, and no attempt is counted. */
  | { kind: 'put back'; wait: number; reason: string }

/**
 * ms after which a feed or page that is `held` is tried again. It is held because CRAWL_USER_AGENT
 * does not name the operator.
 */
export const HELD_FOR = 60_000

/**
 * The try in which a page is accepted without `</html>`, if its answer has no length. Some pages
 * never have this end.
 */
const TRIES_WITHOUT_AN_END = 3

/**
 * Decides about a page from the outcome of a try.
 * @param attempts tries before this one
 */
export function judge(
  fetched: Exclude<Fetched, { kind: 'interrupted' }>,
  attempts: number,
): Verdict {
  switch (fetched.kind) {
    case 'answer':
      return judgeAnswer(fetched.answer, fetched.url.href, attempts)
    case 'disallowed':
      return { kind: 'refuse', reason: 'robots', detail: fetched.detail }
    case 'robots unreachable':
      return { kind: 'put back', wait: fetched.wait, reason: 'robots unreachable' }
    case 'busy':
      return { kind: 'put back', wait: fetched.wait, reason: 'host busy' }
    case 'cookies':
      // The redirects would end only with a cookie that needs a browser. So the outlet refuses the
      // page to us.
      return {
        kind: 'store without body',
        status: 302,
        url: fetched.url.href,
        contentType: null,
        rights: null,
        block: 'cookies',
      }
    case 'failure':
      if (fetched.reason === 'held') return { kind: 'put back', wait: HELD_FOR, reason: 'held' }
      if (
        fetched.reason === 'private-address' ||
        fetched.reason === 'port' ||
        fetched.reason === 'too-large'
      )
        return { kind: 'refuse', reason: fetched.reason, detail: fetched.detail }
      return { kind: 'retry', reason: fetched.reason, detail: fetched.detail }
  }
}

function judgeAnswer(answer: FetchedResponse, url: string, attempts: number): Verdict {
  const { status, headers, rights } = answer
  const contentType = headers['content-type'] ?? null
  const block = blockOf(answer)
  if (block !== null) return { kind: 'store without body', status, url, contentType, rights, block }
  const detail = `the outlet answers ${status}`
  if (status === 410) return { kind: 'refuse', reason: 'gone', detail }
  // The feed may name a page before the caches of its outlet have it.
  if (status === 404) return { kind: 'retry', reason: 'gone', detail, end: 'refused' }
  if (status === 429) return { kind: 'retry', reason: 'too many requests', detail }
  if (status < 200 || status > 299)
    return { kind: 'retry', reason: status < 500 ? 'refused request' : 'server error', detail }
  if (status === 206)
    return { kind: 'retry', reason: 'cut', detail: 'the outlet sent a part that nobody asked for' }
  if (answer.body.length === 0)
    return { kind: 'retry', reason: 'cut', detail: 'the answer is empty' }
  if (!isHtml(contentType, answer.body))
    return { kind: 'refuse', reason: 'not-html', detail: contentType }
  if (!answer.framed && attempts + 1 < TRIES_WITHOUT_AN_END && !hasEnd(answer.body))
    return { kind: 'retry', reason: 'cut', detail: 'the connection ended before the page did' }
  return { kind: 'store', status, url, contentType, rights, body: answer.body }
}

/**
 * How an outlet refuses a page, by status and headers. Interstitials, which are pages of text, are
 * recognised by the normaliser.
 */
function blockOf({ status, headers }: FetchedResponse): string | null {
  if (headers['cf-mitigated'] === 'challenge' || headers['x-amzn-waf-action'] !== undefined)
    return 'challenge'
  if (
    status === 403 &&
    (headers['x-datadome'] !== undefined || /datadome/i.test(headers.server ?? ''))
  )
    return 'challenge'
  return BLOCKS[status] ?? null
}

const BLOCKS: Record<number, string> = {
  401: 'login',
  402: 'paywall',
  403: 'forbidden',
  451: 'legal',
}

/** Whether a body is HTML, by its type, or by its beginning when the type is vague or wrong. */
function isHtml(contentType: string | null, body: Buffer): boolean {
  const type = contentType?.split(';')[0]?.trim().toLowerCase() ?? ''
  const start = body.subarray(0, 2_048).toString('latin1')
  if (/^(%PDF-|\u0089PNG|GIF8|RIFF|\u00ff\u00d8\u00ff)/.test(start)) return false
  if (type === 'text/html' || type === 'application/xhtml+xml') return true
  if (
    type !== '' &&
    !/^(text\/plain|application\/octet-stream|(text|application)\/xml|unknown\/.*)$/.test(type)
  )
    return false
  // Text in UTF-16 has a zero beside every letter.
  return /<!doctype\s+html|<(html|head|body|article|meta|title)[\s>]/i.test(
    start.replaceAll('\0', ''),
  )
}
