import { firstDomain } from '#search/removals'
import { createOutageLog } from '#shared/log/outage'
import { readRow, transaction } from '#shared/postgres/pool'
import { type Repeated, repeatEvery } from '#shared/process/repeat'
import type { Crawl } from './crawl.ts'
import { looksAsked } from './crawl-metrics.ts'
import { admitsHost } from './hosts/budgets.ts'
import { beginVisit, endVisit } from './hosts/leases.ts'
import { askPage } from './page.ts'
import { compress } from './save-page.ts'
import type { Verdict } from './verdict.ts'

/*
 * A publisher may take a page away, or reserve it, after its article was indexed. So the pages of
 * visible articles are asked for again, as all pages: with the leases, pauses, robots.txt and
 * budgets of all crawlers. What a page answers stands in `look_answers` until a normaliser has
 * judged it (services/normaliser/second-looks.ts).
 *
 * `second_looks` has the last look at each article. A look begins there before its request, and
 * none begins while an answer waits. So a killed crawler loses an answer, which counts for nothing,
 * and asks again a day later.
 */

/** An article whose page is due. */
export interface DueLook {
  seq: bigint
  id: string
  url: string
  outletNo: number
}

// $1 host. Index: pages_waiting.
const WAITS = `
  select from pages where host = $1 and state = 'waiting' and next_try_at <= now() limit 1`

// $1 outlet. Of two that look at pages of an outlet, one waits here.
const IN_TURN = 'select from outlets where outlet_no = $1 for no key update'
// $1 id, $2 outlet, $3 seq, $4 looks a day. Finds no row when the article was taken out meanwhile.
// Indexes: the primary keys, second_looks_outlet.
const BEGIN = `
  insert into second_looks as l (id, outlet_no, seq)
  select id, $2, seq from articles join article_texts using (seq)
   where seq = $3 and id = $1 and not exists (select from look_answers a where a.id = $1)
     and (select count(*) from second_looks where outlet_no = $2 and looked_at > now() - interval '1 day') < $4
  on conflict (id) do update set looked_at = now(), seq = excluded.seq
   where l.looked_at < now() - interval '1 day' returning id`

/**
 * Asks for the page of an article, if nothing new of its host waits, the host is not visited, and
 * its outlet has had fewer than `most` looks in a day.
 *
 * @returns what it brought: the answer waits to be judged, or says nothing; or it was put off
 */
export async function askAgain(
  crawl: Crawl,
  { seq, id, url, outletNo }: DueLook,
  most: number,
): Promise<'answer' | 'nothing' | 'put off'> {
  const { pool, config, leases, held } = crawl
  const { host } = new URL(url)
  if (held.pages.has(outletNo) || !(await admitsHost(pool, outletNo, host, config)))
    return 'put off'
  if ((await readRow(pool, WAITS, [host])) !== undefined) return 'put off'
  const visit = await beginVisit(pool, leases, host, outletNo)
  if (visit === null) return 'put off'
  try {
    const isBegun = await transaction(pool, async client => {
      await client.query(IN_TURN, [outletNo])
      return (await client.query(BEGIN, [id, outletNo, seq, most])).rowCount === 1
    })
    if (!isBegun) return 'put off'
    // A page without an end is read as in a later try.
    const asked = await askPage(crawl, visit, { outletNo, url, attempts: 2 })
    if (asked === null) return 'nothing'
    await asked.spend(0)
    return await saveAnswer(crawl, id, asked.verdict)
  } finally {
    await endVisit(pool, leases, visit)
  }
}

// $1 id. Nothing is stored of an article that was taken out meanwhile.
const SAVE = `
  insert into look_answers (id, gone, final_url, status, content_type, rights, body, answered_by)
  select id, $2, $3, $4, $5, $6, $7, $8 from second_looks where id = $1 for key share on conflict do nothing`

