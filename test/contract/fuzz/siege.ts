import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../../faults/random.ts'
import { ask } from '../api.ts'
import { type Attack, attack } from './malformed.ts'

/**
 * ms in which a connection is over, and every right request answered, on a busy machine. A hang
 * takes for ever.
 */
const PATIENCE = 20_000
/** ms without an answer after which an attacker half-closes its connection. */
const SILENCE = 50
const BETWEEN_PROBES = 50

export interface Siege {
  connections: number
  answers: Record<string, number>
  /** A wrong answer, with the bytes that caused it. */
  complaints: string[]
  /** ms that each request for `/healthz` took, ascending. */
  health: number[]
  /** Valid requests sent meanwhile. Each was answered correctly or is among the complaints. */
  right: number
}

/**
 * Attacks `width` at a time, while other clients send valid requests. Ends early when these get no
 * answers.
 */
export async function besiege(base: string, secret: string, c: Random, count: number, width = 16): Promise<Siege> {
  const siege: Siege = { connections: 0, answers: {}, complaints: [], health: [], right: 0 }
  const port = Number(new URL(base).port)
  const expected = (await ask(`${base}/v1/articles?per_page=3`, secret)).text
  const over = new AbortController()
  let left = count
  const cursors: string[] = []

  const attacker = async () => {
    while (left-- > 0 && siege.complaints.length < 10) {
      const one = attack(c, secret, cursors)
      const { answer, ended } = await send(port, one)
      siege.connections++
      const cursor = /"next_cursor":"([^"]+)"/.exec(answer)?.[1]
      if (cursor !== undefined) cursors[cursors.length < 50 ? cursors.length : c.below(50)] = cursor
      const wrong = judge(answer, siege.answers, one.question?.semantic)
      const complaint = ended ? (wrong ?? judgeQuestion(one, answer)) : 'the connection stayed open'
      if (complaint === null) continue
      const bytes = Buffer.concat(one.packets).toString('latin1').slice(0, 2_000)
      siege.complaints.push(`${complaint} (${one.kind}, ${one.end})\n${JSON.stringify(bytes)}\n${answer.slice(0, 500)}`)
    }
  }
  const probe = async () => {
    while (!over.signal.aborted) {
      const start = performance.now()
      const trouble = await healthy(base, secret, expected, siege)
      if (trouble !== null) siege.complaints.push(`${trouble} after ${Math.round(performance.now() - start)} ms`)
      await sleep(BETWEEN_PROBES)
    }
  }
  const probing = probe()
  await Promise.all(Array.from({ length: width }, attacker))
  over.abort()
  await probing
  siege.health.sort((a, b) => a - b)
  return siege
}

/** Sends a request that must succeed during the siege. Returns a complaint, or null. */
async function healthy(base: string, secret: string, expected: string, siege: Siege): Promise<string | null> {
  const signal = AbortSignal.timeout(PATIENCE)
  try {
    const start = performance.now()
    const health = await ask(`${base}/healthz`, null, { signal })
    siege.health.push(performance.now() - start)
    if (health.status !== 200) return `/healthz: ${health.status}`
    const page = await ask(`${base}/v1/articles?per_page=3`, secret, { signal })
    siege.right++
    return page.status === 200 && page.text === expected ? null : `a right request: ${page.status} ${page.text}`
  } catch (error) {
    return `a right request failed: ${error}`
  }
}

function send(port: number, { packets, end }: Attack): Promise<{ answer: string; ended: boolean }> {
  return new Promise(resolve => {
    const parts: Buffer[] = []
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    const late = setTimeout(() => {
      resolve({ answer: text(parts), ended: false })
      socket.destroy()
    }, PATIENCE)
    const done = quiet(() => (end === 'reset' ? socket.resetAndDestroy() : socket.end()))
    socket.on('data', part => {
      parts.push(part)
      if (end !== 'wait') done()
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      clearTimeout(late)
      resolve({ answer: text(parts), ended: true })
    })
    void sendAll(socket, packets).then(() => {
      if (end === 'reset') socket.resetAndDestroy()
      else if (end === 'close') done()
    })
  })
}

const text = (parts: Buffer[]) => Buffer.concat(parts).toString('latin1')

/** Runs `work` after a moment without a call. */
function quiet(work: () => void): () => void {
  let timer: NodeJS.Timeout | undefined
  return () => {
    clearTimeout(timer)
    timer = setTimeout(work, SILENCE)
  }
}

async function sendAll(socket: Socket, packets: Buffer[]): Promise<void> {
  for (const packet of packets) {
    if (socket.destroyed) return
    socket.write(packet)
    if (packets.length > 1) await sleep(1)
  }
}

/**
 * The bytes that came back must be a sequence of the API's answers without a 5xx, or nothing.
 *
 * @param semantic semantic search may be asked for: 503 is then an answer
 */
function judge(answer: string, answers: Record<string, number>, semantic = false): string | null {
  const statuses = [...answer.matchAll(/(?:^|\n|\}|>)HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => status ?? '')
  for (const status of statuses.length > 0 ? statuses : ['none']) answers[status] = (answers[status] ?? 0) + 1
  if (answer !== '' && !answer.startsWith('HTTP/1.1 ')) return 'an answer that is not HTTP'
  if (statuses.some(status => status.startsWith('5') && !(status === '503' && semantic))) return 'an answer of 5xx'
  if (statuses.length > 0 && !/\r\nX-Request-Id: /i.test(answer)) return 'no X-Request-Id'
  if (/node_modules|\.ts:\d|at Object\.|HPE_|llhttp|psk_/.test(answer)) return 'an answer that tells too much'
  return null
}

/** A whole request has one answer: its errors are error objects, and HEAD has no body. */
function judgeQuestion({ question }: Attack, answer: string): string | null {
  if (question === undefined) return null
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1])
  if (Number.isNaN(status)) return 'no answer'
  const end = answer.indexOf('\r\n\r\n')
  const [head, body] = [answer.slice(0, end), answer.slice(end + 4)]
  // The answer to bytes that are no request does not depend on a method.
  if (status !== 400 && question.bytes.toString('latin1').startsWith('HEAD '))
    return body === '' ? null : 'a body for HEAD'
  const isObject = /^\{"status":"error","code":"[a-z_]+","message":"/.test(body)
  return status >= 400 && !isObject && !/content-encoding/i.test(head) ? 'an error that is no error object' : null
}
