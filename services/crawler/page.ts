import { isIP } from 'node:net'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { printableLine } from '../../shared/log/printable.ts'
import { CALLED_AT_ONCE, NO_WORDS } from '../../shared/outlets/page.ts'
import { withFiles } from '../../shared/outlets/rights.ts'
import { type Pool, type Queryable, transaction } from '../../shared/postgres/pool.ts'
import { noteBlock } from '../../status/health.ts'
import type { Crawl } from './crawl.ts'
import { pagesFetched } from './crawl-metrics.ts'
import { gunzipFile } from './fetch/compression.ts'
import { type Fetched, politeGet } from './fetch/polite-get.ts'
import { refreshOf } from './fetch/redirects.ts'
import { asFailure } from './fetch/request-failure.ts'
import { recallStated, statedOf } from './fetch/robots.ts'
import { ruleFor, type TdmRule, tdmRulesOf } from './fetch/tdm.ts'
import { noteTry, type Try } from './hosts/budgets.ts'
import type { Lease } from './hosts/leases.ts'
import { judge, type Verdict } from './verdict.ts'

const PAGE_HEADERS = {
  accept: 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.5',
  'accept-language': 'nl,fr,de,lb,en;q=0.5',
}

/**
 * Tries one page.
 * @returns whether the visit may go on; false: its host must not be asked again for now
 */
export async function fetchPage(crawl: Crawl, visit: Lease, page: WaitingPage): Promise<boolean> {
  const { pool, config } = crawl
  const url = new URL(page.url)
  const owner = await readOwnership(pool, page.outletNo, url)
  if (owner.of === 'another outlet') {
    await settle(crawl, page, refusedAsAnothers(url, owner.domain))
    return true
  }
  const begun = performance.now()
  // Asked for first, as the protocol wants it, so that no page is fetched in vain.
  const early = await tdmVerdict(crawl, visit, page, url)
  if (early.kind === 'interrupted') return false
  if (early.kind === 'put back') {
    await settle(crawl, page, early)
    return early.host !== visit.host
  }
  const fetched = await unzipped(
    await politeGet(crawl, visit, page.outletNo, page.url, PAGE_HEADERS, { refreshOf }),
    config.CRAWL_MAX_BYTES,
  )
  if (fetched.kind === 'interrupted') return false
  const took = performance.now() - begun
  const judged = await ofOwnHost(pool, page, judge(fetched, page.attempts))
  const verdict = await withTdm(crawl, visit, page, { judged, early })
  if (verdict.kind === 'interrupted') return false
  const kept = await settle(crawl, page, verdict)
  await spendTry(crawl, page.outletNo, { fetched, kept, took })
  const ownHost = 'host' in fetched && fetched.host === visit.host
  const isHeld = fetched.kind === 'failure' && fetched.reason === 'held'
  return !ownHost && !isHeld
}

type Tdm = { kind: 'rule'; host: string; rule: TdmRule | null } | { kind: 'interrupted' }

/**
 * The rule of a host's tdmrep.json for an address, or why the page has to wait for it, with the
 * rule that is known.
 */
async function tdmVerdict(
  crawl: Crawl,
  visit: Lease,
  page: WaitingPage,
  url: URL,
  isAsked = false,
): Promise<Tdm | (Extract<Verdict, { kind: 'put back' }> & { host: string; rule: TdmRule | null })> {
  const rules = await tdmRulesOf(crawl, visit, page.outletNo, url, isAsked)
  if (Array.isArray(rules)) return { kind: 'rule', host: url.host, rule: ruleFor(rules, url) }
  if (rules.kind === 'interrupted') return rules
  const { wait, host, last } = rules
  return { kind: 'put back', wait, reason: 'host busy', host, rule: ruleFor(last, url) }
}

