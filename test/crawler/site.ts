import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type RequestListener,
  type ServerResponse,
} from 'node:http'
import { createServer as createSecureServer, type ServerOptions } from 'node:https'
import { closeServer, listen } from '../fleet.ts'

/** One request as the site saw it; times in ms of the monotonic clock of this process. */
export interface Seen {
  path: string
  headers: IncomingMessage['headers']
  from: number
  until: number | null
}

export type Handler = (request: IncomingMessage, response: ServerResponse) => void

/** Answers every request alike. */
export const reply =
  (status: number, headers: OutgoingHttpHeaders = {}, body: string | Buffer = ''): Handler =>
  (_request, response) =>
    response.writeHead(status, headers).end(body)

/** An outlet's web server, for tests: answers by path, and remembers who came when. */
export interface Site {
  /** `http://127.0.0.1:PORT`, or `https` */
  origin: string
  host: string
  port: number
  seen: Seen[]
  /** Requests for a path, in order. */
  to(path: string): Seen[]
  /**
   * Answers a path with a text (type by its ending) or a handler. Paths that nobody set are 404.
   */
  on(path: string, answer: string | Buffer | Handler): void
  close(): Promise<void>
}

/**
 * @param address loopback addresses differ as hosts do: 127.0.0.1, 127.0.0.2 …
 * @param tls the certificate, the key and options of a site behind TLS
 */
export async function startSite(address = '127.0.0.1', tls: ServerOptions | null = null): Promise<Site> {
  const answers = new Map<string, string | Buffer | Handler>()
  const seen: Seen[] = []
  const answer: RequestListener = (request, response) => {
    const path = request.url ?? '/'
    const visit: Seen = { path, headers: request.headers, from: performance.now(), until: null }
    seen.push(visit)
    const ended = () => {
      visit.until ??= performance.now()
    }
    // Before the answer is given, not when a busy machine gets round to saying that it was: a pause
    // measured from here can only seem longer than it is.
    response.end = new Proxy(response.end, {
      apply(end, self, given) {
        ended()
        return Reflect.apply(end, self, given)
      },
    })
    response.on('close', ended)
    const given = answers.get(path) ?? answers.get(path.split('?')[0] ?? '')
    if (given === undefined) return void response.writeHead(404).end()
    if (typeof given === 'function') return given(request, response)
    response.writeHead(200, { 'content-type': typeOf(path) }).end(given)
  }
  const server = tls === null ? createServer(answer) : createSecureServer(tls, answer)
  server.on('tlsClientError', () => {})
  const port = await listen(server, address)
  const host = `${address.includes(':') ? `[${address}]` : address}:${port}`
  return {
    origin: `${tls === null ? 'http' : 'https'}://${host}`,
    host,
    port,
    seen,
    to: path => seen.filter(visit => visit.path === path),
    on: (path, answer) => void answers.set(path, answer),
    close: () => closeServer(server),
  }
}

function typeOf(path: string): string {
  if (path.endsWith('.txt')) return 'text/plain'
  if (path.endsWith('.xml') || path.endsWith('.rss')) return 'application/xml; charset=utf-8'
  if (path.endsWith('.json')) return 'application/json'
  return 'text/html; charset=utf-8'
}
