import { type LookupAddress, type LookupOptions, lookup } from 'node:dns'
import type { LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'
import { ConfigError } from './config/config.ts'

type FindAll = (
  name: string,
  options: LookupOptions,
  found: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void

/**
 * Makes a `lookup` for `node:net` that gives permitted addresses only. Every connection looks its
 * name up anew. So a name that first resolves to a permitted address and then to a forbidden one
 * does not pass.
 *
 * @param forbidden the error when no address is permitted
 * @param find finds all addresses of a name; absent: as the system does
 */
export function lookupAmong(
  permitted: (address: string) => boolean,
  forbidden: (name: string, addresses: string[]) => Error,
  find: FindAll = (name, options, found) => lookup(name, { ...options, all: true }, found),
): LookupFunction {
  return (name, options, callback) => {
    find(name, options, (error, found) => {
      if (error !== null) return callback(error, [])
      const addresses = found.filter(({ address }) => permitted(address))
      const [first] = addresses
      if (first === undefined) {
        const all = found.map(({ address }) => address)
        return callback(forbidden(name, all), [])
      }
      if (options.all === true) callback(null, addresses)
      else callback(null, first.address, first.family)
    })
  }
}

/** Tells to which addresses and ports a connection may go. */
export interface AddressRule {
  /**
   * Whether the operator has opened the address. A connection may then go to any of its ports.
   */
  isOpened(text: string): boolean
  /** Whether the address is public. A connection may then go to its public ports. */
  isPublic(text: string): boolean
  /** Whether connections to public addresses may go to this port. */
  isPublicPort(port: number): boolean
  /** Whether connections may go to public addresses at all. */
  asksPublic: boolean
}

/**
 * Allows public unicast addresses on the ports of the web, and every port of the ranges that the
 * operator opened. All other addresses are closed: loopback, private, link-local (cloud metadata),
 * carrier NAT, multicast, unspecified, documentation (RFC 6890, IANA's registries of
 * special-purpose addresses). IPv4 addresses inside IPv6 are closed too (RFC 4291 §2.5.5, RFC 6052,
 * RFC 3056, RFC 4380). IANA has assigned only 2000::/3 of IPv6 as unicast ("IPv6 Global Unicast
 * Address Assignments").
 *
 * @param opened CRAWL_ALLOW_PRIVATE: addresses or ranges, such as `127.0.0.0/8`
 * @param ports CRAWL_PORTS
 * @param asksPublic see `introducesItself`
 * @throws ConfigError for an invalid range or port
 */
export function addressRule(opened: string[], ports: string[], asksPublic = true): AddressRule {
  const ranges = opened.map(readRange)
  const allowed = new Set(ports.map(readPort))
  return {
    isOpened(text) {
      if (!ipaddr.isValid(text)) return false
      // `::ffff:127.0.0.1` reaches 127.0.0.1, so this checks 127.0.0.1.
      const address = ipaddr.process(text)
      return ranges.some(
        ([range, bits]) => range.kind() === address.kind() && address.match(range, bits),
      )
    },
    isPublic(text) {
      if (!ipaddr.isValid(text)) return false
      const address = ipaddr.process(text)
      if (address.range() !== 'unicast' || OF_A_CLOUD.has(address.toString())) return false
      return address.kind() === 'ipv4' || address.match(GLOBAL_UNICAST)
    },
    isPublicPort: port => allowed.has(port),
    asksPublic,
  }
}

/**
 * This address looks public, but Azure's platform answers at it, in each virtual machine of Azure.
 */
const OF_A_CLOUD = new Set(['168.63.129.16'])
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3')

function readRange(text: string): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  try {
    if (text.includes('/')) return ipaddr.parseCIDR(text)
    const address = ipaddr.parse(text)
    return [address, address.kind() === 'ipv4' ? 32 : 128]
  } catch {
    throw new ConfigError(
      `CRAWL_ALLOW_PRIVATE holds "${text}"; write address ranges such as 127.0.0.0/8 or ::1/128.`,
    )
  }
}

function readPort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0
  if (port < 1 || port > 65_535)
    throw new ConfigError(
      `CRAWL_PORTS holds "${text}"; write ports from 1 to 65535, such as 80,443.`,
    )
  return port
}
