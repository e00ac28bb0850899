import { printableLine } from '../../shared/log/printable.ts'
import type { Queryable } from '../../shared/postgres/pool.ts'
import { columns } from '../terminal/columns.ts'
import { span } from '../terminal/span.ts'

/** A page that its outlet has changed or removed since its article was made. */
export interface ChangedPage {
  /** `page:12`, as everywhere. */
  id: string
  outlet: string
  url: string
  /** Kinds of changes, see `docs/operations.md`. */
  what: string[]
  /** Its titles, the present one last. */
  titles: string[]
  changes: number
  changedAt: Date | null
  /** Since when it answers 404 or 410; null: it is there. */
  goneAt: Date | null
}

/** Changed and removed pages, the latest finding first. Reads all findings. */
export async function listChanges(db: Queryable, outlet: string | null, limit: number): Promise<ChangedPage[]> {
  const { rows } = await db.query<ChangedPage>(
    `select 'page:' || l.page_no as id, o.domain as outlet, p.url, l.what, l.titles || l.title as titles, l.changes,
            l.changed_at as "changedAt", l.gone_at as "goneAt"
       from page_looks l join pages p using (page_no) join outlets o on o.outlet_no = l.outlet_no
      where (l.changed_at is not null or l.gone_at is not null) and ($1::text is null or o.domain = $1)
      order by greatest(l.changed_at, l.gone_at) desc, l.page_no limit $2`,
    [outlet, limit],
  )
  return rows
}

/** For people: one line a page. */
export function changesTable(pages: ChangedPage[], now: Date): string {
  const rows = pages.map(({ id, outlet, url, what, titles, changedAt, goneAt }) => [
    id,
    span(now.getTime() - Math.max(changedAt?.getTime() ?? 0, goneAt?.getTime() ?? 0)),
    [...(goneAt === null ? [] : ['gone']), ...what].join(', '),
    outlet,
    url,
    titles.join(' → '),
  ])
  return columns([['id', 'ago', 'what', 'outlet', 'address', 'titles'], ...rows].map(row => row.map(printableLine)))
}
