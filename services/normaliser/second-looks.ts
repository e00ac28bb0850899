import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { addressKey } from '#shared/articles/address'
import type { Config } from '#shared/config/config'
import { type StoredPage, wholeEntry } from '#shared/outlets/page'
import { NO_RIGHTS_STATED, type Rights } from '#shared/outlets/rights'
import { type Pool, readRow } from '#shared/postgres/pool'
import { boundOf, type Write } from '#shared/removals/bounding'
import { removeArticles } from '#shared/removals/remove'
import type { Composer } from './composer.ts'
import { MAX_BYTES, OUTLET_OF_PAGE } from './pages/load.ts'

/*
 * Judges what pages of visible articles answered when they were asked for again. An article is
 * refused when its page is gone, or states what stops a new article. An answer that says neither,
 * as a consent page, changes nothing.
 *
 * An answer stays until all is done that follows from it. Whoever goes on after a kill finds it
 * counted (`judged_at`), and does the rest again. Of two that judge one, the later changes nothing.
 */

/** The refusals in a row, and the time over which they last, before an article is taken out. */
const REFUSALS = 3
const LASTING = '7 days'

/** What judging works with. */
export interface Judging {
  pool: Pool
  config: Pick<Config, 'RIGHTS_GONE' | 'RIGHTS_NOINDEX'>
  composer: Pick<Composer, 'compose'>
  write: Write
  signal: AbortSignal
}

/** What an answer said of its article, and what was done with it. */
export interface Judged {
  id: string
  word: 'gone' | 'refused' | 'stands' | 'nothing'
  deed: 'none' | 'bounded' | 'removed'
}

interface Answer extends Pick<StoredPage, 'rights' | 'foreign' | 'outlet'> {
  id: string
  answeredAt: Date
  gone: string | null
  finalUrl: string
  status: number
  contentType: string | null
  body: Buffer
  /** Null: the article is not there. */
  seq: bigint | null
  title: string
  url: string
  snippet: string | null
  pageNo: bigint | null
}

// $1 id; null: the oldest that nobody judges. Whoever claims one is taken for dead after 5 minutes.
// Indexes: the primary keys, look_answers_waiting.
const CLAIM = `
  with chosen as (
    select id from look_answers where case when $1::text is null then claimed_until <= now() else id = $1 end
     order by answered_at limit 1 for update skip locked
  ), claimed as (
    update look_answers a set claimed_until = now() + interval '5 minutes' from chosen where a.id = chosen.id returning a.*
  )
  select c.id, c.answered_at as "answeredAt", c.gone, c.final_url as "finalUrl", c.status, c.content_type as "contentType",
         c.rights, c.body, c.answered_by as foreign, t.seq, t.title, t.url, t.snippet,
         coalesce(e.page_no, r.page_no) as "pageNo",
         ${OUTLET_OF_PAGE} as outlet
    from claimed c join second_looks l using (id) join outlets o using (outlet_no)
         left join articles a on a.seq = l.seq and a.id = c.id left join article_texts t on t.seq = a.seq
         left join embeddings e on e.seq = a.seq left join article_rights r on r.id = c.id`

/**
 * Judges one answer.
 *
 * @param id of its article; absent: the oldest that waits
 * @returns null: none waits, or the signal was aborted
 */
export async function judgeAnswer(judging: Judging, id?: string): Promise<Judged | null> {
  const { pool, composer, signal } = judging
  const answer = await readRow<Answer>(pool, CLAIM, [id ?? null])
  if (answer === undefined) return null
  const rights = answer.seq === null ? null : await rightsIn(composer, answer)
  // Threads that end read nothing. The answer stays.
  if (signal.aborted) return null
  const judged = await act(judging, answer, rights)
  if (answer.seq === null) await pool.query(FORGET, [answer.id])
  else await pool.query(DONE, [answer.id, answer.answeredAt])
  return judged
}

// $1 id, $2 when it came
const DONE = 'delete from look_answers where id = $1 and answered_at = $2'
// $1 id of an article that is not there
const FORGET = 'delete from second_looks where id = $1'

const inflate = promisify(gunzip)

/** What a page states of its article; null: it says nothing of it. */
async function rightsIn(composer: Judging['composer'], answer: Answer): Promise<Rights | null> {
  const { title, url, gone, body, foreign, ...page } = answer
  if (gone !== null) return { ...NO_RIGHTS_STATED, refusedBy: { signal: gone, source: 'header' } }
  // Outlets lead old addresses to their front page or a search, which bears a word of its own.
  if (addressKey(page.finalUrl) !== addressKey(url)) return null
  const composed = await inflate(body, { maxOutputLength: MAX_BYTES })
    .then(inflated =>
      composer.compose({
        ...page,
        url,
        body: inflated,
        fetchedAt: page.answeredAt,
        entry: wholeEntry({ title }, url),
        foreign: foreign ?? undefined,
      }),
    )
    .catch(() => null)
  if (composed === null) return null
  // A paywall stands on the article's own page.
  const isOwn = composed.interstitial === null || composed.interstitial === 'paywall'
  const isRead = composed.kind === 'article' ? isOwn : composed.rights.refusedBy
  return isRead ? composed.rights : null
}

// $1 id, $2 when its answer came, $3 whether the page is refused, $4 whether refusals take it out,
// $5 REFUSALS. Counts an answer once. Returns the first day of refusals that have lasted.
const NOTE = `
  update second_looks l
     set refusals = case when l.judged_at = a.answered_at then l.refusals when $3 then l.refusals + 1 else 0 end,
         refused_since = case when $3 then coalesce(l.refused_since, a.answered_at) end,
         judged_at = a.answered_at, pressing = $3 and $4
    from look_answers a where a.id = l.id and l.id = $1 and a.answered_at = $2
  returning case when l.refusals >= $5 and l.refused_since <= a.answered_at - interval '${LASTING}'
                 then to_char(l.refused_since at time zone 'UTC', 'YYYY-MM-DD') end as since`

async function act(
  { pool, config, write }: Judging,
  answer: Answer,
  rights: Rights | null,
): Promise<Judged> {
  const { id, seq, gone, answeredAt } = answer
  if (rights === null || seq === null) return { id, word: 'nothing', deed: 'none' }
  const refusal = rights.refusedBy?.signal
  const isRefused = refusal !== undefined
  const setting = gone === null ? config.RIGHTS_NOINDEX : config.RIGHTS_GONE
  const word = gone !== null ? 'gone' : isRefused ? 'refused' : 'stands'
  const removes = setting === 'remove'
  const noted = await readRow<{ since: string | null }>(pool, NOTE, [
    id,
    answeredAt,
    isRefused,
    removes,
    REFUSALS,
  ])
  if (noted === undefined) return { id, word, deed: 'none' }
  if (isRefused && removes && noted.since !== null) {
    const reason = `The publisher's word: ${refusal}, at each look since ${noted.since}.`
    const removed = await removeArticles(pool, [{ seq, id }], reason.slice(0, 1_000))
    return { id, word, deed: removed.length > 0 ? 'removed' : 'none' }
  }
  if (isRefused && setting !== 'blank') return { id, word, deed: 'none' }
  const bound = boundOf({ ...answer, seq }, rights)
  const isBounded = bound.isBounded || !bound.hasVector
  if (isBounded) await write([bound])
  return { id, word, deed: isBounded ? 'bounded' : 'none' }
}
