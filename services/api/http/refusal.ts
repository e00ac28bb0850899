import type { Socket } from 'node:net'
import { requestId } from './request-id.ts'

/** Why a connection ends: the codes of Node's parser and our own. */
const REFUSALS: Record<string, { line: string; message: string }> = {
  HPE_HEADER_OVERFLOW: {
    line: '431 Request Header Fields Too Large',
    message: 'Address and headers together may have 16 KB.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: { line: '408 Request Timeout', message: 'The request took too long to arrive.' },
  TOO_MANY_UNANSWERED: {
    line: '400 Bad Request',
    message: 'Wait for answers before you send more requests on one connection.',
  },
}
const NOT_HTTP = { line: '400 Bad Request', message: 'This is not HTTP.' }

/** ms in which a peer that goes on sending may still read the refusal. */
const LINGER = 1_000

/**
 * Answers bytes that never become a request, because they are not HTTP, too large or too slow, and
 * ends the connection.
 */
export function refuse(socket: Socket, code = ''): void {
  if (!socket.writable) {
    socket.destroy()
    return
  }
  const { line, message } = REFUSALS[code] ?? NOT_HTTP
  const { headers, body } = refusal(message)
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  end(socket, [`HTTP/1.1 ${line}`, ...lines, '', body].join('\r\n'))
}

/** Ends a connection, with some last words or none; what the peer still sends is dropped. */
export function end(socket: Socket, words = ''): void {
  socket.end(words)
  // Read on for a moment: to close over unread bytes would reset the connection, and lose the
  // words.
  socket.resume()
  setTimeout(() => socket.destroy(), LINGER).unref()
}

/** The error object of a request that never reaches the app, with its headers. */
export function refusal(message: string) {
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
