import type { Crawl } from '../crawl.ts'
import { conditions } from '../fetch/validators.ts'
import type { Lease } from '../hosts/leases.ts'
import { pageLooks } from '../metrics.ts'
import { PAGE_HEADERS, spendTry, unzipped } from '../pages/fetch.ts'
import { politeGet } from '../robots/polite.ts'
import type { DueLook } from './due.ts'
import { saveLook } from './save.ts'
import { seenOf } from './seen.ts'

/**
 * Looks at a page again, with a conditional request.
 * @returns whether the visit may go on; false: its host must not be asked again for now
 */
export async function lookAtPage(crawl: Crawl, visit: Lease, look: DueLook): Promise<boolean> {
  const { pool, config } = crawl
  const begun = performance.now()
  const headers = { ...PAGE_HEADERS, ...conditions(look) }
  const fetched = await unzipped(
    await politeGet(crawl, visit, look.outletNo, look.url, headers),
    config.CRAWL_MAX_BYTES,
  )
  if (fetched.kind === 'interrupted') return false
  const took = performance.now() - begun
  const seen = seenOf(fetched, look)
  const { bytes, saved } = await saveLook(pool, look, seen, { took, config })
  await spendTry(crawl, look.outletNo, { fetched, bytes, took })
  const outcome = 'reason' in seen ? `${seen.kind}: ${seen.reason}` : seen.kind
  pageLooks.inc({ outcome: saved ? outcome : 'known' })
  crawl.log.info({ page: String(look.pageNo), url: look.url, outcome }, 'looked at again')
  return !('host' in fetched && fetched.host === visit.host)
}
