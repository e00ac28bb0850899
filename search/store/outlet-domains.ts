import type { Client, Queryable } from '../postgres.ts'

/*
 * An outlet that moves gets a further domain. Its articles stay known by the first one: that is the
 * outlet in `article_addresses`, whichever domain an article bears. A writer claims each address on
 * all domains, so an article is known again at the same path of another one.
 *
 * A move takes the lock of `withoutWriters`. Writers read the domains under their lock, so those
 * with the former domain in hand also know the move.
 */

/** SQL: the domain by which articles of an outlet are known. Index: the primary key. */
export const firstDomain = (outlet: string): string =>
  `coalesce((select d.first from outlet_domains d where d.domain = ${outlet}), ${outlet})`

/** SQL: a list of outlets with their other domains. Index: the primary key. */
export const allDomains = (outlets: string): string =>
  `(${outlets} || array(select d.domain from outlet_domains d
      where d.first in (select w.first from outlet_domains w where w.domain = any (${outlets}))))`

/** The domains of an outlet. */
export interface OutletDomains {
  first: string
  all: string[]
}

/** The domains of outlets, by each of them. One that never moved has only its own. */
export async function readDomains(
  db: Queryable,
  outlets: string[],
): Promise<(outlet: string) => OutletDomains> {
  const statement = { name: 'outlet-domains', text: DOMAINS, values: [[...new Set(outlets)]] }
  const { rows } = await db.query<OutletDomains & { domain: string }>(statement)
  const known = new Map(rows.map(row => [row.domain, row]))
  return outlet => known.get(outlet) ?? { first: outlet, all: [outlet] }
}

// $1 outlets. Index: the primary key.
const DOMAINS = `
  select w.domain, w.first, array(select d.domain from outlet_domains d where d.first = w.first order by 1) as all
    from outlet_domains w where w.domain = any ($1::text[])`

/** The keys that an address has on the domains of an outlet. Its own comes first. */
export function addressesOn({ all }: OutletDomains, address: string): string[] {
  if (all.length === 1) return [address]
  const host = /^[^/?#:]*/.exec(address)![0]
  const [own] = all
    .filter(domain => host === domain || host.endsWith(`.${domain}`))
    .sort((a, b) => b.length - a.length)
  if (own === undefined) return [address]
  const before = host.slice(0, -own.length)
  const after = address.slice(host.length)
  const others = all.filter(domain => domain !== own)
  return [address, ...others.map(domain => before + domain + after)]
}

/**
 * Notes the domains of an outlet, its first one first. Raises the versions that searches name, so
 * no answer of before is used. The caller keeps writers away.
 */
export async function addDomains(client: Client, domains: string[]): Promise<void> {
  await client.query(ADD, [domains])
  await client.query(
    'update segments_version set version = version + 1, words_version = words_version + 1',
  )
}

// $1 domains
const ADD = `
  insert into outlet_domains (domain, first) select unnest($1::text[]), ($1::text[])[1] on conflict do nothing`
