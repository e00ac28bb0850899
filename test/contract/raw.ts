import { connect } from 'node:net'

/**
 * A server's answer to raw bytes until it hangs up, and how long that took; `base` is its address.
 */
export async function sendRaw(
  base: string,
  bytes: string | Buffer,
  patience = 20_000,
): Promise<{ text: string; ms: number }> {
  const start = Date.now()
  const socket = connect(Number(new URL(base).port), '127.0.0.1')
  socket.setTimeout(patience, () => socket.destroy(new Error('it did not hang up')))
  let text = ''
  socket.setEncoding('utf8').on('data', part => {
    text += part
  })
  socket.on('error', () => {}) // it may be cut off while we are still sending
  socket.write(bytes)
  await new Promise(resolve => socket.once('close', resolve))
  return { text, ms: Date.now() - start }
}

/** The answers of a connection, each with its status and its body. */
export function answersIn(text: string): { status: number; body: string }[] {
  return text
    .split(/(?=HTTP\/1\.1 \d{3} )/)
    .filter(part => part !== '')
    .map(part => ({ status: Number(part.slice(9, 12)), body: part.slice(part.indexOf('\r\n\r\n') + 4) }))
}
