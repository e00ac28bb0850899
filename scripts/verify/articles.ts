import { addressesOn, firstDomain, type OutletDomains, readDomains } from '#search/removals'
import type { NumberedRow } from '#search/types'
import { addressKey } from '#shared/articles/address'
import { AGENCY_RULES, agenciesOf, agencyEvidence } from '#shared/articles/agencies'
import { type Client, columnsOf, readColumn } from '#shared/postgres/pool'

/*
 * Compares what the house derives from an article, beside the words. The engine reads the rows, and
 * calls this for some hundred at a time.
 */

/** Adds a fault to each row that has other addresses, or lacks an agency of its text. */
export async function compareArticles(client: Client, rows: NumberedRow[]): Promise<void> {
  const there = await readAddressed(client, rows)
  await findStrays(client, there)
  await findForeign(client, there)
  for (const { row } of there)
    if (!areAgenciesRight(row)) row.faults.push(['agencies', 'lack agencies that their texts name'])
}

interface Addressed {
  row: NumberedRow
  outlet: OutletDomains
  /** The key of its url. */
  key: string
  /** All addresses that lead to it. */
  addresses: string[]
}

// $1 ids. Index: article_addresses_id.
const ADDRESSES = `
  select id, array_agg(address order by address) as addresses, array_agg(distinct outlet) as outlets
    from article_addresses where id = any ($1::text[]) group by id`

async function readAddressed(client: Client, rows: NumberedRow[]): Promise<Addressed[]> {
  const outlets = rows.flatMap(({ outlet }) => outlet?.[0] ?? [])
  const domainsOf = await readDomains(client, outlets)
  const { rows: found } = await client.query<{
    id: string
    addresses: string[]
    outlets: string[]
  }>({ name: 'verify-addresses', text: ADDRESSES, values: [rows.map(({ id }) => id)] })
  const known = new Map(found.map(one => [one.id, one]))
  return rows.flatMap(row => {
    if (row.url === null || row.outlet === null) return []
    const outlet = domainsOf(row.outlet[0])
    const { addresses, outlets } = known.get(row.id ?? '') ?? { addresses: [], outlets: [] }
    if (outlets.some(one => one !== outlet.first))
      row.faults.push(['identity', 'have addresses of another outlet'])
    return { row, outlet, key: keyOf(row.url), addresses }
  })
}

// $1 outlets, $2 addresses. Index: the primary key.
const TAKEN = `
  select a.address from unnest($1::text[], $2::text[]) as w (outlet, address)
    join article_addresses a on a.outlet = w.outlet collate "C" and a.address = w.address collate "C"`

/**
 * Finds articles whose urls do not lead to them. The url may be that of another article by the
 * rules of this version alone: visible articles are never merged.
 */
async function findStrays(client: Client, there: Addressed[]): Promise<void> {
  const strays = there.filter(({ key, addresses }) => !addresses.includes(key))
  if (strays.length === 0) return
  const keys = strays.map(({ key }) => key)
  const outlets = strays.map(({ outlet }) => outlet.first)
  const taken = new Set(await readColumn<string>(client, TAKEN, [outlets, keys]))
  for (const { row, key, addresses } of strays) {
    const isDouble = taken.has(key) && addresses.some(one => keyOf(`https://${one}`) === key)
    row.faults.push(
      isDouble
        ? ['doubles', 'have the address of another article, by the rules of this version']
        : ['identity', 'have urls that lead elsewhere'],
    )
  }
}

/** The addresses that a page gives its article, beside that in the feed (`identify`). */
const OF_A_PAGE = 3

// $1 outlets, $2 addresses. Index: pages by outlet_no and crawl_key.
const PAGES = `
  with crawled as materialized (select outlet_no, ${firstDomain('lower(domain)')} as first from outlets)
  select w.address from unnest($1::text[], $2::text[]) as w (outlet, address)
   where exists (select from crawled o join pages p using (outlet_no)
                  where o.first = w.outlet and p.crawl_key = w.address collate "C")`

/**
 * Finds articles with more addresses than their urls and their pages gave them. A page is known by
 * its address in the feed, and nobody keeps the others that it had.
 */
async function findForeign(client: Client, there: Addressed[]): Promise<void> {
  // An outlet that moved has each address on all its domains.
  const asOne = (outlet: OutletDomains, address: string) =>
    addressesOn(outlet, address).sort()[0] ?? address
  const several = there.flatMap(one => {
    const own = asOne(one.outlet, one.key)
    // A former version had other keys for the same address.
    const others = one.addresses.filter(
      address =>
        ![address, keyOf(`https://${address}`)].some(key => asOne(one.outlet, key) === own),
    )
    return others.length === 0 ? [] : [{ ...one, others }]
  })
  if (several.length === 0) return
  const all = several.flatMap(({ outlet: { first }, addresses }) =>
    addresses.map(address => ({ first, address })),
  )
  const pages = new Set(await readColumn<string>(client, PAGES, columnsOf(all, 'first', 'address')))
  for (const { row, outlet, addresses, others } of several) {
    const named = new Set(addresses.filter(one => pages.has(one)).map(one => asOne(outlet, one)))
    const unnamed = new Set(others.map(one => asOne(outlet, one)).filter(one => !named.has(one)))
    if (unnamed.size > OF_A_PAGE * named.size)
      row.faults.push(['identity', 'have addresses that no page gave them'])
  }
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
