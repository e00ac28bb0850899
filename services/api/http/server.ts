import { createServer, type RequestListener, type Server } from 'node:http'
import type { Socket } from 'node:net'
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

/** The HTTP server: slow senders, slow readers, giant headers and giant addresses are cut off. */
export function createHttpServer(listener: RequestListener): Server {
  const server = createServer(
    {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: HEADERS_TIMEOUT,
      requestTimeout: REQUEST_TIMEOUT,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT,
      connectionsCheckingInterval: 2_000,
    },
    listener,
  )
  server.maxHeadersCount = 100
  server.setTimeout(SILENCE_TIMEOUT)
  server.on('clientError', refuse)
  return server
}

const REFUSALS: Record<string, { line: string; message: string }> = {
  HPE_HEADER_OVERFLOW: {
    line: '431 Request Header Fields Too Large',
    message: 'Address and headers together may have 16 KB.',
  },
  HPE_INVALID_URL: {
    line: '400 Bad Request',
    message: 'The address holds characters that must be percent-encoded: everything but ASCII, and spaces.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: { line: '408 Request Timeout', message: 'The request took too long to arrive.' },
}

/** What is not HTTP, too large or too slow never becomes a request; it is answered here and cut off. */
function refuse(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const refusal = REFUSALS[error.code ?? ''] ?? { line: '400 Bad Request', message: 'This is not HTTP.' }
  const body = JSON.stringify({ status: 'error', code: 'invalid_request', message: refusal.message })
  socket.end(
    [
      `HTTP/1.1 ${refusal.line}`,
      'Connection: close',
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Cache-Control: no-store',
      `X-Request-Id: ${requestId(undefined)}`,
      '',
      body,
    ].join('\r\n'),
  )
  // Whoever goes on sending after that is not waited for.
  socket.setTimeout(1_000, () => socket.destroy())
}
