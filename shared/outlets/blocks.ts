import type { Queryable } from '../postgres/pool.ts'

/**
 * Notes that an outlet kept a page from us, by kind: `forbidden`, `login`, `challenge`,
 * `cookie wall`, `paywall` … It shows in the outlet's health.
 */
export async function noteBlock(db: Queryable, outletNo: number, kind: string): Promise<void> {
  await db.query(
    `insert into outlet_blocks (outlet_no, kind) values ($1, $2)
     on conflict (outlet_no, kind) do update set pages = outlet_blocks.pages + 1, last_at = now()`,
    [outletNo, kind],
  )
}
