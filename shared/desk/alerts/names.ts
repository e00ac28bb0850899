import type { LookupAddress, LookupOptions } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import { withTimeLimit } from '#shared/resilience/time-limit'

/*
 * Names of hosts that clients give are looked up apart from all others. The system's look-up
 * (getaddrinfo) has four threads for the whole process, and Postgres' name needs one of them: slow
 * names of a client would stop everything. c-ares has no threads, and reads no /etc/hosts, so no
 * client learns which names exist inside.
 */

/** ms that a look-up may take. */
const WITHIN = 3_000

/** The addresses of a name; empty: it has none, or its servers do not answer in time. */
export async function addressesOf(
  name: string,
  servers: readonly string[] = [],
  within: number = WITHIN,
): Promise<LookupAddress[]> {
  const resolver = new Resolver({ timeout: within, tries: 1 })
  if (servers.length > 0) resolver.setServers(servers)
  const of = async (family: 4 | 6): Promise<LookupAddress[]> => {
    const asked = family === 4 ? resolver.resolve4(name) : resolver.resolve6(name)
    return (await asked.catch(() => [])).map(address => ({ address, family }))
  }
  const both = Promise.all([of(4), of(6)]).then(found => found.flat())
  return withTimeLimit(both, within, (): LookupAddress[] => {
    resolver.cancel()
    return []
  })
}

/** `dns.lookup` for names that clients gave. */
export function lookupApart(
  name: string,
  _options: LookupOptions,
  callback: (error: NodeJS.ErrnoException | null, found: LookupAddress[]) => void,
): void {
  addressesOf(name).then(
    found => callback(null, found),
    error => callback(error, []),
  )
}
