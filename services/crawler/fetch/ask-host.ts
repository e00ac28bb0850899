import { spend } from '../budgets/budget.ts'
import { admitsHost } from '../budgets/new-hosts.ts'
import type { Crawl } from '../crawl.ts'
import type { Lease } from '../hosts/leases.ts'
import { type Asked, OWN_PAUSE, type PermittedOptions, requestWithPermit } from './permitted-request.ts'
import { CERTIFICATE_LIMIT, missingCertificates } from './tls/missing-certificates.ts'

/** ms that a visit waits for the host of an authority. */
const PATIENCE = 15_000

/**
 * Makes one request with a permit. When the host does not send all certificates of its chain, the
 * missing ones are fetched as browsers fetch them, each with a permit of its own host, and the
 * request is made again. This is tried once an hour for a host, and the outlet's budget pays.
 */
export async function askHost(
  crawl: Crawl,
  visit: Lease,
  url: URL,
  headers: Record<string, string>,
  options: PermittedOptions,
): Promise<Asked> {
  const asked = await requestWithPermit(crawl, visit, url, headers, options)
  if (asked.kind !== 'failure' || asked.incomplete === undefined || !crawl.trust.mayTry(url.host)) return asked
  const fetch = (address: URL) => fetchCertificate(crawl, visit, address, options.outletNo)
  const missing = await missingCertificates(asked.incomplete, crawl.trust, fetch)
  if (missing === null) return asked
  crawl.trust.remember(url.host, missing)
  crawl.log.info({ host: url.host, certificates: missing.length }, 'fetched certificates that a host does not send')
  return requestWithPermit(crawl, visit, url, headers, { ...options, patience: OWN_PAUSE })
}

async function fetchCertificate(crawl: Crawl, visit: Lease, address: URL, outletNo: number): Promise<Buffer | null> {
  const { pool, config } = crawl
  if (address.host !== visit.host && !(await admitsHost(pool, outletNo, address.host, config))) return null
  const headers = { accept: 'application/pkix-cert,*/*;q=0.5' }
  const limits = { outletNo, patience: PATIENCE, beginning: CERTIFICATE_LIMIT }
  const asked = await requestWithPermit(crawl, visit, address, headers, limits)
  if (asked.kind !== 'answer' || asked.answer.status !== 200) return null
  await spend(pool, outletNo, { hosts: 0, bytes: asked.answer.body.length })
  return asked.answer.body
}
