import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { requestId } from './observe.ts'

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

/** Error of the parser about a request line, with the bytes that it read. */
export interface ParseError extends Error {
  code?: string
  /** Where in `rawPacket` it stopped. */
  bytesParsed?: number
  rawPacket?: Buffer
}

const handedOver = new WeakSet<Socket>()
/** Connections that show a request for the second time: there is no third. */
const readAgainBefore = new WeakSet<Duplex>()

/**
 * Whether a connection has been handed over. Errors of its first parser then mean nothing.
 */
export const isHandedOver = (socket: Socket): boolean => handedOver.has(socket)

/**
 * Has a request read once more whose address holds bytes that should have been percent-encoded, as
 * `curl "…?q=café"` sends it: Node's parser refuses them, and there is no 400 (decision 11). Each
 * such byte is percent-encoded, nothing else is touched, so that the request goes the way of all
 * others. It is the connection's last one, and it is read again once at most: what the parser
 * refuses then is refused for good.
 *
 * @returns false when this is not what was wrong
 */
export function readAgain(server: Server, socket: Socket, error: ParseError): boolean {
  if (error.code !== 'HPE_INVALID_URL' || readAgainBefore.has(socket)) return false
  const request = encoded(error)
  if (request === null) return false
  handedOver.add(socket)
  // The parser's listeners; those that tidy up after the connection stay.
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
  // Node and Express use these of a socket, too; `destroySoon` follows the last answer.
  const { remoteAddress } = socket
  readAgainBefore.add(connection)
  Object.assign(connection, { remoteAddress, destroySoon: () => connection.end(() => connection.destroy()) })
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
 * The packet with its request line made good; null when there is nothing to make good, or another
 * line was refused.
 */
function encoded({ rawPacket, bytesParsed = 0 }: ParseError): Buffer | null {
  const end = rawPacket?.indexOf('\r\n') ?? -1
  if (!rawPacket || end < bytesParsed) return null
  // One character a byte. With more than two spaces, the end of the address is unknown.
  const line = rawPacket.toString('latin1', 0, end)
  if (!/^[A-Z]+ [^ ]+ HTTP\/1\.[01]$/.test(line)) return null
  const address = line.replace(/[^\x20-\x7e]/g, byte => `%${Buffer.from(byte, 'latin1').toString('hex').toUpperCase()}`)
  if (address === line) return null
  return Buffer.concat([Buffer.from(`${address}\r\nConnection: close`), rawPacket.subarray(end)])
}
