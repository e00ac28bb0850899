import { isIP } from 'node:net'
import { domainToUnicode } from 'node:url'
import { withFiles } from '#shared/outlets/rights'
import { type Pool, type Queryable, readRow } from '#shared/postgres/pool'
import type { Crawl } from './crawl.ts'
import { pagesFetched } from './crawl-metrics.ts'
import { type Fetched, politeGet } from './fetch/polite-get.ts'
import { refreshOf } from './fetch/redirects.ts'
import { recallStated, statedOf } from './fetch/robots.ts'
import { type TdmAnswer, tdmRuleOf } from './fetch/tdm.ts'
import { noteTry, type Try } from './hosts/budgets.ts'
import type { WaitingPage } from './hosts/due.ts'
import type { Lease } from './hosts/leases.ts'
import { savePage } from './save-page.ts'
import { judge, type Verdict } from './verdict.ts'

/*
 * A try at a page ends in a verdict: the page is stored, refused, or tried again later. The verdict
 * also depends on the owner of the host, on robots.txt and tdmrep.json, and on budgets.
 */

const PAGE_HEADERS = {
  accept: 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.5',
  'accept-language': 'nl,fr,de,lb,en;q=0.5',
}

/**
 * Tries one page.
 * @returns false when the visit must end: it was interrupted, or its host must rest for now
 */
export async function fetchPage(crawl: Crawl, visit: Lease, page: WaitingPage): Promise<boolean> {
  const asked = await askPage(crawl, visit, page)
  if (asked === null) return false
  await asked.spend(await settle(crawl, page, asked.verdict))
  return asked.goesOn
}

/** What follows from a try, before it is saved. */
export interface Asked {
  verdict: Verdict
  /** False: the host must rest for now. */
  goesOn: boolean
  /**
   * Records the try in the outlet's budget of today.
   * @param kept bytes of the page that are stored
   */
  spend(kept: number): Promise<void>
}

/** Asks for one page, as politely as for all. Null: it was interrupted. */
export async function askPage(crawl: Crawl, visit: Lease, page: AskedPage): Promise<Asked | null> {
  const { pool } = crawl
  const url = new URL(page.url)
  const owner = await readOwnership(pool, page.outletNo, url)
  const unasked = (verdict: Verdict, goesOn: boolean) => ({ verdict, goesOn, async spend() {} })
  if (owner.of === 'another outlet') return unasked(refusedAsAnothers(url, owner.domain), true)
  const begun = performance.now()
  // tdmrep.json is requested before the page, as its protocol demands. So a page that has to wait
  // for the file is not fetched in vain.
  const early = await tdmRuleOf(crawl, visit, page.outletNo, url)
  if (early.unread?.kind === 'interrupted') return null
  if (early.unread !== null)
    return unasked(judge(early.unread, page.attempts), early.unread.host !== visit.host)
  const fetched = await politeGet(crawl, visit, page.outletNo, page.url, PAGE_HEADERS, {
    refreshOf,
  })
  if (fetched.kind === 'interrupted') return null
  const took = performance.now() - begun
  const judged = await ofOwnHost(pool, page, owner, judge(fetched, page.attempts))
  const verdict = await withTdm(crawl, visit, page, { judged, early })
  if (verdict.kind === 'interrupted') return null
  const ownHost = 'host' in fetched && fetched.host === visit.host
  const isHeld = fetched.kind === 'failure' && fetched.reason === 'held'
  const unread = unreadBy(verdict, page)
  return {
    verdict,
    goesOn: !ownHost && !isHeld,
    spend: kept => spendTry(crawl, page.outletNo, { fetched, kept, took, unread }),
  }
}

type AskedPage = Pick<WaitingPage, 'outletNo' | 'url' | 'attempts'>