/** A failure, a refusal of robots.txt or a page that is withheld says nothing of the article. */
async function saveAnswer(
  { pool }: Crawl,
  id: string,
  verdict: Verdict,
): Promise<'answer' | 'nothing'> {
  const isGone =
    (verdict.kind === 'refuse' || verdict.kind === 'retry') && verdict.reason === 'gone'
  const answer = isGone ? 'gone' : verdict.kind === 'store' ? 'page' : 'nothing'
  looksAsked.inc({ answer })
  if (isGone) await pool.query(SAVE, [id, verdict.detail ?? 'gone', ...Array(6).fill(null)])
  else if (verdict.kind === 'store') {
    const { url, status, contentType, rights, foreign = null } = verdict
    const stated = rights === null ? null : JSON.stringify(rights)
    const body = await compress(verdict.body)
    await pool.query(SAVE, [id, null, url, status, contentType, stated, body, foreign])
  }
  return answer === 'nothing' ? 'nothing' : 'answer'
}

const EVERY = 300_000
/** The most pages that a crawler asks for in a row. Each outlet has one of them. */
const MOST = 50
/** Articles among which the pages of a round are chosen. */
const STRETCH = 500

/**
 * Asks for pages of visible articles again, RIGHTS_LOOKS of an outlet a day, spread over the day.
 */
export function startSecondLooks(crawl: Crawl): Repeated {
  const outage = createOutageLog(
    crawl.log,
    'pages of visible articles are not asked for again',
    'pages of visible articles are asked for again',
  )
  // Newer articles have their turn more often than older ones.
  const work = () => lookAround(crawl, Math.random() ** 3)
  return repeatEvery(EVERY, work, { first: EVERY, outage })
}

/** @param back where the articles stand: 0 are the newest, 1 the oldest */
export async function lookAround(crawl: Crawl, back: number): Promise<void> {
  const { pool, config, stopping } = crawl
  const looks = config.RIGHTS_LOOKS
  const isKept = config.RIGHTS_GONE === 'keep' && config.RIGHTS_NOINDEX === 'keep'
  if (looks === 0 || isKept || crawl.backlogged) return
  const { rows } = await pool.query<DueLook>(DUE, [looks, back, STRETCH, MOST])
  for (const due of rows) if (!stopping.aborted) await askAgain(crawl, due, looks)
}

// $1 looks a day, $2 where the articles stand, $3 STRETCH, $4 MOST. Refused ones come first where
// further refusals take them out, then those that were not asked for or not for long. Indexes: the
// primary keys, second_looks_outlet, second_looks_pressing.
const DUE = `
  with outlet as materialized (
    select outlet_no, ${firstDomain('o.domain')} as first from outlets o
     where active and not exists (
       select from second_looks l where l.outlet_no = o.outlet_no and l.looked_at > now() - interval '1 day' / $1::int)
  ), stretch as materialized (
    select seq, id, publisher_no from articles
     where seq <= (select last_seq - floor(last_seq * $2::float8)::bigint from ingest_clock) order by seq desc limit $3
  ), publisher as materialized (
    select publisher_no, ${firstDomain('p.outlet')} as first from publishers p
     where publisher_no in (select publisher_no from stretch)
  ), due as (
    select l.outlet_no, a.seq, a.id, l.looked_at, 0 as rank
      from second_looks l join articles a on a.seq = l.seq and a.id = l.id
     where l.pressing and l.looked_at < now() - interval '1 day'
    union all
    select o.outlet_no, s.seq, s.id, l.looked_at, 1
      from stretch s join publisher using (publisher_no) join outlet o using (first) left join second_looks l on l.id = s.id
     where l.id is null or l.looked_at < now() - interval '1 day'
  )
  select seq, id, url, outlet_no as "outletNo" from (
    select distinct on (outlet_no) d.*, t.url from due d join outlet using (outlet_no) join article_texts t using (seq)
     order by outlet_no, rank, looked_at nulls first, random()) one
   order by rank, random() limit $4`
