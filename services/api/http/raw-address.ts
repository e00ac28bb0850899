import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'

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
