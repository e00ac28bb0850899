import { noteTry, type Try } from '../budgets/budget.ts'
import type { Crawl } from '../crawl.ts'
import { gunzipFile } from '../fetch/compression.ts'
import { asFailure } from '../fetch/request-failure.ts'
import type { Lease } from '../hosts/leases.ts'
import { blocksMet, pagesFetched } from '../metrics.ts'
import { type Fetched, politeGet } from '../robots/polite.ts'
import { savePage, type WaitingPage } from './save.ts'
import { judge, type Verdict } from './verdict.ts'

export const PAGE_HEADERS = {
  accept: 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.5',
  'accept-language': 'nl,fr,de,lb,en;q=0.5',
}

/**
 * Tries one page.
 * @returns whether the visit may go on; false: its host must not be asked again for now
 */
export async function fetchPage(crawl: Crawl, visit: Lease, page: WaitingPage): Promise<boolean> {
  const { pool, config } = crawl
  const begun = performance.now()
  const fetched = await unzipped(
    await politeGet(crawl, visit, page.outletNo, page.url, PAGE_HEADERS),
    config.CRAWL_MAX_BYTES,
  )
  if (fetched.kind === 'interrupted') return false
  const took = performance.now() - begun
  const verdict = judge(fetched, page.attempts)
  const { became, bytes, many } = await savePage(pool, page, verdict, config.CRAWL_RETRY_MIN)
  await spendTry(crawl, page.outletNo, { fetched, bytes, took })
  pagesFetched.inc({ outcome: outcomeOf(verdict, became) })
  if (verdict.kind === 'store without body') blocksMet.inc({ kind: verdict.block })
  crawl.log.info({ page: String(page.pageNo), url: page.url, became, ...reasonOf(verdict) }, 'fetched')
  if ((became === 'stored' || became === 'blocked') && !many) await notifyNormaliser(crawl, page.pageNo)
  const ownHost = 'host' in fetched && fetched.host === visit.host
  return !ownHost
}

/**
 * Notes a try in the outlet's budget of today.
 *
 * @param of.bytes that are stored
 * @param of.took ms
 */
export async function spendTry(
  crawl: Crawl,
  outletNo: number,
  of: { fetched: Exclude<Fetched, { kind: 'interrupted' }>; bytes: number; took: number },
): Promise<void> {
  const tried = tryOf(of.fetched, of.bytes, of.took, crawl.config)
  if (tried !== null && (await noteTry(crawl.pool, outletNo, tried, crawl.config))) crawl.held.pages.add(outletNo)
}

/**
 * The try as the outlet's budget counts it. Null: no request was made, and the page still waits.
 *
 * @param kept bytes of the page that are stored
 * @param took ms
 */
function tryOf(
  fetched: Exclude<Fetched, { kind: 'interrupted' }>,
  kept: number,
  took: number,
  { CRAWL_TIMEOUT, CRAWL_MAX_BYTES }: Crawl['config'],
): Try | null {
  switch (fetched.kind) {
    case 'answer':
      return { bytes: kept || fetched.answer.body.length, answer: took < CRAWL_TIMEOUT / 2 ? 'in time' : 'slow' }
    case 'failure':
      return {
        bytes: fetched.reason === 'too-large' ? CRAWL_MAX_BYTES : 0,
        answer: fetched.reason === 'time-out' ? 'late' : 'neither',
      }
    case 'robots unreachable':
      // It took no time when we knew already that the robots.txt does not answer.
      return took >= CRAWL_TIMEOUT / 2 ? { bytes: 0, answer: 'late' } : null
    case 'disallowed':
      // It costs no request, but crawl memory keeps the page for ever.
      return { bytes: 0, answer: 'neither' }
    case 'busy':
      return null
  }
}

/** Decompresses a body whose headers do not say that it is compressed. */
export async function unzipped(fetched: Fetched, maxBytes: number): Promise<Fetched> {
  if (fetched.kind !== 'answer') return fetched
  try {
    return { ...fetched, answer: { ...fetched.answer, body: await gunzipFile(fetched.answer.body, maxBytes) } }
  } catch (error) {
    const { kind, message } = asFailure(error)
    return { kind: 'failure', reason: kind, detail: message }
  }
}

/**
 * Notifies the normaliser of a stored page. If the queues are out of reach, the normaliser finds
 * the page in Postgres.
 */
async function notifyNormaliser(crawl: Crawl, pageNo: bigint): Promise<void> {
  try {
    await crawl.queues.add('normalise', [{ key: String(pageNo), data: { pageNo: String(pageNo) } }])
    crawl.unheard.over()
  } catch (error) {
    crawl.unheard.met(error)
  }
}

function outcomeOf(verdict: Verdict, became: string): string {
  const reason = reasonOf(verdict).reason
  return reason === undefined ? became : `${became}: ${reason}`
}

function reasonOf(verdict: Verdict): { reason?: string } {
  if ('reason' in verdict) return { reason: verdict.reason }
  return 'block' in verdict ? { reason: verdict.block } : {}
}
