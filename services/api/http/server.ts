import { createServer, type RequestListener, type Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { isHandedOver, type ParseError, readAgain } from './raw-address.ts'
import { requestId } from './request-id.ts'

// What one client may take of the server's patience and memory. A whole request line with the longest values of all
// parameters, percent-encoded, and every usual header takes under 10 KB.
const MAX_HEADER_BYTES = 16_384
const HEADERS_TIMEOUT = 10_000
const REQUEST_TIMEOUT = 15_000
/** A peer that neither sends nor takes anything. */
const SILENCE_TIMEOUT = 60_000
/** Longer than the usual 60 s of load balancers, so that it is they who close. */
const KEEP_ALIVE_TIMEOUT = 65_000

/**
 * The HTTP server: slow senders, slow readers, giant headers and giant addresses are cut off. Whatever is wrong with a
 * request, its answer is an error object; Node's own refusals have neither a body nor an id.
 */
export function createHttpServer(listener: RequestListener): Server {
  const server = createServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: HEADERS_TIMEOUT,
    requestTimeout: REQUEST_TIMEOUT,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT,
    connectionsCheckingInterval: 2_000,
    requireHostHeader: false, // seen to below
  })
  server.maxHeadersCount = 100
  server.setTimeout(SILENCE_TIMEOUT)

  const answering = new WeakSet<Socket>()
  const answer: RequestListener = (request, response) => {
    const { socket } = request
    answering.add(socket)
    response.once('close', () => answering.delete(socket))
    const hosts = request.headersDistinct.host?.length ?? 0
    request.url = originForm(request.url ?? '')
    if (hosts === 1 || (hosts === 0 && request.httpVersion === '1.0')) return listener(request, response)
    const { headers, body } = refusal('Send exactly one Host header.')
    response.writeHead(400, headers).end(body)
  }
  server.on('request', answer)
  // An expectation that we do not know is one that we need not meet (RFC 9110 §10.1.1).
  server.on('checkExpectation', answer)
  // CONNECT is a method like any other that is not served.
  server.on('connect', (request, socket) => {
    const response = new ServerResponse(request)
    response.shouldKeepAlive = false
    response.assignSocket(request.socket)
    response.once('finish', () => socket.end())
    answer(request, response)
  })
  server.on('clientError', (error: ParseError, socket: Socket) => {
    if (isHandedOver(socket) || readAgain(server, socket, error)) return
    // Two answers in one another's midst would be none.
    if (error.code === 'ECONNRESET' || answering.has(socket)) socket.destroy()
    else refuse(socket, error.code)
  })
  return server
}

/** A target in one of the other forms (RFC 9112 §3.2: with scheme and host, host alone, `*`) as path and query. */
function originForm(target: string): string {
  const path = target.replace(/^https?:\/\/[^/?#]*/i, '')
  return path.startsWith('/') ? path : `/${path}`
}

const REFUSALS: Record<string, { line: string; message: string }> = {
  HPE_HEADER_OVERFLOW: {
    line: '431 Request Header Fields Too Large',
    message: 'Address and headers together may have 16 KB.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: { line: '408 Request Timeout', message: 'The request took too long to arrive.' },
}
const NOT_HTTP = { line: '400 Bad Request', message: 'This is not HTTP.' }

/** What is not HTTP, too large or too slow never becomes a request; it is answered here and cut off. */
function refuse(socket: Socket, code = ''): void {
  if (!socket.writable) {
    socket.destroy()
    return
  }
  const { line, message } = REFUSALS[code] ?? NOT_HTTP
  const { headers, body } = refusal(message)
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  socket.end([`HTTP/1.1 ${line}`, ...lines, '', body].join('\r\n'))
  // Whoever goes on sending after that is not waited for.
  setTimeout(() => socket.destroy(), 1_000).unref()
}

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
