import type { Crawl } from '../crawl.ts'
import { gunzipFile } from '../fetch/compression.ts'
import { asFailure } from '../fetch/failure.ts'
import type { Hold } from '../hosts/holds.ts'
import { blocksMet, pagesFetched } from '../metrics.ts'
import { type Fetched, politeGet } from '../robots/polite.ts'
import { savePage, type WaitingPage } from './save.ts'
import { judge, type Verdict } from './verdict.ts'

const HEADERS = { accept: 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.5', 'accept-language': 'nl,fr,de,lb,en;q=0.5' }

/** Tries one page. True: the visit may go on; false: the host is not to be asked any more for now. */
export async function fetchPage(crawl: Crawl, visit: Hold, page: WaitingPage): Promise<boolean> {
  const fetched = await unzipped(await politeGet(crawl, visit, page.url, HEADERS), crawl.config.CRAWL_MAX_BYTES)
  if (fetched.kind === 'interrupted') return false
  const verdict = judge(fetched, page.attempts)
  const became = await savePage(crawl.pool, page, verdict, crawl.config.CRAWL_RETRY_MIN)
  pagesFetched.inc({ outcome: outcomeOf(verdict, became) })
  if (verdict.kind === 'store without body') blocksMet.inc({ kind: verdict.block })
  crawl.log.info({ page: String(page.pageNo), url: page.url, became, ...reasonOf(verdict) }, 'fetched')
  if (became === 'stored' || became === 'blocked') await ringNormaliser(crawl, page.pageNo)
  const ownHost = 'host' in fetched && fetched.host === visit.host
  return !ownHost
}

/** Some servers serve files that are compressed as if they were not. */
async function unzipped(fetched: Fetched, maxBytes: number): Promise<Fetched> {
  if (fetched.kind !== 'answer') return fetched
  try {
    return { ...fetched, answer: { ...fetched.answer, body: await gunzipFile(fetched.answer.body, maxBytes) } }
  } catch (error) {
    const { kind, message } = asFailure(error)
    return { kind: 'failure', reason: kind, detail: message }
  }
}

/** Only a bell: the normaliser finds what is stored in Postgres too, should the queues be out of reach. */
async function ringNormaliser(crawl: Crawl, pageNo: bigint): Promise<void> {
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
