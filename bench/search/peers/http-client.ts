import { Agent, request } from 'node:http'

/** One connection to a server that is kept open. */
export interface HttpClient {
  /** @throws when the server does not answer within the limit, or with another status than 200 */
  send(method: 'GET' | 'POST' | 'PUT', path: string, body?: string | null, within?: number): Promise<HttpAnswer>
  close(): void
}

export interface HttpAnswer {
  text: string
  /** From the first byte that was sent to the last that arrived. */
  ms: number
}

class HttpTimeout extends Error {
  override name = 'HttpTimeout'
}

const LIMIT_MS = 60_000

/** @param headers of every request */
export function openHttp(port: number, headers: Record<string, string>): HttpClient {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  return {
    send: (method, path, body = null, within = LIMIT_MS) =>
      new Promise((resolve, reject) => {
        const start = performance.now()
        const sent = request({ agent, method, path, headers, port, host: '127.0.0.1' }, response => {
          const chunks: Buffer[] = []
          response.on('data', chunk => chunks.push(chunk))
          response.on('error', reject)
          response.on('end', () => {
            clearTimeout(timer)
            const text = Buffer.concat(chunks).toString()
            const ms = performance.now() - start
            if (response.statusCode === 200) resolve({ text, ms })
            else reject(new Error(`${method} ${path.slice(0, 200)}: ${response.statusCode} ${text.slice(0, 1_000)}`))
          })
        })
        const timer = setTimeout(() => sent.destroy(new HttpTimeout(`no answer within ${within} ms`)), within)
        sent.on('error', error => {
          clearTimeout(timer)
          reject(error)
        })
        sent.end(body ?? undefined)
      }),
    close: () => agent.destroy(),
  }
}
