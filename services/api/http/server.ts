import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { lockAddress } from '#services/api/access/lock'
import { http } from '#shared/process/http'
import { HTTP_LIMITS, type HttpLimits } from './limits.ts'
import { requestId } from './observe.ts'

/**
 * The HTTP server. It cuts off slow senders, slow readers, giant headers and giant addresses, and
 * answers every wrong request with an error object. Node by itself would refuse them without a body
 * and an id.
 */
export function createHttpServer(
  listener: RequestListener,
  others: Partial<HttpLimits> = {},
): Server {
  const limits = { ...HTTP_LIMITS, ...others }
  const server = http.createServer({
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headersTimeout,
    requestTimeout: limits.requestTimeout,
    keepAliveTimeout: limits.keepAliveTimeout,
    connectionsCheckingInterval: limits.checkInterval,
    requireHostHeader: false, // `problemOf` checks the header
  })
  // Node drops headers above this number silently. One more than the limit shows that a request has
  // too many.
  server.maxHeadersCount = limits.headers + 1
  server.setTimeout(limits.silenceTimeout)
  const connections = createConnections(limits.answerTimeout)
  limitConnections(server, connections, limits)

  const answer = answerWithin(limits, connections, listener)
  server.on('request', answer)
  // A path that reads a body sends "100 Continue" itself (`body.ts`). Otherwise Node ends the
  // connection after the answer.
  server.on('checkContinue', answer)
  // A server may ignore an expectation that it does not know (RFC 9110 §10.1.1).
  server.on('checkExpectation', answer)
  server.on('connect', answerConnect(limits, connections, answer))
  // The server also emits an error when it has no file descriptor for a connection. The process
  // must survive it.
  server.on('error', () => {})
  server.on('clientError', refuseBroken(server, connections))
  return server
}

/** Answers a request, unless its connection has too many open answers or is about to end. */
function answerWithin(
  limits: HttpLimits,
  connections: Connections,
  listener: RequestListener,
): RequestListener {
  return (request, response) => {
    const { socket } = request
    const state = connections.of(socket, request)
    if (state.ending) return
    if (state.open.size === limits.unanswered) {
      endAfterAnswers(socket, state, () => refuse(socket, 'TOO_MANY_UNANSWERED'))
      return
    }
    connections.begin(state, request, response)
    // Node's own limit would announce the end of the connection to the client, but leave it open.
    if (state.requests >= limits.requestsPerConnection) response.shouldKeepAlive = false
    forgetLong(request, limits)
    const problem = problemOf(request, limits)
    request.url = originForm(request.url ?? '')
    if (problem === null) return listener(request, response)
    const { headers, body } = refusal(problem.message)
    response.writeHead(problem.status, headers).end(body)
  }
}

/**
 * The API does not serve CONNECT, so it is refused like other methods. Node has already removed its
 * own listeners from the connection. Without ours, the connection would never end, and an error on
 * it would end the process.
 */
function answerConnect(limits: HttpLimits, connections: Connections, answer: RequestListener) {
  return (request: IncomingMessage, socket: Socket) => {
    socket.on('error', () => socket.destroy())
    socket.setTimeout?.(limits.silenceTimeout, () => socket.destroy())
    const state = connections.get(socket)
    if (state?.ending) return
    // Node would not send this answer after the answers to earlier requests. So the request gets no
    // answer.
    if (state && state.open.size > 0) return endAfterAnswers(socket, state, () => end(socket))
    const response = new http.ServerResponse(request)
    response.shouldKeepAlive = false
    response.assignSocket(request.socket)
    response.once('finish', () => end(socket))
    answer(request, response)
  }
}

/** Refuses bytes that Node's parser could not read as a request. */
function refuseBroken(server: Server, connections: Connections) {
  return (error: ParseError, socket: Socket) => {
    const state = connections.get(socket)
    if (handedOver.has(socket) || state?.ending) return
    if (error.code === 'ECONNRESET' || error.code === 'EPIPE') socket.destroy()
    // The body is broken. Its request already has an answer, or is about to get it.
    else if (state && !state.last.complete) endAfterAnswers(socket, state, () => end(socket))
    else if (state && state.open.size > 0)
      endAfterAnswers(socket, state, () => refuse(socket, error.code))
    else if (!readAgain(server, socket, error)) refuse(socket, error.code)
  }
}

/** Drops headers of negotiation that are too long. */
function forgetLong({ headers }: IncomingMessage, { negotiation }: HttpLimits): void {
  for (const name of ['accept', 'accept-encoding'] as const) {
    if ((headers[name]?.length ?? 0) > negotiation) delete headers[name]
  }
}

/** The reason why a request cannot be answered; null: it can. */
function problemOf(
  { headersDistinct, httpVersion, rawHeaders }: IncomingMessage,
  { headers }: HttpLimits,
) {
  if (rawHeaders.length > 2 * headers) {
    return { status: 431, message: `A request may have ${headers} headers.` }
  }
  const hosts = headersDistinct.host?.length ?? 0
  if (hosts === 1 || (hosts === 0 && httpVersion === '1.0')) return null
  return { status: 400, message: 'Send exactly one Host header.' }
}

