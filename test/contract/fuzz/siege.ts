import { readFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import { ask, startTestApi } from '#test/contract/api'
import { createRandom, type Random } from '#test/faults/random'
import { createFleet } from '#test/fleet'
import { type Attack, attack } from './malformed.ts'

/**
 * ms in which a connection is over, and every right request answered, on a busy machine. A hang
 * takes for ever.
 */
const PATIENCE = 20_000
/** ms without an answer after which an attacker half-closes its connection. */
const SILENCE = 50
const BETWEEN_PROBES = 50

/**
 * Attacks an API, a process of its own, in rounds: nothing but answers of the contract may come
 * back, others are answered meanwhile, and its memory stays as it is after the second round.
 */
export async function proveSiege(t: Test, rounds: number, perRound: number): Promise<void> {
  const api = await startTestApi(t)
  const { secret } = await api.issue({ rate: 1_000_000 })
  await api.index(
    Array.from({ length: 20 }, (_, i) => ({ title: `De brug nummer ${i}`, body: 'Het water.' })),
  )
  const { DATABASE_URL } = api.config
  const own = {
    DATABASE_URL,
    LOG_LEVEL: 'fatal',
    AUTH_LOCK_FAILURES: '1000000',
    QDRANT_URL: '',
    EMBEDDINGS_URL: '',
  }
  const fleet = createFleet(own, t)
  const { process: child } = await fleet.start('api')
  const sizes: number[] = []
  for (let round = 0; round < rounds; round++) {
    const seed = Math.floor(Math.random() * 2 ** 31)
    const { answers, complaints, health } = await besiege(
      fleet.base(),
      secret,
      createRandom(seed),
      perRound,
    )
    // Null where there is no /proc.
    const status = await readFile(`/proc/${child.pid}/status`, 'utf8').catch(() => '')
    sizes.push(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1_024)
    const half = health[Math.floor(health.length / 2)] ?? Number.NaN
    t.comment(
      `seed ${seed}: ${JSON.stringify(answers)}; /healthz ${half.toFixed(0)} ms; ${sizes.at(-1)} MB`,
    )
    t.strictSame(complaints.slice(0, 3), [], `seed ${seed}`)
    t.ok(half < 100, `half of the answers of /healthz within ${half} ms`)
    t.ok(
      (answers[200] ?? 0) > perRound / 20 && (answers[400] ?? 0) > perRound / 20,
      'right and wrong ones were sent',
    )
  }
  t.equal(child.exitCode ?? child.signalCode, null, 'it is the process that was started')
  const [, warm = 0, ...rest] = sizes
  t.ok((rest.at(-1) ?? 0) - warm < 60, `MB after each round: ${sizes.join(', ')}`)
}

/**
 * Attacks `width` at a time, while other clients send valid requests. Ends early when these get no
 * answers.
 */
async function besiege(base: string, secret: string, c: Random, count: number, width = 16) {
  const siege = {
    answers: {} as Record<string, number>,
    /** A wrong answer, with the bytes that caused it. */
    complaints: [] as string[],
    /** ms that each request for `/healthz` took, ascending. */
    health: [] as number[],
  }
  const port = Number(new URL(base).port)
  const expected = (await ask(`${base}/v1/articles?per_page=3`, secret)).text
  const over = new AbortController()
  let left = count

  const attacker = async () => {
    while (left-- > 0 && siege.complaints.length < 10) {
      const one = attack(c, secret)
      const { answer, ended } = await send(port, one)
      const complaint = ended ? judge(answer, siege.answers) : 'the connection stayed open'
      if (complaint === null) continue
      const bytes = Buffer.concat(one.packets).toString('latin1').slice(0, 2_000)
      siege.complaints.push(
        `${complaint} (${one.kind}, ${one.end})\n${JSON.stringify(bytes)}\n${answer.slice(0, 500)}`,
      )
    }
  }
  const probe = async () => {
    while (!over.signal.aborted) {
      const start = performance.now()
      const trouble = await healthy(base, secret, expected, siege.health)
      if (trouble !== null)
        siege.complaints.push(`${trouble} after ${Math.round(performance.now() - start)} ms`)
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
async function healthy(
  base: string,
  secret: string,
  expected: string,
  times: number[],
): Promise<string | null> {
  const signal = AbortSignal.timeout(PATIENCE)
  try {
    const start = performance.now()
    const health = await ask(`${base}/healthz`, null, { signal })
    times.push(performance.now() - start)
    if (health.status !== 200) return `/healthz: ${health.status}`
    const page = await ask(`${base}/v1/articles?per_page=3`, secret, { signal })
    return page.status === 200 && page.text === expected
      ? null
      : `a right request: ${page.status} ${page.text}`
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
      done()
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      clearTimeout(late)
      resolve({ answer: text(parts), ended: true })
    })
    void sendAll(socket, packets).then(() => {
      if (end === 'reset') socket.resetAndDestroy()
      else done()
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
 */
function judge(answer: string, answers: Record<string, number>): string | null {
  const statuses = [...answer.matchAll(/(?:^|\n|\}|>)HTTP\/1\.1 (\d{3}) /g)].map(
    ([, status]) => status ?? '',
  )
  for (const status of statuses.length > 0 ? statuses : ['none'])
    answers[status] = (answers[status] ?? 0) + 1
  if (answer !== '' && !answer.startsWith('HTTP/1.1 ')) return 'an answer that is not HTTP'
  if (statuses.some(status => status.startsWith('5'))) return 'an answer of 5xx'
  if (statuses.length > 0 && !/\r\nX-Request-Id: /i.test(answer)) return 'no X-Request-Id'
  if (/node_modules|\.ts:\d|at Object\.|HPE_|llhttp|psk_/.test(answer))
    return 'an answer that tells too much'
  return null
}
