import { type LookupAddress, type LookupOptions, lookup } from 'node:dns'
import { isIP } from 'node:net'
import { buildConnector } from 'undici'
import type { AddressRule } from './addresses.ts'
import { RequestFailure } from './failure.ts'

/**
 * Connects to permitted addresses only. The check stands where the connection is made, so that no name that resolves
 * differently the second time gets around it, and for redirects as for first requests. Names are resolved by the system.
 *
 * @param timeout ms for connecting, TLS included
 */
export function guardedConnector(permitted: AddressRule, timeout: number): buildConnector.connector {
  const guardedLookup = (
    name: string,
    options: LookupOptions,
    callback: (error: NodeJS.ErrnoException | null, address: string | LookupAddress[], family?: number) => void,
  ) => {
    lookup(name, { ...options, all: true }, (error, found) => {
      if (error !== null) return callback(error, [])
      const addresses = found.filter(({ address }) => permitted(address))
      const [first] = addresses
      if (first === undefined) return callback(forbidden(name), [])
      if (options.all === true) callback(null, addresses)
      else callback(null, first.address, first.family)
    })
  }
  const connect = buildConnector({ timeout, lookup: guardedLookup, maxCachedSessions: 100 })
  return (options, callback) => {
    // Sockets look up names only: an address in the URL itself never passes the lookup.
    const host = options.hostname.replace(/^\[|\]$/g, '')
    if (isIP(host) !== 0 && !permitted(host)) {
      callback(forbidden(host), null)
      return
    }
    connect(options, callback)
  }
}

const forbidden = (host: string) =>
  new RequestFailure('private-address', `${host} has no public address; CRAWL_ALLOW_PRIVATE opens ranges`)
