import type { Client, Queryable } from '../../../shared/postgres/pool.ts'
import { EMPTY_TEMPLATE, furnitureCount, learn, type Template } from './template.ts'

/** So many pages of an outlet all teach; then every eighth one does, by its number. */
const ALL = 64
const EVERY = 8n

/** Whether a page teaches, when its outlet has learned of so many. Most pages cost nothing. */
export const teaches = (pageNo: bigint, taught: number) => taught < ALL || pageNo % EVERY === 0n

interface Row {
  outlet_no: number
  pages: number
  template: Template
}

/**
 * Teaches the templates of outlets what their pages hold. Call it in the transaction that marks the
 * pages as done, so that each page teaches once. Rows are locked in order of the outlets.
 */
export async function teach(client: Client, pages: { outletNo: number; lesson: string[] | null }[]): Promise<void> {
  const outlets = [...new Set(pages.filter(({ lesson }) => lesson !== null).map(({ outletNo }) => outletNo))]
  outlets.sort((a, b) => a - b)
  if (outlets.length === 0) return
  const { rows } = await client.query<Row>(
    'select outlet_no, pages, template from outlet_templates where outlet_no = any ($1) order by outlet_no for update',
    [outlets],
  )
  const known = new Map(rows.map(row => [row.outlet_no, row]))
  const taught = outlets.map(outletNo => {
    const before = known.get(outletNo) ?? { outlet_no: outletNo, pages: 0, template: EMPTY_TEMPLATE }
    const after = { ...before }
    for (const page of pages) {
      if (page.outletNo !== outletNo || page.lesson === null) continue
      after.template = learn(after.template, page.lesson)
      after.pages += 1
    }
    return after
  })
  // Of two writers that begin a template at once, the later one wins.
  await client.query(
    `insert into outlet_templates (outlet_no, pages, template)
     select outlet_no, pages, template::json from unnest($1::int[], $2::int[], $3::text[]) as t (outlet_no, pages, template)
      order by 1
     on conflict (outlet_no) do update set pages = excluded.pages, template = excluded.template`,
    [
      taught.map(({ outlet_no }) => outlet_no),
      taught.map(row => row.pages),
      taught.map(({ template }) => JSON.stringify(template)),
    ],
  )
}

/** What was learned of an outlet, for operators. */
export interface LearnedTemplate {
  /** Pages that taught it, ever. */
  pages: number
  /** Lines that are left out of texts now. */
  furniture: number
}

/** By domain. */
export async function readTemplates(db: Queryable): Promise<Map<string, LearnedTemplate>> {
  const { rows } = await db.query<Row & { domain: string }>(
    'select domain, outlet_no, pages, template from outlet_templates join outlets using (outlet_no)',
  )
  return new Map(rows.map(({ domain, pages, template }) => [domain, { pages, furniture: furnitureCount(template) }]))
}
