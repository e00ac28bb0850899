import { allDomains } from '../../search/removals.ts'
import { type Crawl, createCrawl } from '../../services/crawler/crawl.ts'
import { admitsHost, readHeld } from '../../services/crawler/hosts/budgets.ts'
import { beginVisit, endVisit } from '../../services/crawler/hosts/leases.ts'
import { askPage } from '../../services/crawler/page.ts'
import type { Verdict } from '../../services/crawler/verdict.ts'
import type { Composer } from '../../services/normaliser/composer.ts'
import type { Config } from '../../shared/config/config.ts'
import { createLogger } from '../../shared/log/logger.ts'
import type { Outlet } from '../../shared/outlets/catalogue.ts'
import { wholeEntry } from '../../shared/outlets/page.ts'
import { NO_RIGHTS_STATED, type Rights } from '../../shared/outlets/rights.ts'
import { type Pool, readRow, readValue } from '../../shared/postgres/pool.ts'
import { removeArticles } from '../../shared/removals/remove.ts'
import { boundOf, type Write } from './bounding.ts'

/*
 * A publisher may take a page away, or reserve it, after its article was indexed. So the pages of
 * visible articles are asked for again, as the crawler asks for pages: with the leases, pauses,
 * robots.txt and budgets of all crawlers. An article is refused when its page is gone, or states
 * what stops a new article. An answer that says neither, as a failure or a consent page, changes
 * nothing.
 */

/** The most pages of an outlet that are asked for again in a day. */
export const LOOKS_A_DAY = 100

/** The refusals in a row, and the time over which they last, before an article is taken out. */
const REFUSALS = 3
const LASTING = '7 days'

/** How a second look ended. */
export interface Looks {
  asked: number
  gone: number
  refused: number
  blanked: number
  removed: number
  /** Pages whose host was visited, or had new pages, or whose outlet has used up its budget. */
  putOff: number
}

interface Due {
  seq: bigint
  id: string
  title: string
  url: string
  snippet: string | null
  pageNo: bigint | null
}

// $1 domain, $2 number of the outlet, $3 LOOKS_A_DAY. Refused ones come first, then those that were
// not asked for or not for long.
const DUE = `
  select a.seq, a.id, t.title, t.url, t.snippet, coalesce(e.page_no, r.page_no) as "pageNo"
    from articles a join article_texts t using (seq) left join embeddings e using (seq)
         left join article_rights r on r.id = a.id left join second_looks l on l.id = a.id
   where a.publisher_no in (select publisher_no from publishers where outlet = any ${allDomains('array[$1::text]')})
     and (l.id is null or l.looked_at < now() - interval '1 day')
   order by coalesce(l.refusals, 0) = 0, l.looked_at nulls first, a.seq desc
   limit greatest(0, $3 - (select count(*) from second_looks where outlet_no = $2 and looked_at > now() - interval '1 day'))`

/** What looks work with. */
export interface Looking {
  pool: Pool
  config: Config
  composer: Composer
  write: Write
  signal: AbortSignal
}

/** Asks again for pages of an outlet, and does what RIGHTS_GONE and RIGHTS_NOINDEX say. */
export async function lookAgain(looking: Looking, outlet: Outlet & { no: number }): Promise<Looks> {
  const { pool, config, composer, signal } = looking
  const crawl = createCrawl({
    config,
    pool,
    queues: { async add() {} },
    log: createLogger('outlets', 'silent'),
    stopping: signal,
    ending: signal,
  })
  const looks = { asked: 0, gone: 0, refused: 0, blanked: 0, removed: 0, putOff: 0 }
  try {
    const { rows } = await pool.query<Due>(DUE, [outlet.domain, outlet.no, LOOKS_A_DAY])
    crawl.held = await readHeld(pool, config, new Set())
    for (const due of rows) {
      if (signal.aborted) break
      const verdict = await ask(crawl, outlet.no, due)
      if (verdict === null) looks.putOff += 1
      else {
        looks.asked += 1
        await act(looking, looks, due, await wordOf(composer, outlet, due, verdict))
      }
    }
  } finally {
    crawl.leases.close()
    await crawl.parser.close()
    await crawl.asked.save(pool)
  }
  return looks
}

// $1 host. Index: pages_waiting.
const WAITS = `
  select from pages where host = $1 and state = 'waiting' and next_try_at <= now() limit 1`

