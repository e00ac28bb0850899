import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { request as ask } from 'node:http'
import { createServer, type Server } from 'node:https'
import { pipeline } from 'node:stream/promises'
import type { Certified } from '../crawler/certificates.ts'
import { startTestOpensearch } from '../opensearch.ts'
import { HOST, writeCertificates } from './secured.ts'

/**
 * A node of OpenSearch behind a proxy that takes TLS alone and asks for a user, because the
 * distribution of the tests has no plugin that does.
 */
export interface SecuredOpensearch {
  /** OPENSEARCH_URL, OPENSEARCH_USER, OPENSEARCH_PASSWORD and TLS_CA_FILE. */
  settings: Record<string, string>
  /** The file of another authority, which has not signed its certificate. */
  otherAuthority: string
  stop(): Promise<void>
}

const [USER, PASSWORD] = ['perscope', 'a pass:word']

/** @returns a sentence that says why OpenSearch cannot run here */
export async function startSecuredOpensearch(): Promise<SecuredOpensearch | string> {
  const cluster = await startTestOpensearch()
  if (typeof cluster === 'string') return cluster
  const { folder, authority, otherAuthority, server } = await writeCertificates()
  const proxy = await startProxy(cluster.nodes[0]!.url, server)
  return {
    settings: {
      OPENSEARCH_URL: `https://${HOST}:${portOf(proxy)}`,
      OPENSEARCH_USER: USER,
      OPENSEARCH_PASSWORD: PASSWORD,
      TLS_CA_FILE: authority,
    },
    otherAuthority,
    async stop() {
      proxy.closeAllConnections()
      proxy.close()
      await cluster.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function startProxy(target: string, { certificate, key }: Certified): Promise<Server> {
  const expected = `Basic ${Buffer.from(`${USER}:${PASSWORD}`).toString('base64')}`
  const proxy = createServer({ cert: certificate, key }, (request, response) => {
    if (request.headers.authorization !== expected) return void response.writeHead(401).end('Unauthorized')
    const { method, headers } = request
    const onward = ask(`${target}${request.url}`, { method, headers })
    onward.on('response', answer => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      pipeline(answer, response).catch(() => {})
    })
    pipeline(request, onward).catch(() => response.destroy())
  })
  proxy.listen(0, HOST)
  await once(proxy, 'listening')
  return proxy
}

function portOf(server: Server): number {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The proxy listens on no port.')
  return address.port
}
