import { request as ask } from 'node:http'
import { createServer, type Server } from 'node:https'
import { pipeline } from 'node:stream/promises'
import type { Test } from 'tap'
import type { Certified } from '#test/crawler/certificates'
import { closeServer, listen } from '#test/fleet'
import { HOST, writeCertificates } from './secured.ts'

const USER = 'perscope'
const PASSWORD = 'a pass:word'

export interface SecuredOpensearch {
  settings: {
    OPENSEARCH_URL: string
    OPENSEARCH_USER: string
    OPENSEARCH_PASSWORD: string
    TLS_CA_FILE: string
  }
  otherAuthority: string
}

/**
 * Puts a proxy before a node of OpenSearch that takes TLS alone and asks for a user, because the
 * distribution of the tests has no plugin that does. It ends with the test.
 *
 * @returns otherAuthority the file of another authority, which has not signed its certificate
 */
export async function secureOpensearch(
  test: Pick<Test, 'teardown' | 'testdir'>,
  url: string,
): Promise<SecuredOpensearch> {
  const { authority, otherAuthority, server } = await writeCertificates(test.testdir())
  const { proxy, port } = await startProxy(url, server)
  test.teardown(() => closeServer(proxy))
  const settings = {
    OPENSEARCH_URL: `https://${HOST}:${port}`,
    OPENSEARCH_USER: USER,
    OPENSEARCH_PASSWORD: PASSWORD,
    TLS_CA_FILE: authority,
  }
  return { settings, otherAuthority }
}

async function startProxy(
  target: string,
  { certificate, key }: Certified,
): Promise<{ proxy: Server; port: number }> {
  const expected = `Basic ${Buffer.from(`${USER}:${PASSWORD}`).toString('base64')}`
  const proxy = createServer({ cert: certificate, key }, (request, response) => {
    if (request.headers.authorization !== expected)
      return void response.writeHead(401).end('Unauthorized')
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
