import { isIP } from 'node:net'
import type { Queryable } from '../../../shared/postgres/pool.ts'

/** Whose host an address is on. `domain`: of the outlet that it belongs to. */
type Ownership = { of: 'outlet' } | { of: 'nobody' } | { of: 'another outlet'; domain: string }

/**
 * Whose host an address is on, seen from an outlet. A host belongs to the outlet with the longest
 * domain, or other host of the catalogue, that covers it. Where two outlets name the same one, it
 * is either's. Indexes: outlets_domain_key, outlets_hosts.
 */
export async function readOwnership(db: Queryable, outletNo: number, url: URL): Promise<Ownership> {
  const { rows } = await db.query<{ ours: boolean; domain: string; length: number }>(
    `select outlet_no = $2 as ours, domain, length(name) as length
       from (select outlet_no, active, domain, domain as name from outlets where domain = any($1)
             union all
             select outlet_no, active, domain, host from outlets, unnest(hosts) as host
              where hosts && $1 and host = any($1)) named (outlet_no, active, domain, name)
      where active or outlet_no = $2
      order by length(name) desc, outlet_no = $2 desc limit 1`,
    [namesOf(url), outletNo],
  )
  const [nearest] = rows
  if (nearest === undefined) return { of: 'nobody' }
  return nearest.ours ? { of: 'outlet' } : { of: 'another outlet', domain: nearest.domain }
}

/**
 * The names in a catalogue that cover a host: itself, with and without its port, and its domains.
 */
function namesOf({ host, hostname }: URL): string[] {
  const names = [host, hostname]
  if (isIP(hostname.replace(/^\[|\]$/g, '')) !== 0) return names
  for (let dot = hostname.indexOf('.'); dot >= 0; dot = hostname.indexOf('.', dot + 1))
    names.push(hostname.slice(dot + 1))
  return names
}
