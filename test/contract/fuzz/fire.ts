import { connect } from 'node:net'
import type { Chance, Shot } from './requests.ts'
import { shot } from './requests.ts'

/** Longest any answer may take, in ms, on a busy machine. */
const PATIENCE = 10_000

export interface Volley {
  statuses: Record<number, number>
  /** A wrong answer, with its request. */
  complaints: string[]
}

/** Sends random requests, `width` at a time, and judges every answer. */
export async function fire(
  port: number,
  secret: string,
  c: Chance,
  count: number,
  options: { width?: number; cursors?: readonly string[] } = {},
): Promise<Volley> {
  const volley: Volley = { statuses: {}, complaints: [] }
  const cursors = [...(options.cursors ?? [])]
  let left = count
  const shooter = async () => {
    while (left-- > 0) {
      const request = shot(c, secret, cursors)
      const { answer, ms } = await send(port, request.bytes)
      const complaint = judge(request, answer, ms, volley.statuses)
      if (complaint !== null)
        volley.complaints.push(`${complaint}\n${request.bytes.toString('latin1')}\n${answer.slice(0, 500)}`)
      const cursor = /"next_cursor":"([^"]+)"/.exec(answer)?.[1]
      if (cursor !== undefined) cursors[cursors.length < 50 ? cursors.length : c.below(50)] = cursor
    }
  }
  await Promise.all(Array.from({ length: options.width ?? 8 }, shooter))
  return volley
}

function send(port: number, bytes: Buffer): Promise<{ answer: string; ms: number }> {
  return new Promise(resolve => {
    const start = performance.now()
    const parts: Buffer[] = []
    const socket = connect(port, '127.0.0.1')
    socket.setTimeout(PATIENCE, () => socket.destroy())
    socket.on('data', part => parts.push(part))
    socket.on('error', () => {})
    socket.on('close', () => {
      resolve({ answer: Buffer.concat(parts).toString('utf8'), ms: performance.now() - start })
    })
    socket.write(bytes)
  })
}

function judge({ bytes, semantic }: Shot, answer: string, ms: number, statuses: Record<number, number>): string | null {
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1])
  statuses[status] = (statuses[status] ?? 0) + 1
  if (Number.isNaN(status)) return 'no answer'
  if (ms >= PATIENCE) return 'too slow'
  if (status >= 500 && !(status === 503 && semantic)) return `an answer of ${status}`
  const end = answer.indexOf('\r\n\r\n')
  const head = answer.slice(0, end)
  const body = answer.slice(end + 4)
  if (!/\r\nX-Request-Id: /i.test(head)) return 'no X-Request-Id'
  // The answer to bytes that are no request does not depend on a method.
  if (status !== 400 && bytes.toString('latin1').startsWith('HEAD ')) return body === '' ? null : 'a body for HEAD'
  if (status >= 400 && !/^\{"status":"error","code":"[a-z_]+","message":"/.test(body)) {
    if (!/content-encoding/i.test(head)) return 'an error that is no error object'
  }
  if (/node_modules|\.ts:\d|at Object\.|syntax error at|psk_/.test(body)) return 'an answer that tells too much'
  return null
}