/** Adds the rights that the host's files state to those stored with the page. */
async function withTdm(
  crawl: Crawl,
  visit: Lease,
  page: AskedPage,
  { judged, early }: { judged: Verdict; early: TdmAnswer },
): Promise<Verdict | { kind: 'interrupted' }> {
  if (judged.kind !== 'store' && judged.kind !== 'store without body') return judged
  const url = new URL(judged.url)
  const late =
    judged.url === page.url ? early : await tdmRuleOf(crawl, visit, page.outletNo, url, true)
  if (late.unread?.kind === 'interrupted') return late.unread
  // A fetched page is stored even if the rules of its final host cannot be read now. That host may
  // be busy after each fetch, and a page that is put back each time would never be stored.
  const stated = statedOf(await recallStated(crawl.pool, url.host), url)
  const rights = withFiles(judged.rights, late.rule ?? early.rule, stated)
  return { ...judged, rights }
}

/**
 * Saves, counts and logs the verdict about a page, and notifies the normaliser. Returns the number
 * of stored bytes.
 */
async function settle(crawl: Crawl, page: WaitingPage, verdict: Verdict): Promise<number> {
  const { became, bytes, many } = await savePage(
    crawl.pool,
    page,
    verdict,
    crawl.config.CRAWL_RETRY_MIN,
  )
  const reason =
    'reason' in verdict ? verdict.reason : 'block' in verdict ? verdict.block : undefined
  pagesFetched.inc({ outcome: reason === undefined ? became : `${became}: ${reason}` })
  const named = { page: String(page.pageNo), url: page.url, became }
  crawl.log.info(reason === undefined ? named : { ...named, reason }, 'fetched')
  if ((became === 'stored' || became === 'blocked') && !many)
    await notifyNormaliser(crawl, page.pageNo)
  return bytes
}

/** Refuses an address on the host of another outlet of the catalogue. */
const refusedAsAnothers = ({ host }: URL, domain: string): Verdict => ({
  kind: 'refuse',
  reason: 'other outlet',
  detail: `${host} is a host of ${domain}`,
})

/**
 * Adapts a verdict to the host that answered: refuses pages of another outlet, and records which
 * addresses are on foreign hosts. The feed's text about an article counts only when a host of its
 * outlet answered. The exception is a consent page on a foreign host: the article then stands under
 * the address that the feed named (`composeArticle`).
 *
 * @param named the owner of the host that the feed named
 */
async function ofOwnHost(
  pool: Pool,
  page: AskedPage,
  named: Ownership,
  verdict: Verdict,
): Promise<Verdict> {
  if (verdict.kind !== 'store' && verdict.kind !== 'store without body') return verdict
  const answered = new URL(verdict.url)
  const isSame = answered.host === new URL(page.url).host
  const owner = isSame ? named : await readOwnership(pool, page.outletNo, answered)
  if (owner.of === 'another outlet') return refusedAsAnothers(answered, owner.domain)
  if (named.of !== 'nobody')
    return owner.of === 'outlet' ? verdict : { ...verdict, foreign: 'answered' }
  if (owner.of === 'outlet') return { ...verdict, foreign: 'named' }
  if (verdict.kind === 'store') return { ...verdict, foreign: 'both' }
  const detail = `${answered.host} shows no page (${verdict.block}), and is no host of the outlet; see "hosts" in the catalogue`
  return { kind: 'refuse', reason: 'foreign host', detail }
}

/**
 * The tries at one page that count as unread: the first, and those from this one on, a quarter of
 * an hour after it. So an outlet that fails at every page is told from one with a single bad page,
 * and within the hour also when it has only one.
 */
const LATER_TRIES = 4

/** The reason why a try brought nothing to read; undefined when it says nothing of the outlet. */
function unreadBy(verdict: Verdict, { attempts }: AskedPage): Try['unread'] {
  if (verdict.kind === 'put back') return undefined
  // A page that is missing is an answer.
  if (verdict.kind !== 'retry' || verdict.reason === 'gone') return null
  return attempts === 0 || attempts >= LATER_TRIES ? (verdict.detail ?? verdict.reason) : undefined
}

/**
 * Records a try in the outlet's budget of today. It records nothing when no request was made and
 * the page still waits.
 *
 * @param of.kept bytes of the page that are stored
 * @param of.took ms
 */
