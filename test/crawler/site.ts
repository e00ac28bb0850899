import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type RequestListener,
  type ServerResponse,
} from 'node:http'
import { createServer as createSecureServer, type ServerOptions } from 'node:https'
import { closeServer, listen } from '#test/fleet'

/** One request as the site saw it; times in ms of the monotonic clock of this process. */
export interface Seen {
  path: string
  headers: IncomingMessage['headers']
  from: number
  /** The end of the answer, or of the connection; infinite while it is open. */
  until: number
  /** Whether the site ended it. Of a reader who went away we only know that it was before. */
  answered: boolean
}

const OPEN = Number.POSITIVE_INFINITY

/** Answers a request itself, or returns the text of the answer. */
export type Handler = (request: IncomingMessage, response: ServerResponse) => unknown

/** Answers every request alike. */
export const reply =
  (status: number, headers: OutgoingHttpHeaders = {}, body: string | Buffer = ''): Handler =>
  (_request, response) =>
    response.writeHead(status, headers).end(body)

export const redirect = (location: string, status = 302): Handler => reply(status, { location })

export const MODIFIED = 'Sat, 21 Nov 2026 08:00:00 GMT'

/** An answer with an ETag. A client that sends the ETag gets 304. */
export const tagged =
  (etag: string, body: string | Buffer): Handler =>
  ({ headers }, response) =>
    headers['if-none-match'] === etag
      ? response.writeHead(304, { etag }).end()
      : response
          .writeHead(200, { 'content-type': 'application/xml', etag, 'last-modified': MODIFIED })
          .end(body)

/** Half of the bytes that were promised, then the end. */
export const cutShort =
  (headers: OutgoingHttpHeaders, text: string | Buffer): Handler =>
  (_request, response) => {
    const body = Buffer.from(text)
    response.writeHead(200, { 'content-length': body.length, ...headers })
    response.write(body.subarray(0, body.length / 2), () => response.destroy())
  }

/** Begins an answer, and sends as much more of it as the line takes, for ever. */
export const pour =
  (more: string, first: string = more): Handler =>
  (_request, response) => {
    response.on('error', () => {})
    response.write(first)
    const go = () => {
      while (!response.destroyed && response.write(more));
    }
    response.on('drain', go)
    go()
  }

/** Begins a page, and never goes on. */
export const begin: Handler = (_request, response) =>
  response
    .writeHead(200, { 'content-type': 'text/html' })
    .write('<!doctype html><p>Het nieuws van vandaag')

/** Sends one byte now and then, for ever. */
export const drip: Handler = (_request, response) => {
  const timer = setInterval(() => response.write('x'), 50)
  response.on('close', () => clearInterval(timer))
}

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
  on(path: string, answer: string | Buffer | Handler): undefined
  close(): Promise<void>
}

/**
 * @param address loopback addresses differ as hosts do: 127.0.0.1, 127.0.0.2 …
 * @param tls the certificate, the key and options of a site behind TLS
 */
export async function startSite(
  address = '127.0.0.1',
  tls: ServerOptions | null = null,
): Promise<Site> {
  const answers = new Map<string, string | Buffer | Handler>()
  const seen: Seen[] = []
  const answer: RequestListener = async (request, response) => {
    const path = request.url ?? '/'
    const visit: Seen = {
      path,
      headers: request.headers,
      from: performance.now(),
      until: OPEN,
      answered: false,
    }
    seen.push(visit)
    const end = (answered: boolean) => {
      if (visit.until === OPEN) Object.assign(visit, { until: performance.now(), answered })
    }
    // Before the answer is given, not when a busy machine gets round to saying that it was: a pause
    // measured from here can only seem longer than it is.
    response.end = before(response.end, () => end(true))
    response.destroy = before(response.destroy, () => end(true))
    response.on('close', () => end(false))
    const given = answers.get(path) ?? answers.get(path.split('?')[0] ?? '')
    if (given === undefined) return void response.writeHead(404).end()
    const text = typeof given === 'function' ? await given(request, response) : given
    if (typeof text === 'string' || Buffer.isBuffer(text))
      response.writeHead(200, { 'content-type': typeOf(path) }).end(text)
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
    to: (path: string) => seen.filter(visit => visit.path === path),
    on: (path: string, answer: string | Buffer | Handler) => void answers.set(path, answer),
    close: () => closeServer(server),
  }
}

/** A function that does something before it does its work. */
const before = <F extends (...given: never[]) => unknown>(work: F, note: () => void): F =>
  new Proxy(work, {
    apply(called, self, given) {
      note()
      return Reflect.apply(called, self, given)
    },
  })

function typeOf(path: string): string {
  if (path.endsWith('.txt')) return 'text/plain'
  if (path.endsWith('.xml') || path.endsWith('.rss')) return 'application/xml; charset=utf-8'
  if (path.endsWith('.json')) return 'application/json'
  return 'text/html; charset=utf-8'
}

/**
 * A client that waited longer has probably gone before the answer came, and its pause began unseen.
 */
const PATIENCE_MS = 4_000

/**
 * A crawler gives up a request long before. One that is open for longer belongs to a process that
 * stands still: nobody else can close its connection, and the host's next visitor has come in its
 * place.
 */
const FROZEN_MS = 9_000

/**
 * How a host was not to be asked: two requests at a time, or too soon after another (promise 5).
 *
 * @param pause ms that lie at least between the end of an answer and the next request
 * @returns every breach, in a sentence
 */
export function breachesOf({ host, seen }: Site, pause: number): string[] {
  return seen.flatMap(({ path, from }, at) => {
    const when = `${host} was asked for ${path} at ${timeOf(from)}`
    const open = seen[at - 1]
    if (open && open.until > from && from - open.from < FROZEN_MS)
      return `${when} while ${open.path} was not answered yet.`
    const ended = seen.slice(0, at).filter(({ until }) => until <= from)
    const last = ended.toSorted((a, b) => a.until - b.until).at(-1)
    if (!last?.answered || from - last.until >= pause || last.until - last.from >= PATIENCE_MS)
      return []
    const [gap, took] = [from - last.until, last.until - last.from].map(ms => ms.toFixed(1))
    return `${when}, ${gap} ms after ${last.path} was answered in ${took} ms.`
  })
}

/** A time of the monotonic clock, as logs write it. */
export const timeOf = (ms: number): string => new Date(performance.timeOrigin + ms).toISOString()
