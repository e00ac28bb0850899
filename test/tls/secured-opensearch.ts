import { rm } from 'node:fs/promises'
import { request as ask } from 'node:http'
import { createServer, type Server } from 'node:https'
import { pipeline } from 'node:stream/promises'
import type { Certified } from '../crawler/certificates.ts'
import { listen } from '../fleet.ts'
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
  const { proxy, port } = await startProxy(cluster.nodes[0]!.url, server)
  return {
    settings: {
      OPENSEARCH_URL: `https://${HOST}:${port}`,
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

async function startProxy(target: string, { certificate, key }: Certified): Promise<{ proxy: Server; port: number }> {
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
  return { proxy, port: await listen(proxy, HOST) }
}