/** Adds what files of the host that answered say to what is stored of a page. */
async function withTdm(
  crawl: Crawl,
  visit: Lease,
  page: WaitingPage,
  { judged, early }: { judged: Verdict; early: Extract<Tdm, { kind: 'rule' }> },
): Promise<Verdict | { kind: 'interrupted' }> {
  if (judged.kind !== 'store' && judged.kind !== 'store without body') return judged
  const url = new URL(judged.url)
  const late = judged.url === page.url ? early : await tdmVerdict(crawl, visit, page, url, true)
  if (late.kind === 'interrupted') return late
  // A page that was fetched is kept: its host may be as busy behind every fetch.
  const stated = statedOf(await recallStated(crawl.pool, url.host), url)
  const rights = withFiles(judged.rights, late.rule ?? early.rule, stated)
  return { ...judged, rights }
}

/**
 * Saves, counts and logs what became of a page, and notifies the normaliser. Returns the bytes that
 * are stored.
 */
async function settle(crawl: Crawl, page: WaitingPage, verdict: Verdict): Promise<number> {
  const { became, bytes, many } = await savePage(crawl.pool, page, verdict, crawl.config.CRAWL_RETRY_MIN)
  const reason = 'reason' in verdict ? verdict.reason : 'block' in verdict ? verdict.block : undefined
  pagesFetched.inc({ outcome: reason === undefined ? became : `${became}: ${reason}` })
  const named = { page: String(page.pageNo), url: page.url, became }
  crawl.log.info(reason === undefined ? named : { ...named, reason }, 'fetched')
  if ((became === 'stored' || became === 'blocked') && !many) await notifyNormaliser(crawl, page.pageNo)
  return bytes
}

/** Refuses an address on the host of another outlet of the catalogue. */
const refusedAsAnothers = ({ host }: URL, domain: string): Verdict => ({
  ...{ kind: 'refuse', reason: 'other outlet', detail: `${host} is a host of ${domain}` },
})

/**
 * A verdict as it holds for the host that answered. A feed's own words count for hosts of its
 * outlet only: for its consent page on a foreign host too, because the article stands under the
 * address that the feed named (`composeArticle`).
 */
async function ofOwnHost(pool: Pool, page: WaitingPage, verdict: Verdict): Promise<Verdict> {
  if (verdict.kind !== 'store' && verdict.kind !== 'store without body') return verdict
  const [named, answered] = [new URL(page.url), new URL(verdict.url)]
  const owner = await readOwnership(pool, page.outletNo, answered)
  if (owner.of === 'another outlet') return refusedAsAnothers(answered, owner.domain)
  const ofNamed = named.host === answered.host ? owner : await readOwnership(pool, page.outletNo, named)
  if (ofNamed.of !== 'nobody') return owner.of === 'outlet' ? verdict : { ...verdict, foreign: 'answered' }
  if (owner.of === 'outlet') return { ...verdict, foreign: 'named' }
  if (verdict.kind === 'store') return { ...verdict, foreign: 'both' }
  const detail = `${answered.host} shows no page (${verdict.block}), and is no host of the outlet; see "hosts" in the catalogue`
  return { kind: 'refuse', reason: 'foreign host', detail }
}

/**
 * Notes a try in the outlet's budget of today. None is noted when no request was made and the page
 * still waits.
 *
 * @param of.kept bytes of the page that are stored
 * @param of.took ms
 */
async function spendTry(
  { pool, config, held }: Crawl,
  outletNo: number,
  { fetched, kept, took }: { fetched: Exclude<Fetched, { kind: 'interrupted' }>; kept: number; took: number },
): Promise<void> {
  const isSlow = took >= config.CRAWL_TIMEOUT / 2
  const reason = fetched.kind === 'failure' ? fetched.reason : null
  // A robots.txt took no time when we knew already that it does not answer.
  const isUnasked = fetched.kind === 'busy' || reason === 'held' || (fetched.kind === 'robots unreachable' && !isSlow)
  if (isUnasked) return
  const bytes = fetched.kind === 'answer' ? kept || fetched.answer.body.length : 0
  // An address that robots.txt forbids costs no request, but crawl memory keeps it for ever.
  const answer: Try['answer'] =
    fetched.kind === 'robots unreachable' || reason === 'time-out'
      ? 'late'
      : fetched.kind === 'disallowed' || reason !== null
        ? 'neither'
        : isSlow
          ? 'slow'
          : 'in time'
  const tried = { bytes: reason === 'too-large' ? config.CRAWL_MAX_BYTES : bytes, answer }
  if (await noteTry(pool, outletNo, tried, config)) held.pages.add(outletNo)
}

