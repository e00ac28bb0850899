import type { Refused } from '#services/normaliser/compose'
import type { Failure } from '#services/normaliser/composer'
import type { InterstitialKind } from '#services/normaliser/interstitials/interstitials'
import { teach } from '#services/normaliser/template'
import { countOrigins, type Origins, writeOrigins } from '#shared/outlets/origins'
import { type NewSignal, noteSignals, type Rights } from '#shared/outlets/rights'
import {
  type Client,
  columnsOf,
  type Pool,
  type Queryable,
  readValue,
  transaction,
} from '#shared/postgres/pool'
import { noteBlock } from '#status/health'

/** A page whose article was just indexed, or was already known. */
export interface DonePage {
  pageNo: bigint
  outletNo: number
  interstitial: InterstitialKind | null
  /** The fingerprint of the text that is indexed under this address. */
  fingerprint: Uint8Array | null
  /** The origins of the indexed article; null when the article was already known. */
  origins: Origins | null
  /** The lines that the template of the outlet learns; null for a known article. */
  lesson: string[] | null
  rights: Rights
}

/**
 * SQL: whether a page is of the past of its outlet. It says nothing of how the outlet is read now.
 */
const IS_OLD = '(named_by & 4 > 0)'

/**
 * Marks pages as done inside the transaction that indexes their articles, and stores the texts that
 * their outlets served. A page that another process has finished meanwhile is counted once.
 *
 * @returns signals of rights that are new at their outlet
 */
export async function finishDone(client: Client, pages: DonePage[]): Promise<NewSignal[]> {
  const { rows } = await client.query<{ no: bigint; old: boolean }>(
    `update pages p set state = 'done', reason = d.interstitial, detail = null, finished_at = clock_timestamp(),
                        origins = d.origins, rights = d.rights
       from unnest($1::bigint[], $2::text[], $3::text[], $4::jsonb[]) as d (page_no, interstitial, origins, rights)
      where p.page_no = d.page_no and p.state = 'stored'
     returning p.page_no as no, ${IS_OLD} as old`,
    [
      ...columnsOf(pages, 'pageNo', 'interstitial'),
      pages.map(({ origins }) => (origins === null ? null : writeOrigins(origins))),
      pages.map(({ rights }) => seenOf(rights)),
    ],
  )
  const old = new Map(rows.map(row => [row.no, row.old]))
  const finished = pages.filter(page => old.has(page.pageNo))
  const fresh = finished.filter(page => old.get(page.pageNo) === false)
  await rememberTexts(client, finished)
  await noteInterstitials(client, fresh)
  await countOrigins(
    client,
    fresh.flatMap(({ origins, ...page }) => (origins === null ? [] : [{ ...page, origins }])),
  )
  await teach(client, fresh)
  return noteRights(client, finished)
}

/** Deletes pages of articles that an operator took out, with what their outlets served. */
export async function forgetPages(client: Client, pageNos: bigint[]): Promise<void> {
  if (pageNos.length > 0)
    await client.query('delete from pages where page_no = any ($1)', [pageNos])
}

/** The signals of a page in the form of its row; null: the page has none. */
const seenOf = ({ seen }: Rights) => (seen.length === 0 ? null : JSON.stringify(seen))

/** Counts signals for their outlets, and removes sources and entries that must not be kept. */
async function noteRights(
  client: Client,
  pages: Pick<DonePage, 'pageNo' | 'outletNo' | 'rights'>[],
) {
  const unkept = pages.filter(({ rights }) => !rights.mayKeep).map(({ pageNo }) => pageNo)
  if (unkept.length > 0) {
    await client.query('delete from page_sources where page_no = any ($1)', [unkept])
    await client.query('update pages set entry = null where page_no = any ($1)', [unkept])
  }
  return noteSignals(
    client,
    pages.map(({ outletNo, rights }) => ({ outletNo, seen: rights.seen })),
  )
}

/**
 * Rows are written in order of outlet and fingerprint. In different orders, two writers could
 * deadlock.
 */
async function rememberTexts(client: Client, pages: DonePage[]): Promise<void> {
  const texts = pages.filter(page => page.fingerprint !== null)
  if (texts.length === 0) return
  await client.query(
    `insert into served_texts (outlet_no, fingerprint, pages)
     select outlet_no, fingerprint, count(*)
       from unnest($1::int[], $2::bytea[]) as t (outlet_no, fingerprint)
      group by 1, 2 order by 1, 2
     on conflict (outlet_no, fingerprint) do update
        set pages = served_texts.pages + excluded.pages, last_seen_at = now()`,
    columnsOf(texts, 'outletNo', 'fingerprint'),
  )
}

/** The crawler records refusals by status, so they are left out here. */
async function noteInterstitials(
  db: Queryable,
  pages: Pick<DonePage, 'outletNo' | 'interstitial'>[],
): Promise<void> {
  const interstitials = pages.flatMap(({ outletNo, interstitial }) =>
    interstitial === null || interstitial === 'forbidden' ? [] : [{ outletNo, interstitial }],
  )
  interstitials.sort(
    (a, b) => a.outletNo - b.outletNo || a.interstitial.localeCompare(b.interstitial),
  )
  for (const { outletNo, interstitial } of interstitials)
    await noteBlock(db, outletNo, interstitial)
}

/** Marks a page as refused, so that it is never indexed. */
export const finishRefused = async (
  pool: Pool,
  page: { pageNo: bigint; outletNo: number },
  refusal: Refused,
): Promise<NewSignal[]> =>
  transaction(pool, async client => {
    const isOld = await readValue<boolean>(
      client,
      `update pages set state = 'refused', reason = $2, detail = $3, rights = $4, finished_at = clock_timestamp()
        where page_no = $1 and state = 'stored' returning ${IS_OLD}`,
      [page.pageNo, refusal.reason, refusal.detail, seenOf(refusal.rights)],
    )
    if (isOld === null) return []
    const refused = [{ ...page, ...refusal }]
    if (!isOld) await noteInterstitials(client, refused)
    return noteRights(client, refused)
  })

/**
 * ms before a page that failed is tried again. A page that fails after the last pause is put into
 * quarantine (`failed`).
 */
const PAUSES = [5_000, 30_000]

/** Records that no article could be made of a page. Returns whether the page is tried again. */
export async function finishFailed(
  pool: Pool,
  pageNo: bigint,
  failure: { failure: Failure | 'indexing'; message: string },
): Promise<boolean> {
  const state = await readValue<string>(
    pool,
    `update pages
        set attempts = attempts + 1, reason = $2, detail = $3,
            state = case when attempts < $4 then 'stored' else 'failed' end,
            next_try_at = clock_timestamp() + coalesce(($5::int[])[attempts + 1], 0) * interval '1 ms',
            finished_at = case when attempts < $4 then null else clock_timestamp() end
      where page_no = $1 and state = 'stored'
     returning state`,
    [pageNo, failure.failure, failure.message.slice(0, 1_000), PAUSES.length, PAUSES],
  )
  return state === 'stored'
}

/** Returns unfinished pages, so that any normaliser calls them within seconds. */
export async function giveBack(pool: Pool, pageNos: bigint[]): Promise<void> {
  await pool.query(
    "update pages set next_try_at = clock_timestamp() where page_no = any ($1) and state = 'stored'",
    [pageNos],
  )
}