/**
 * Converts the target of a request from one of the other forms (RFC 9112 §3.2: with scheme and
 * host, host alone, `*`) to path and query. A fragment belongs to no form, so it is removed. With a
 * fragment, as in `//a@#b`, Express finds no path, and answers in our place.
 */
function originForm(target: string): string {
  const path = target.replace(/#.*$/s, '').replace(/^https?:\/\/[^/?]*/i, '')
  return path.startsWith('/') ? path : `/${path}`
}

/** The state of one connection and its requests. */
interface ConnectionState {
  requests: number
  /** Answers that have not ended. */
  open: Set<ServerResponse>
  /** The request that came last. */
  last: IncomingMessage
  /** Ends the connection when an answer takes too long. The time starts again with every answer. */
  late: NodeJS.Timeout | undefined
  /**
   * Ends the connection once every request has its answer. While it is set, the server ignores
   * further requests. null: the connection goes on.
   */
  ending: (() => void) | null
}

interface Connections {
  /** undefined: the connection had no request yet. */
  get(socket: Socket): ConnectionState | undefined
  /** The state of a connection that has a request. */
  of(socket: Socket, request: IncomingMessage): ConnectionState
  /** Adds a request to the state until its answer has ended. */
  begin(state: ConnectionState, request: IncomingMessage, response: ServerResponse): void
}

/**
 * Requests and answers of all connections of a server.
 *
 * @param answerTimeout ms in which an answer has to end, from its request or the answer before it
 */
function createConnections(answerTimeout: number): Connections {
  const states = new WeakMap<Socket, ConnectionState>()
  return {
    get: socket => states.get(socket),

    of(socket, request) {
      const known = states.get(socket)
      if (known) return known
      const state: ConnectionState = {
        requests: 0,
        open: new Set(),
        last: request,
        late: undefined,
        ending: null,
      }
      states.set(socket, state)
      socket.once('close', () => {
        clearTimeout(state.late)
        state.open.forEach(leave)
      })
      return state
    },

    begin(state, request, response) {
      const { socket } = request
      state.last = request
      state.requests++
      state.open.add(response)
      if (state.open.size === 1) state.late = setTimeout(() => socket.destroy(), answerTimeout)
      response.once('close', () => {
        state.open.delete(response)
        if (state.open.size === 0) clearTimeout(state.late)
        else state.late?.refresh()
        if (state.open.size === 0 && socket.writable) state.ending?.()
      })
    },
  }
}

/**
 * Ends an answer that waits for another answer on a closed connection. Node tells only the other
 * answer that the connection has closed.
 */
function leave(response: ServerResponse): void {
  if (response.socket !== null) return
  response.destroy()
  response.emit('close')
}

/**
 * Ends a connection after the answers that have begun, because a client cannot read a refusal in
 * the middle of another answer.
 */
function endAfterAnswers(socket: Socket, state: ConnectionState, ending: () => void): void {
  state.ending = ending
  if (state.open.size === 0) ending()
  else socket.pause()
}

/** Open connections: of all clients, or of one address. */
interface Crowd {
  count: number
  /**
   * Connections without a request, oldest first. Some may have sent a request since they were
   * added.
   */
  silent: Set<Socket>
}

/**
 * The number of connections that Node accepts beyond our limit for all clients. Node would refuse
 * the newest connection, but we choose ourselves which connection ends.
 */
const SPARE = 64

/**
 * Limits the connections of all clients and of each address. At a limit, the server ends the oldest
 * connection that has sent no whole request. Otherwise, clients that open connections and send
 * nothing could shut out all others. When all older connections have sent a request, the new
 * connection ends. If this happens at the limit for all clients, the server also closes idle
 * connections. The limit for one address is lower, unless a proxy stands before this server.
 */
function limitConnections(server: Server, connections: Connections, limits: HttpLimits): void {
  server.maxConnections = limits.connections + SPARE
  const all: Crowd = { count: 0, silent: new Set() }
  const ofAddress = new Map<string, Crowd>()
  server.prependListener('connection', (socket: unknown) => {
    // `readAgain` emits a connection a second time, as another kind of stream.
    if (!(socket instanceof Socket)) return
    const address = lockAddress({ socket })
    const same = ofAddress.get(address) ?? { count: 0, silent: new Set() }
    ofAddress.set(address, same)
    for (const crowd of [all, same]) {
      crowd.count++
      crowd.silent.add(socket)
    }
    socket.once('close', () => {
      for (const crowd of [all, same]) {
        crowd.count--
        crowd.silent.delete(socket)
      }
      if (same.count === 0) ofAddress.delete(address)
    })
    if (same.count > limits.connectionsPerAddress) endOldest(same, connections)
    else if (all.count > limits.connections && endOldest(all, connections) === socket)
      server.closeIdleConnections()
  })
}

/** Ends the oldest connection without a whole request. That may be the new connection itself. */
function endOldest({ silent }: Crowd, connections: Connections): Socket | null {
  for (const socket of silent) {
    silent.delete(socket)
    if (socket.destroyed || handedOver.has(socket) || connections.get(socket) !== undefined)
      continue
    socket.destroy()
    return socket
  }
  return null
}

/** Answers to connections that end, by the codes of Node's parser and our own. */
const REFUSALS: Record<string, { line: string; message: string }> = {
  HPE_HEADER_OVERFLOW: {
    line: '431 Request Header Fields Too Large',
    message: 'Address and headers together may have 32 KB.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    line: '408 Request Timeout',
    message: 'The request took too long to arrive.',
  },
  TOO_MANY_UNANSWERED: {
    line: '400 Bad Request',
    message: 'Wait for answers before you send more requests on one connection.',
  },
}
const NOT_HTTP = { line: '400 Bad Request', message: 'This is not HTTP.' }

/** ms in which a client that still sends may read the refusal. */
const LINGER = 1_000

/**
 * Answers bytes that never become a request, because they are not HTTP, too large or too slow. Then
 * it ends the connection.
 */
function refuse(socket: Socket, code = ''): void {
  if (!socket.writable) {
    socket.destroy()
    return
  }
  const { line, message } = REFUSALS[code] ?? NOT_HTTP
  const { headers, body } = refusal(message)
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  end(socket, [`HTTP/1.1 ${line}`, ...lines, '', body].join('\r\n'))
}

/**
 * Ends a connection, after some last bytes if given. Bytes that the client still sends are dropped.
 */
function end(socket: Socket, words = ''): void {
  socket.end(words)
  // The server reads on for a moment. A connection that is closed with unread bytes would be reset,
  // and the client would not get the last bytes.
  socket.resume()
  setTimeout(() => socket.destroy(), LINGER).unref()
}

/** The error object, and its headers, for a request that never reaches the app. */
function refusal(message: string) {
  const body = JSON.stringify({ status: 'error', code: 'invalid_request', message })
  return {
    body,
    headers: {
      Connection: 'close',
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Length': String(Buffer.byteLength(body)),
      'Cache-Control': 'no-store',
      'X-Request-Id': requestId(undefined),
    },
  }
}

/** Error of the parser about a request line, with the bytes that it read. */
interface ParseError extends Error {
  code?: string
  /** The place in `rawPacket` where the parser stopped. */
  bytesParsed?: number
  rawPacket?: Buffer
}

/**
 * Connections whose bytes `readAgain` has given to a second parser. Errors of the first parser are
 * ignored.
 */
const handedOver = new WeakSet<Socket>()
/** Connections on which a request is read for the second time. No request is read a third time. */
const readAgainBefore = new WeakSet<Duplex>()

/**
 * Reads a request once more when its address holds bytes that should be percent-encoded, as `curl
 * "…?q=café"` sends it. Node's parser refuses such bytes, but the contract has no 400 for them
 * (decision 11). This function percent-encodes these bytes and changes nothing else, so the API
 * answers the request like all others. The connection ends after the answer. A request that the
 * parser refuses a second time is refused for good.
 *
 * @returns false when the parser refused the request for another reason
 */
function readAgain(server: Server, socket: Socket, error: ParseError): boolean {
  if (error.code !== 'HPE_INVALID_URL' || readAgainBefore.has(socket)) return false
  const request = encoded(error)
  if (request === null) return false
  handedOver.add(socket)
  // The parser has added these listeners. The listeners that clean up after the connection stay.
  socket.removeAllListeners('data').removeAllListeners('end')
  const connection = new Duplex({
    read: () => void socket.resume(),
    write: (chunk, _encoding, done) => void socket.write(chunk, done),
    final: done => void socket.end(done),
    destroy(cause, done) {
      socket.destroy()
      done(cause)
    },
  })
  // Node and Express use these members of a socket, too. `destroySoon` is called after the last
  // answer.
  const { remoteAddress } = socket
  readAgainBefore.add(connection)
  Object.assign(connection, {
    remoteAddress,
    destroySoon: () => connection.end(() => connection.destroy()),
  })
  connection.push(request)
  socket.on('data', chunk => {
    if (!connection.push(chunk)) socket.pause()
  })
  socket.on('end', () => connection.push(null))
  socket.on('close', () => connection.destroy())
  server.emit('connection', connection)
  return true
}

/**
 * The packet, with the address in its request line percent-encoded. Null when nothing needs
 * encoding, or the parser refused another line.
 */
function encoded({ rawPacket, bytesParsed = 0 }: ParseError): Buffer | null {
  const end = rawPacket?.indexOf('\r\n') ?? -1
  if (!rawPacket || end < bytesParsed) return null
  // Each byte becomes one character. With more than two spaces, the end of the address is unclear.
  const line = rawPacket.toString('latin1', 0, end)
  if (!/^[A-Z]+ [^ ]+ HTTP\/1\.[01]$/.test(line)) return null
  const address = line.replace(
    /[^\x20-\x7e]/g,
    byte => `%${Buffer.from(byte, 'latin1').toString('hex').toUpperCase()}`,
  )
  if (address === line) return null
  return Buffer.concat([Buffer.from(`${address}\r\nConnection: close`), rawPacket.subarray(end)])
}