/** Decompresses a body whose headers do not say that it is compressed. */
async function unzipped(fetched: Fetched, maxBytes: number): Promise<Fetched> {
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

/** A page that waits to be fetched. */
export interface WaitingPage {
  pageNo: bigint
  outletNo: number
  url: string
  attempts: number
  /** ms since its first try. */
  tried: number
}

const compress = promisify(gzip)

/** The result of saving a verdict. */
interface Saved {
  /** The page's new state, for metrics. `known`: another crawler was faster. */
  became: 'stored' | 'blocked' | 'refused' | 'waiting' | 'failed' | 'known'
  /** Bytes of the page that are stored. */
  bytes: number
  /** The outlet has so many stored pages that the normaliser polls for them without a message. */
  many: boolean
}

/**
 * Saves a verdict. It counts only while the page still waits: saved twice, it leaves one result.
 */
export async function savePage(pool: Pool, page: WaitingPage, verdict: Verdict, retryMin: number): Promise<Saved> {
  const nothing = { bytes: 0, many: false }
  switch (verdict.kind) {
    case 'store': {
      const body = await compress(verdict.body)
      const stored = await store(pool, page, verdict, body)
      return stored === null ? { became: 'known', ...nothing } : { became: 'stored', bytes: body.length, ...stored }
    }
    case 'store without body':
      return transaction(pool, async client => {
        const stored = await store(client, page, verdict, null)
        if (stored === null) return { became: 'known', ...nothing }
        await noteBlock(client, page.outletNo, verdict.block)
        return { became: 'blocked', bytes: 0, ...stored }
      })
    case 'refuse':
      await finish(pool, page, 'refused', verdict.reason, verdict.detail)
      return { became: 'refused', ...nothing }
    case 'put back':
      await pool.query(
        `update pages set next_try_at = clock_timestamp() + $2 * interval '1 ms', reason = $3
          where page_no = $1 and state = 'waiting'`,
        [page.pageNo, verdict.wait, verdict.reason],
      )
      return { became: 'waiting', ...nothing }
    case 'retry': {
      const wait = retryAfter(page.attempts + 1, page.tried, retryMin)
      if (wait === null) {
        const became = verdict.end ?? 'failed'
        await finish(pool, page, became, verdict.reason, verdict.detail)
        return { became, ...nothing }
      }
      await pool.query(
        `update pages
            set attempts = attempts + 1, next_try_at = clock_timestamp() + $2 * interval '1 ms',
                first_tried_at = coalesce(first_tried_at, clock_timestamp()), reason = $3, detail = $4
          where page_no = $1 and state = 'waiting'`,
        [page.pageNo, wait, verdict.reason, shortHeader(verdict.detail)],
      )
      return { became: 'waiting', ...nothing }
    }
  }
}

/**
 * Stores the page's source. The same statement sets the state that makes the normaliser read it.
 * Null: another crawler was faster.
 */
async function store(
  db: Pick<Pool, 'query'>,
  page: WaitingPage,
  verdict: Extract<Verdict, { status: number }>,
  body: Buffer | null,
): Promise<Pick<Saved, 'many'> | null> {
  const { url, status, contentType, rights, foreign } = verdict
  // Index pages_stored_turns.
  const { rows } = await db.query<{ many: boolean }>(
    `with page as (
       update pages
          set state = 'stored', entry = case when $8::jsonb is null then entry - 'foreign' else coalesce(entry, '{}') || $8 end, attempts = 0, next_try_at = clock_timestamp(), reason = null, detail = null,
              first_tried_at = coalesce(first_tried_at, clock_timestamp())
        where page_no = $1 and state = 'waiting'
       returning page_no
     )
     insert into page_sources (page_no, final_url, status, content_type, body, fetched_at, rights)
     select page_no, $2, $3, $4, $5, clock_timestamp(), $9::jsonb from page
     on conflict (page_no) do update
        set final_url = excluded.final_url, status = excluded.status, content_type = excluded.content_type,
            body = excluded.body, fetched_at = excluded.fetched_at, rights = excluded.rights
     returning exists (select from pages where state = 'stored' and outlet_no = $6 offset $7) as many`,
    [
      ...[page.pageNo, url, status, shortHeader(contentType), body, page.outletNo, CALLED_AT_ONCE],
      foreign === undefined ? null : JSON.stringify({ foreign, ...(foreign === 'both' ? NO_WORDS : {}) }),
      rights === null ? null : JSON.stringify(rights),
    ],
  )
  return rows[0] ?? null
}

const SHORT = 500

/** Cuts a header for crawl memory, which keeps it for ever. Headers of up to 64 kB are read. */
const shortHeader = (text: string | null) =>
  text === null ? null : printableLine(text.slice(0, SHORT)).slice(0, SHORT)

async function finish(
  pool: Pool,
  page: WaitingPage,
  state: 'refused' | 'failed',
  reason: string,
  detail: string | null,
) {
  await pool.query(
    `update pages
        set state = $2, reason = $3, detail = $4, attempts = attempts + 1, finished_at = clock_timestamp(),
            first_tried_at = coalesce(first_tried_at, clock_timestamp())
      where page_no = $1 and state = 'waiting'`,
    [page.pageNo, state, reason, shortHeader(detail)],
  )
}

/** ms after its first try during which a failing page is tried again. */
const GIVE_UP = 86_400_000

/**
 * ms until a failed page is tried again: CRAWL_RETRY_MIN, doubled with each try. Null: the page is
 * given up, a day after its first try.
 *
 * @param attempts tries that failed, this one included
 * @param since ms since the first try
 */
export function retryAfter(attempts: number, since: number, retryMin: number): number | null {
  const wait = Math.max(1, retryMin) * 2 ** Math.min(attempts - 1, 30)
  if (since + wait <= GIVE_UP) return wait
  // The last try comes at the end of the day, unless this was it.
  return since < GIVE_UP - Math.min(retryMin, GIVE_UP / 2) ? GIVE_UP - since : null
}

/** Whose host an address is on. `domain`: of the outlet that it belongs to. */
type Ownership = { of: 'outlet' } | { of: 'nobody' } | { of: 'another outlet'; domain: string }

/**
 * Whose host an address is on, seen from an outlet. A host belongs to the outlet with the longest
 * domain, or other host of the catalogue, that covers it. Where two outlets name the same one, it
 * is either's. Indexes: outlets_domain_key, outlets_hosts.
 */
export async function readOwnership(db: Queryable, outletNo: number, url: URL): Promise<Ownership> {
  const { rows } = await db.query<{ ours: boolean; domain: string; length: number }>(
    `select outlet_no = $2 as ours, domain, length(name) as length
       from (select outlet_no, active, domain, domain as name from outlets where domain = any($1)
             union all
             select outlet_no, active, domain, host from outlets, unnest(hosts) as host
              where hosts && $1 and host = any($1)) named (outlet_no, active, domain, name)
      where active or outlet_no = $2
      order by length(name) desc, outlet_no = $2 desc limit 1`,
    [namesOf(url), outletNo],
  )
  const [nearest] = rows
  if (nearest === undefined) return { of: 'nobody' }
  return nearest.ours ? { of: 'outlet' } : { of: 'another outlet', domain: nearest.domain }
}

/**
 * The names in a catalogue that cover a host: itself, with and without its port, and its domains.
 */
function namesOf({ host, hostname }: URL): string[] {
  const names = [host, hostname]
  if (isIP(hostname.replace(/^\[|\]$/g, '')) !== 0) return names
  for (let dot = hostname.indexOf('.'); dot >= 0; dot = hostname.indexOf('.', dot + 1))
    names.push(hostname.slice(dot + 1))
  return names
}
