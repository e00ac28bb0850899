import { isRecord } from '../../../shared/encoding/is-record.ts'
import type { Crawl } from '../crawl.ts'
import { spend } from '../hosts/budgets.ts'
import type { Lease } from '../hosts/leases.ts'
import { type Fetched, politeGet } from './polite-get.ts'
import { matchesPath } from './robots.ts'

/** One rule of a host's tdmrep.json (W3C community group, "TDM Reservation Protocol"). */
export interface TdmRule {
  /** A pattern as in robots.txt. */
  location: string
  reservation: '0' | '1'
  policy: string | null
}

const FILE = '/.well-known/tdmrep.json'
/** Bytes. A longer file is cut, and then is no JSON. */
const LIMIT = 512_000
const MOST_RULES = 1_000
const LONGEST = 2_000
/** ms for which an answer holds, and for which none does. */
const KEEP = 86_400_000
const TRY_AGAIN = 3_600_000

/** The rule for an address; null: none. Of several that match, the first in the file counts. */
export const ruleFor = (rules: TdmRule[], url: URL): TdmRule | null =>
  rules.find(({ location }) => matchesPath(location, url)) ?? null

/**
 * The rules of a tdmrep.json; none for a file that is not of this form. A rule without a location
 * or with another value than 0 and 1 says nothing.
 */
export function readTdmFile(text: string): TdmRule[] {
  let file: unknown
  try {
    file = JSON.parse(text.replace(/^\ufeff/, ''))
  } catch {
    return []
  }
  return (Array.isArray(file) ? file : []).slice(0, MOST_RULES).flatMap((rule: unknown): TdmRule[] => {
    if (!isRecord(rule)) return []
    const { location, 'tdm-policy': policy } = rule
    const reservation = String(rule['tdm-reservation'])
    if (typeof location !== 'string' || location.length > LONGEST) return []
    if (reservation !== '0' && reservation !== '1') return []
    return [{ location, reservation, policy: typeof policy === 'string' ? policy.slice(0, LONGEST) : null }]
  })
}

/**
 * The tdmrep.json of an address's host, fetched once a day as politely as a page: robots.txt, a
 * permit, the outlet's budget. A host that gives no such file has no rules.
 *
 * @returns rules, or why the page has to wait
 */
export async function tdmRulesOf(
  crawl: Crawl,
  visit: Lease,
  outletNo: number,
  { origin, host }: URL,
): Promise<TdmRule[] | Extract<Fetched, { kind: 'busy' | 'interrupted' }>> {
  const known = await crawl.pool.query<{ tdm: TdmRule[] | null }>(
    'select tdm from hosts where host = $1 and tdm_until > clock_timestamp()',
    [host],
  )
  if (known.rows[0] !== undefined) return known.rows[0].tdm ?? []
  const headers = { accept: 'application/json,*/*;q=0.5' }
  const fetched = await politeGet(crawl, visit, outletNo, origin + FILE, headers, { beginning: LIMIT })
  if (fetched.kind === 'busy' || fetched.kind === 'interrupted') return fetched
  // The page has the same trouble, and tells it.
  if (fetched.kind === 'robots unreachable' || (fetched.kind === 'failure' && fetched.reason === 'held')) return []
  const answer = fetched.kind === 'answer' && fetched.answer.status < 500 ? fetched.answer : null
  const rules = answer !== null && answer.status === 200 ? readTdmFile(answer.body.toString('utf8')) : []
  if (answer !== null) await spend(crawl.pool, outletNo, { hosts: 0, bytes: answer.body.length })
  const isSettled = answer !== null || fetched.kind === 'disallowed'
  await crawl.pool.query(
    "update hosts set tdm = $2, tdm_until = clock_timestamp() + $3 * interval '1 ms' where host = $1",
    [host, rules.length === 0 ? null : JSON.stringify(rules), isSettled ? KEEP : TRY_AGAIN],
  )
  return rules
}
