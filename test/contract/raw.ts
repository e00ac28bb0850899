import { connect } from 'node:net'
import { HTTP_LIMITS } from '#services/api/http/limits'
import { heard } from '#test/fleet'

/** A server's answer to raw bytes until it hangs up, long before a silent peer is cut off. */
export async function sendRaw(base: string, bytes: string | Buffer): Promise<{ text: string }> {
  const socket = connect(Number(new URL(base).port), '127.0.0.1')
  socket.setTimeout(HTTP_LIMITS.silenceTimeout / 2)
  const text = heard(socket)
  socket.on('error', () => {}) // it may be cut off while we are still sending
  socket.write(bytes)
  await new Promise((resolve, reject) => {
    socket.once('close', resolve).once('timeout', () => reject(new Error('it did not hang up')))
  })
  return { text: text() }
}

/** The answers of a connection, each with its status and its body. */
export function answersIn(text: string): { status: number; body: string }[] {
  return text
    .split(/(?=HTTP\/1\.1 \d{3} )/)
    .filter(part => part !== '')
    .map(part => ({
      status: Number(part.slice(9, 12)),
      body: part.slice(part.indexOf('\r\n\r\n') + 4),
    }))
}
