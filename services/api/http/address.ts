import { once } from 'node:events'
import { isIP, type Server } from 'node:net'
import ipaddr from 'ipaddr.js'
import { type Config, ConfigError } from '../../../shared/config/config.ts'

/**
 * Starts to listen.
 * @returns the port; with PORT 0, a free port that the system has chosen
 * @throws an error that says what to set
 */
export async function listen(
  server: Server,
  { PORT, HOST }: Pick<Config, 'PORT' | 'HOST'>,
): Promise<number> {
  server.listen(PORT, HOST)
  try {
    await once(server, 'listening')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : ''
    if (code === 'EADDRINUSE')
      throw new Error(`Port ${PORT} of ${HOST} is in use; set PORT to a free one.`)
    if (code === 'EACCES')
      throw new Error(`Port ${PORT} may not be opened by this account; set PORT to one above 1023.`)
    if (code === 'EADDRNOTAVAIL')
      throw new Error(`${HOST} is no address of this machine; set HOST to one that is.`)
    throw error
  }
  const address = server.address()
  return typeof address === 'object' && address ? address.port : PORT
}

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
