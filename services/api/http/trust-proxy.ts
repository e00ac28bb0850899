import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { ConfigError } from '#shared/config/config'

/**
 * `TRUST_PROXY` as Express takes it: nobody, a number of hops, or addresses and ranges. "Everybody"
 * is not allowed, because any client could then choose the address that we see.
 * @throws ConfigError
 */
export function trustProxy(setting: string): false | number | string[] {
  if (setting === '' || setting === 'false' || setting === '0') return false
  if (/^\d{1,2}$/.test(setting)) return Number(setting)
  const names = setting.split(',').map(name => name.trim())
  for (const name of names) {
    if (
      ['loopback', 'linklocal', 'uniquelocal'].includes(name) ||
      isIP(name) ||
      ipaddr.isValidCIDR(name)
    )
      continue
    throw new ConfigError(
      `TRUST_PROXY is "${setting}"; write a number of hops, or addresses and ranges such as 10.0.0.0/8.`,
    )
  }
  return names
}
