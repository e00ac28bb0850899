import type { Pool } from '../postgres/pool.ts'

/** Looks at pages that are done. */
export interface Looks {
  /** Not due yet. */
  planned: number
  due: number
  /** Versions that wait for their comparison. */
  compare: number
  /** Pages that were found changed, or gone, in the last day. Their articles stay as they are. */
  changed: number
  gone: number
}

/** Indexes: page_looks_due, page_looks_changed, page_looks_gone. */
export async function readLooks(db: Pick<Pool, 'query'>): Promise<Looks> {
  const { rows } = await db.query<Looks>({
    name: 'status-looks',
    text: `select planned, due, (select count(*)::int from look_sources) as compare,
                  (select count(*)::int from page_looks where changed_at > now() - interval '1 day') as changed,
                  (select count(*)::int from page_looks where gone_at > now() - interval '1 day') as gone
             from (select count(*) filter (where look_at > now())::int as planned,
                          count(*) filter (where look_at <= now())::int as due
                     from page_looks where look_at is not null) l`,
  })
  return rows[0] ?? { planned: 0, due: 0, compare: 0, changed: 0, gone: 0 }
}
