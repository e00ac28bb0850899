import { firstDomain } from '../../search/removals.ts'
import type { NumberedRow } from '../../search/types.ts'
import { addressKey } from '../../shared/articles/address.ts'
import { AGENCY_RULES, agenciesOf, agencyEvidence } from '../../shared/articles/agencies.ts'
import type { Client } from '../../shared/postgres/pool.ts'

/*
 * Compares what the house derives from an article, beside the words. The engine reads the rows, and
 * calls this for some hundred at a time.
 */

// $1 outlets, $2 addresses. Index: the primary key.
const IDS = `
  select a.id from unnest($1::text[], $2::text[]) with ordinality as w (outlet, address, place)
    left join article_addresses a on a.outlet = ${firstDomain('w.outlet')} collate "C" and a.address = w.address collate "C"
   order by place`

/** Adds a fault to each row whose address leads elsewhere, or that lacks an agency of its text. */
export async function compareArticles(client: Client, rows: NumberedRow[]): Promise<void> {
  const there = rows.flatMap(row => {
    const outlet = row.outlet?.[0]
    return row.url === null || outlet === undefined ? [] : [{ row, outlet, key: keyOf(row.url) }]
  })
  const { rows: found } = await client.query<{ id: string | null }>(IDS, [
    there.map(({ outlet }) => outlet),
    there.map(({ key }) => key),
  ])
  const strays = there.filter(({ row }, at) => found[at]?.id !== row.id)
  const taken = strays.filter(stray => found[there.indexOf(stray)]?.id != null)
  const doubles = await findDoubles(client, taken)
  for (const stray of strays)
    stray.row.faults.push(
      doubles.has(stray)
        ? ['doubles', 'have the address of another article, by the rules of this version']
        : ['identity', 'have urls that lead elsewhere'],
    )
  for (const { row } of there)
    if (!areAgenciesRight(row)) row.faults.push(['agencies', 'lack agencies that their texts name'])
}

interface Addressed {
  row: NumberedRow
  outlet: string
  key: string
}

/**
 * Finds the articles that a former version knew by another key, which is that of another article by
 * the rules of this version. Visible articles are never merged.
 */
async function findDoubles(client: Client, strays: Addressed[]): Promise<Set<Addressed>> {
  if (strays.length === 0) return new Set()
  // Index: article_addresses_id
  const { rows } = await client.query<{ id: string; address: string }>(
    'select id, address from article_addresses where id = any ($1::text[])',
    [strays.map(({ row }) => row.id)],
  )
  const had = new Set(rows.map(({ id, address }) => `${id} ${keyOf(`https://${address}`)}`))
  return new Set(strays.filter(({ row, key }) => had.has(`${row.id} ${key}`)))
}

/** @returns '': the text is no address, and no row has it */
function keyOf(url: string): string {
  try {
    return addressKey(url)
  } catch {
    return ''
  }
}

/**
 * Code units of a body that was surely not cut. The agencies were found before a text was cut, and
 * its end may have named one.
 */
const UNCUT = 400_000

/**
 * Whether an article has the agencies that its text names, where the present rules found them. A
 * crawled page may name others outside its text.
 */
function areAgenciesRight(row: NumberedRow): boolean {
  const { agencyRules, body, authors, isOfPage } = row
  if (agencyRules !== AGENCY_RULES || (body?.length ?? 0) > UNCUT) return true
  const names = isOfPage ? [] : authors.map(([, , name]) => name)
  const own = agenciesOf(agencyEvidence({ authors: names, body }))
  const stored = row.agencies ?? []
  return own.every(name => stored.includes(name)) && (isOfPage || stored.length === own.length)
}
