import { createServer, type IncomingMessage, type RequestListener, type Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { limitConnections } from './connections.ts'
import { isHandedOver, type ParseError, readAgain } from './raw-address.ts'
import { end, refusal, refuse } from './refusal.ts'

/**
 * What one client may take of the server's patience and memory; docs/operations.md lists them.
 * Times in ms.
 */
export const HTTP_LIMITS = {
  /**
   * Of request line and headers. A whole request line with the longest values of all parameters,
   * percent-encoded, and every usual header takes under 10 KB.
   */
  headerBytes: 16_384,
  /** A browser sends about twenty, a chain of proxies a dozen more. */
  headers: 100,
  /** To the end of the headers. */
  headersTimeout: 10_000,
  /**
   * To the end of the request. No body but that of a new feed is looked at; one that takes longer
   * ends its connection.
   */
  requestTimeout: 15_000,
  /** How long a peer may neither send nor take anything. */
  silenceTimeout: 60_000,
  /** Longer than the usual 60 s of load balancers, so that it is they who close. */
  keepAliveTimeout: 65_000,
  /** How often the first two are looked at. */
  checkInterval: 2_000,
  /**
   * To the end of an answer, from that of the one before it or the request. Who takes a byte a
   * minute is never silent, and keeps a page in memory.
   */
  answerTimeout: 300_000,
  /** Requests of a connection, which then ends: so clients spread over new processes too. */
  requestsPerConnection: 1_000,
  /**
   * Requests of a connection that wait for their answers. One packet holds thousands, and all would
   * be begun at once.
   */
  unanswered: 32,
  /** Each takes some 20 KB while it is idle. */
  connections: 4_096,
  /** Without a proxy, one address may take a quarter of them. */
  connectionsPerAddress: 1_024,
}
export type HttpLimits = typeof HTTP_LIMITS

/**
 * The HTTP server: slow senders, slow readers, giant headers and giant addresses are cut off.
 * Whatever is wrong with a request, its answer is an error object; Node's own refusals have neither
 * a body nor an id.
 */
export function createHttpServer(listener: RequestListener, others: Partial<HttpLimits> = {}): Server {
  const limits = { ...HTTP_LIMITS, ...others }
  const server = createServer({
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headersTimeout,
    requestTimeout: limits.requestTimeout,
    keepAliveTimeout: limits.keepAliveTimeout,
    connectionsCheckingInterval: limits.checkInterval,
    requireHostHeader: false, // seen to below
  })
  // Node drops what is above it in silence; one more than the limit shows that there were too many.
  server.maxHeadersCount = limits.headers + 1
  server.setTimeout(limits.silenceTimeout)
  limitConnections(server, { total: limits.connections, perAddress: limits.connectionsPerAddress })

  const turns = new WeakMap<Socket, Turns>()

  function openTurns(socket: Socket, first: IncomingMessage): Turns {
    const own: Turns = { requests: 0, unanswered: 0, last: first, late: undefined, ending: null }
    turns.set(socket, own)
    // Not with the answers: those in line behind another one are never told that the connection is
    // gone.
    socket.once('close', () => clearTimeout(own.late))
    return own
  }

  const answer: RequestListener = (request, response) => {
    const { socket } = request
    const own = turns.get(socket) ?? openTurns(socket, request)
    if (own.ending) return // nobody looks at what comes after
    if (own.unanswered === limits.unanswered) {
      endAfterAnswers(socket, own, () => refuse(socket, 'TOO_MANY_UNANSWERED'))
      return
    }
    own.last = request
    own.requests++
    own.unanswered++
    // Node's own limit says so to the client and leaves the connection open.
    if (own.requests >= limits.requestsPerConnection) response.shouldKeepAlive = false
    if (own.unanswered === 1) own.late = setTimeout(() => socket.destroy(), limits.answerTimeout)
    response.once('close', () => {
      own.unanswered--
      if (own.unanswered === 0) clearTimeout(own.late)
      else own.late?.refresh()
      if (own.unanswered === 0 && socket.writable) own.ending?.()
    })
    const wrong = whatIsWrong(request, limits)
    request.url = originForm(request.url ?? '')
    if (wrong === null) return listener(request, response)
    const { headers, body } = refusal(wrong.message)
    response.writeHead(wrong.status, headers).end(body)
  }
  server.on('request', answer)
  // Nobody is asked for a body that would not be looked at; Node then ends the connection.
  server.on('checkContinue', answer)
  // An expectation that we do not know is one that we need not meet (RFC 9110 §10.1.1).
  server.on('checkExpectation', answer)
  // CONNECT is a method like any other that is not served. Node has taken its own listeners off the
  // connection by now: nothing would end it, and an error on it would end the process.
  server.on('connect', (request: IncomingMessage, socket: Socket) => {
    socket.on('error', () => socket.destroy())
    socket.setTimeout?.(limits.silenceTimeout, () => socket.destroy())
    const own = turns.get(socket)
    if (own?.ending) return
    // Node does not put its answer behind those of the requests before it: it goes without.
    if (own && own.unanswered > 0) return endAfterAnswers(socket, own, () => end(socket))
    const response = new ServerResponse(request)
    response.shouldKeepAlive = false
    response.assignSocket(request.socket)
    response.once('finish', () => end(socket))
    answer(request, response)
  })
  server.on('clientError', (error: ParseError, socket: Socket) => {
    const own = turns.get(socket)
    if (isHandedOver(socket) || own?.ending) return
    if (error.code === 'ECONNRESET' || error.code === 'EPIPE') socket.destroy()
    // A broken body, of a request that has its answer or is about to.
    else if (own && !own.last.complete) endAfterAnswers(socket, own, () => end(socket))
    else if (own && own.unanswered > 0) endAfterAnswers(socket, own, () => refuse(socket, error.code))
    else if (!readAgain(server, socket, error)) refuse(socket, error.code)
  })
  return server
}

/** Where a connection stands. */
interface Turns {
  requests: number
  unanswered: number
  last: IncomingMessage
  /** Runs while something is unanswered, from the answer before. */
  late: NodeJS.Timeout | undefined
  /** What ends it once nothing is unanswered; nothing that still arrives becomes a request. */
  ending: (() => void) | null
}

/** Two answers in one another's midst would be none: what has begun is answered first. */
function endAfterAnswers(socket: Socket, turns: Turns, ending: () => void): void {
  turns.ending = ending
  if (turns.unanswered === 0) ending()
  else socket.pause()
}

function whatIsWrong({ headersDistinct, httpVersion, rawHeaders }: IncomingMessage, { headers }: HttpLimits) {
  if (rawHeaders.length > 2 * headers) {
    return { status: 431, message: `A request may have ${headers} headers.` }
  }
  const hosts = headersDistinct.host?.length ?? 0
  if (hosts === 1 || (hosts === 0 && httpVersion === '1.0')) return null
  return { status: 400, message: 'Send exactly one Host header.' }
}

/**
 * A target in one of the other forms (RFC 9112 §3.2: with scheme and host, host alone, `*`) as path
 * and query.
 */
function originForm(target: string): string {
  const path = target.replace(/^https?:\/\/[^/?#]*/i, '')
  return path.startsWith('/') ? path : `/${path}`
}
