import ipaddr from 'ipaddr.js'
import { ConfigError } from '../../../shared/config/config.ts'

/** Whether the crawler may connect to an IP address. */
export type AddressRule = (address: string) => boolean

/**
 * Public unicast addresses, and the ranges that the operator opened. Everything else is closed: loopback, private,
 * link-local (cloud metadata), carrier NAT, multicast, unspecified, documentation, and the ways to write an IPv4 address in
 * IPv6 (RFC 6890; RFC 4291 §2.5.5; RFC 6052; RFC 3056).
 *
 * @param opened CRAWL_ALLOW_PRIVATE: addresses or ranges, as `127.0.0.0/8`
 * @throws ConfigError for a range that is none
 */
export function addressRule(opened: string[]): AddressRule {
  const ranges = opened.map(readRange)
  return text => {
    if (!ipaddr.isValid(text)) return false
    // `::ffff:127.0.0.1` reaches 127.0.0.1 and is judged as that.
    const address = ipaddr.process(text)
    if (address.range() === 'unicast') return true
    return ranges.some(([range, bits]) => range.kind() === address.kind() && address.match(range, bits))
  }
}

function readRange(text: string): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  try {
    if (text.includes('/')) return ipaddr.parseCIDR(text)
    const address = ipaddr.parse(text)
    return [address, address.kind() === 'ipv4' ? 32 : 128]
  } catch {
    throw new ConfigError(`CRAWL_ALLOW_PRIVATE holds "${text}"; write address ranges such as 127.0.0.0/8 or ::1/128.`)
  }
}
