import { once } from 'node:events'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request as ask } from 'node:http'
import { createServer, type Server } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { type Certified, certify } from '../crawler/certificates.ts'
import { startTestOpensearch } from '../opensearch.ts'

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

/** The certificate names this host, and not `localhost`, which leads to the same server. */
const HOST = '127.0.0.1'
const [USER, PASSWORD] = ['perscope', 'a pass:word']

/** @returns a sentence that says why OpenSearch cannot run here */
export async function startSecuredOpensearch(): Promise<SecuredOpensearch | string> {
  const cluster = await startTestOpensearch()
  if (typeof cluster === 'string') return cluster
  const folder = await mkdtemp(join(tmpdir(), 'perscope-tls-'))
  // As root the API runs as another user.
  await chmod(folder, 0o755)
  const authority = certify({ name: 'Private authority', issuer: null, authority: true })
  const other = certify({ name: 'Other authority', issuer: null, authority: true })
  const [ours, otherAuthority] = [join(folder, 'authority.pem'), join(folder, 'other.pem')]
  await writeFile(ours, authority.certificate)
  await writeFile(otherAuthority, other.certificate)
  const server = certify({ name: 'Server', issuer: authority, hosts: [HOST] })
  const proxy = await startProxy(cluster.nodes[0]!.url, server)
  return {
    settings: {
      OPENSEARCH_URL: `https://${HOST}:${portOf(proxy)}`,
      OPENSEARCH_USER: USER,
      OPENSEARCH_PASSWORD: PASSWORD,
      TLS_CA_FILE: ours,
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