async function spendTry(
  { pool, config, held }: Crawl,
  outletNo: number,
  {
    fetched,
    kept,
    took,
    unread,
  }: {
    fetched: Exclude<Fetched, { kind: 'interrupted' }>
    kept: number
    took: number
    unread: Try['unread']
  },
): Promise<void> {
  const isSlow = took >= config.CRAWL_TIMEOUT / 2
  const reason = fetched.kind === 'failure' ? fetched.reason : null
  // When a robots.txt is already known not to answer, it was not requested, and the try took no
  // time.
  const isUnasked =
    fetched.kind === 'busy' ||
    reason === 'held' ||
    (fetched.kind === 'robots unreachable' && !isSlow)
  if (isUnasked) return
  const bytes = fetched.kind === 'answer' ? kept || fetched.answer.body.length : 0
  // An address that robots.txt forbids costs no request. It still counts, because crawl memory
  // keeps it for ever.
  const answer: Try['answer'] =
    fetched.kind === 'robots unreachable' || reason === 'time-out'
      ? 'late'
      : fetched.kind === 'disallowed' || reason !== null
        ? 'neither'
        : isSlow
          ? 'slow'
          : 'in time'
  const tried = { bytes: reason === 'too-large' ? config.CRAWL_MAX_BYTES : bytes, answer, unread }
  if (await noteTry(pool, outletNo, tried, config)) held.pages.add(outletNo)
}

/**
 * Notifies the normaliser of a stored page. If the queues are unreachable, the normaliser finds the
 * page in Postgres.
 */
export async function notifyNormaliser(crawl: Crawl, pageNo: bigint): Promise<void> {
  try {
    await crawl.queues.add('normalise', [{ key: String(pageNo), data: { pageNo: String(pageNo) } }])
    crawl.unheard.over()
  } catch (error) {
    crawl.unheard.met(error)
  }
}

/** The owner of the host of an address. `domain`: the domain of the outlet that owns the host. */
type Ownership = { of: 'outlet' } | { of: 'nobody' } | { of: 'another outlet'; domain: string }

/**
 * Finds the owner of the host of an address, as seen from an outlet. Of the catalogue's domains and
 * hosts that cover the host, the longest decides. If two outlets name the same one, the host
 * belongs to both. Indexes: outlets_domain_key, outlets_hosts.
 */
export async function readOwnership(db: Queryable, outletNo: number, url: URL): Promise<Ownership> {
  const nearest = await readRow<{ ours: boolean; domain: string }>(
    db,
    `select outlet_no = $2 as ours, domain
       from (select outlet_no, active, domain, domain as name from outlets where domain = any($1)
             union all
             select outlet_no, active, domain, host from outlets, unnest(hosts) as host
              where hosts && $1 and host = any($1)) named (outlet_no, active, domain, name)
      where active or outlet_no = $2
      order by length(name) desc, outlet_no = $2 desc limit 1`,
    [namesOf(url), outletNo],
  )
  if (nearest === undefined) return { of: 'nobody' }
  return nearest.ours ? { of: 'outlet' } : { of: 'another outlet', domain: nearest.domain }
}

/** The most hosts that one document may name. */
const MOST_HOSTS = 100

/** Why an address is refused by its host, if it is. The first hosts are looked up, each once. */
export function ownersOf(
  pool: Pool,
  outletNo: number,
): (address: string) => Promise<string | null> {
  const known = new Map<string, Promise<string | null>>()
  return address => {
    const url = new URL(address)
    const before = known.get(url.host)
    if (before !== undefined) return before
    if (known.size >= MOST_HOSTS) return Promise.resolve('limit')
    const reason = readOwnership(pool, outletNo, url).then(({ of }) =>
      of === 'outlet' ? null : of === 'nobody' ? 'foreign host' : 'other outlet',
    )
    known.set(url.host, reason)
    return reason
  }
}

/**
 * The names under which a catalogue can cover a host: the host with and without its port, and the
 * domains above it, each with letters beyond ASCII or as the name system has it.
 */
function namesOf({ host, hostname }: URL): string[] {
  const names = [host, hostname]
  if (isIP(hostname.replace(/^\[|\]$/g, '')) !== 0) return names
  for (let dot = hostname.indexOf('.'); dot >= 0; dot = hostname.indexOf('.', dot + 1))
    names.push(hostname.slice(dot + 1))
  return names.flatMap(name => [name, domainToUnicode(name)])
}
