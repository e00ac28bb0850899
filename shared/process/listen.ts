import { once } from 'node:events'
import type { Server } from 'node:net'

/** The settings of a port, as an error names them. */
interface PortSettings {
  port: string
  host: string
}

/**
 * Starts to listen.
 * @returns the port; for 0, a free one that the system has chosen
 * @throws an error that says what to set
 */
export async function listen(
  server: Server,
  port: number,
  host: string,
  set: PortSettings = { port: 'PORT', host: 'HOST' },
): Promise<number> {
  server.listen(port, host)
  try {
    await once(server, 'listening')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (code === 'EADDRINUSE')
      throw new Error(`Port ${port} of ${host} is in use; set ${set.port} to a free one.`)
    if (code === 'EACCES')
      throw new Error(
        `Port ${port} may not be opened by this account; set ${set.port} to one above 1023.`,
      )
    if (['EADDRNOTAVAIL', 'EAI_AGAIN', 'EINVAL', 'ENOTFOUND'].includes(code))
      throw new Error(`${host} is no address of this machine; set ${set.host} to one that is.`)
    throw error
  }
  const address = server.address()
  return typeof address === 'object' && address ? address.port : port
}
