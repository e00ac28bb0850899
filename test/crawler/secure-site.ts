import { createServer, type ServerOptions } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Certified } from './certificates.ts'
import type { Handler } from './site.ts'

/** A web server behind TLS, for tests. */
export interface SecureSite {
  origin: string
  host: string
  /** The paths that were asked for, in order. */
  asked: string[]
  on(path: string, answer: string | Handler): void
  close(): Promise<void>
}

/**
 * @param chain the certificates that the server sends behind its own
 * @param options of TLS, such as `maxVersion` and `ciphers`
 */
export async function startSecureSite(
  own: Certified,
  chain: Certified[] = [],
  options: ServerOptions = {},
  address = '127.0.0.1',
): Promise<SecureSite> {
  const answers = new Map<string, string | Handler>()
  const asked: string[] = []
  const cert = [own, ...chain].map(({ certificate }) => certificate).join('')
  const server = createServer({ key: own.key, cert, ...options }, (request, response) => {
    const path = request.url ?? '/'
    asked.push(path)
    const answer = answers.get(path)
    if (typeof answer === 'function') return answer(request, response)
    if (answer === undefined) return void response.writeHead(404).end()
    response.writeHead(200, { 'content-type': path.endsWith('.xml') ? 'application/xml' : 'text/html' }).end(answer)
  })
  server.on('tlsClientError', () => {})
  const { port } = await new Promise<AddressInfo>(resolve =>
    server.listen(0, address, () => {
      const bound = server.address()
      if (typeof bound === 'object' && bound !== null) resolve(bound)
    }),
  )
  const host = `${address.includes(':') ? `[${address}]` : address}:${port}`
  return {
    ...{ origin: `https://${host}`, host, asked },
    on: (path, answer) => void answers.set(path, answer),
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
