import { hash } from 'node:crypto'
import type { NewArticle } from '#search/types'
import { addressKey } from '#shared/articles/address'
import type { StoredPage } from '#shared/outlets/page'
import { countOf, type Pool } from '#shared/postgres/pool'
import { fold } from './markup/plain.ts'

/** A page states a canonical address that is not its own. Hashes of 16 bytes. */
export interface Claim {
  canonical: Uint8Array
  title: Uint8Array
  /** Null: the page has no text of its own. */
  body: Uint8Array | null
  /** This many other articles with the same claim make it doubtful. */
  doubtful: number
}

/** The claim of an article's page; null when its address is its own. */
export function claimOf(
  { addresses, title }: Pick<NewArticle, 'addresses' | 'title'>,
  { url, finalUrl }: Pick<StoredPage, 'url' | 'finalUrl'>,
  body: Uint8Array | null,
): Claim | null {
  const canonical = addresses[0] ?? ''
  const own = [url, finalUrl].map(addressKey)
  if (own.includes(canonical)) return null
  const isLonger = own.some(key => key.startsWith(`${canonical}?`))
  return {
    canonical: digestOf(canonical),
    title: digestOf(fold(title)),
    body,
    doubtful: isLonger ? LIVE : 1,
  }
}
const digestOf = (text: string) => hash('sha256', text, 'buffer').subarray(0, 16)

/**
 * Posts of a live blog have its address with a parameter. Its title and text change a few times in
 * a day.
 */
const LIVE = 4

/**
 * Keeps the claim of a page. Whether other pages of the outlet with other titles and other texts
 * claim the same address: then it is the address of none. Of two processes that ask at the same
 * time, at least one sees the claim of the other, because each keeps its own first.
 */
export async function isDisputed(
  pool: Pool,
  outletNo: number,
  { canonical, title, body, doubtful }: Claim,
): Promise<boolean> {
  const values = [outletNo, canonical, title, body]
  await pool.query(
    `insert into canonical_claims (outlet_no, canonical, title, body) values ($1, $2, $3, $4)
     on conflict do nothing`,
    values,
  )
  const others = await countOf(
    pool,
    `select count(*) from canonical_claims
      where outlet_no = $1 and canonical = $2 and title <> $3 and not coalesce(body = $4, false)`,
    values,
  )
  return others >= doubtful
}