// $1 id, $2 outlet, $3 seq. Of two commands that look at once, one finds a row. None finds one when
// the article was taken out meanwhile.
const BEGIN = `
  insert into second_looks as l (id, outlet_no)
  select id, $2 from articles join article_texts using (seq) where seq = $3 and id = $1
  on conflict (id) do update set looked_at = now() where l.looked_at < now() - interval '1 day' returning id`

/**
 * Asks for the page of an article, if nothing new of its host waits and the host is not visited.
 * Null: it was not asked.
 */
async function ask(crawl: Crawl, outletNo: number, { seq, id, url }: Due): Promise<Verdict | null> {
  const { pool, config, leases } = crawl
  const { host } = new URL(url)
  if (crawl.held.pages.has(outletNo) || !(await admitsHost(pool, outletNo, host, config)))
    return null
  if ((await readRow(pool, WAITS, [host])) !== undefined) return null
  const visit = await beginVisit(pool, leases, host, outletNo)
  if (visit === null) return null
  try {
    if ((await readRow(pool, BEGIN, [id, outletNo, seq])) === undefined) return null
    // A page without an end is read as in a later try.
    const asked = await askPage(crawl, visit, { outletNo, url, attempts: 2 })
    await asked?.spend(0)
    return asked?.verdict ?? null
  } finally {
    await endVisit(pool, leases, visit)
  }
}

/** What an answer says of its article. A page that is gone is refused by that. */
interface Word {
  isGone: boolean
  rights: Rights
}

/** Null: the answer says nothing of the article. */
async function wordOf(
  composer: Composer,
  outlet: Outlet,
  { title, url, pageNo }: Due,
  verdict: Verdict,
): Promise<Word | null> {
  if ((verdict.kind === 'refuse' || verdict.kind === 'retry') && verdict.reason === 'gone') {
    const refusedBy = { signal: verdict.detail ?? 'gone', source: 'header' } as const
    return { isGone: true, rights: { ...NO_RIGHTS_STATED, refusedBy } }
  }
  if (verdict.kind !== 'store') return null
  const { status, contentType, rights, body, foreign } = verdict
  const page = {
    pageId: pageNo ?? 0n,
    url,
    finalUrl: verdict.url,
    status,
    contentType,
    rights,
    body,
    fetchedAt: new Date(),
    entry: wholeEntry({ title }, url),
    foreign,
    outlet,
  }
  const composed = await composer.compose(page).catch(() => null)
  // A paywall stands on the article's own page.
  const isOwn = composed?.interstitial === null || composed?.interstitial === 'paywall'
  const isRead = composed?.kind === 'article' ? isOwn : composed?.rights.refusedBy
  return composed !== null && isRead ? { isGone: false, rights: composed.rights } : null
}

// $1 id, $2 whether the page is refused, $3 REFUSALS. Returns the first day of refusals that have
// lasted.
const NOTE = `
  with noted as (
    update second_looks set refusals = case when $2 then refusals + 1 else 0 end,
                            refused_since = case when $2 then coalesce(refused_since, now()) end
     where id = $1 returning *
  )
  select to_char(refused_since at time zone 'UTC', 'YYYY-MM-DD') from noted
   where refusals >= $3 and refused_since <= now() - interval '${LASTING}'`

/** An act that was ended here is done with the next look, for refused ones come first. */
async function act(
  { pool, config, write }: Looking,
  looks: Looks,
  due: Due,
  word: Word | null,
): Promise<void> {
  if (word === null) return
  const { isGone, rights } = word
  const refusal = rights.refusedBy?.signal
  const isRefused = refusal !== undefined
  const since = await readValue<string>(pool, NOTE, [due.id, isRefused, REFUSALS])
  if (isRefused) looks[isGone ? 'gone' : 'refused'] += 1
  const setting = isGone ? config.RIGHTS_GONE : config.RIGHTS_NOINDEX
  if (isRefused && setting === 'remove' && since !== null) {
    const reason = `The publisher's word: ${refusal}, at each look since ${since}.`.slice(0, 1_000)
    looks.removed += (await removeArticles(pool, [due], reason)).length
  } else if (!isRefused || setting === 'blank') {
    const bound = boundOf(due, rights)
    if (bound.isBounded || !bound.hasVector) await write([bound])
    if (isRefused) looks.blanked += 1
  }
}
