import { setTimeout as pause } from 'node:timers/promises'
import { Pool } from 'undici'
import { createRandom, type Random } from '../search/generator.ts'
import { type Asked, type Asking, KINDS, type Kind, type Minute, SHARES } from './messages.ts'

// A process that asks an API. It has a loop of its own, so that its own waits are not the API's.

/** Readers that poll, each with a place of its own in the order of ingestion. */
const READERS = 200
/** Of the questions, so many are asked by many; the others by one. */
const POPULAR = 50
const SLOWEST = 5
const MINUTE = 60_000
/** ms after which a request is given up. */
const PATIENCE = 30_000

process.on('message', (asking: Asking) => {
  ask(asking).then(
    asked => process.send?.(asked),
    error => {
      process.stderr.write(`The asking process failed: ${error instanceof Error ? error.message : error}\n`)
      process.exit(1)
    },
  )
})
process.on('disconnect', () => process.exit(0))
process.send?.('ready')

async function ask(asking: Asking): Promise<Asked> {
  const pool = new Pool(asking.base, {
    connections: asking.connections,
    headersTimeout: PATIENCE,
    bodyTimeout: PATIENCE,
  })
  const requests = createRequests(asking)
  const minutes = createMinutes()
  const begun = performance.now()
  const one = async (due: number) => {
    const { kind, path, headers, read } = requests.next()
    let failed = false
    try {
      const { statusCode, headers: answered, body } = await pool.request({ method: 'GET', path, headers })
      const text = await body.text()
      failed = statusCode !== 200 && statusCode !== 304
      if (!failed) read(statusCode, answered.etag, text)
    } catch {
      failed = true
    }
    minutes.add(kind, due - begun, performance.now() - due, failed)
  }
  const end = begun + asking.seconds * 1_000
  if (asking.perSecond === null) await askInTurn(one, asking.connections, end)
  else await askOnTime(one, asking.perSecond, begun, end)
  minutes.finish()
  await pool.close()
  return { seconds: (performance.now() - begun) / 1_000 }
}

/** Each connection asks when its answer is there: the most that the API can do. */
async function askInTurn(one: (due: number) => Promise<void>, connections: number, end: number): Promise<void> {
  const client = async () => {
    while (performance.now() < end) await one(performance.now())
  }
  await Promise.all(Array.from({ length: connections }, client))
}

/**
 * Asks at fixed moments. An API that stands still does not keep requests from falling due, so their
 * waits are measured too.
 */
async function askOnTime(
  one: (due: number) => Promise<void>,
  perSecond: number,
  begun: number,
  end: number,
): Promise<void> {
  const underWay = new Set<Promise<void>>()
  for (let number = 0; ; number++) {
    const due = begun + (number / perSecond) * 1_000
    if (due >= end) break
    const early = due - performance.now()
    if (early > 0) await pause(early)
    const asked: Promise<void> = one(due).finally(() => underWay.delete(asked))
    underWay.add(asked)
  }
  await Promise.all(underWay)
}

interface NextRequest {
  kind: Kind
  path: string
  headers: Record<string, string>
  read(status: number, etag: unknown, text: string): void
}

function createRequests({ key, searches, feeds, words, newest, seed }: Asking) {
  const random = createRandom(seed)
  const headers = { authorization: `Bearer ${key}` }
  const readers = Array.from({ length: READERS }, () => ({ after: newest, etag: '' }))
  // What many ask stays the same, whatever the seed.
  const always = createRandom(5)
  const popular = Array.from({ length: POPULAR }, () => question(always, words))
  const plain = (kind: Kind, path: string): NextRequest => ({ kind, path, headers, read() {} })
  const make: Record<Kind, () => NextRequest> = {
    search: () => plain('search', random.one(searches)),
    feed: () => plain('feed', random.one(feeds)),
    semantic() {
      const q = random.chance(0.5) ? random.one(popular) : question(random, words)
      return plain('semantic', `/v1/articles?${new URLSearchParams({ search: 'semantic', q })}`)
    },
    poll() {
      const reader = random.one(readers)
      const asked = { sort: 'ingested_at', order: 'asc', ingested_after: reader.after, per_page: '100' }
      return {
        kind: 'poll',
        path: `/v1/articles?${new URLSearchParams(asked)}`,
        headers: reader.etag === '' ? headers : { ...headers, 'if-none-match': reader.etag },
        read(status, etag, text) {
          if (status === 304) return
          const last: unknown = JSON.parse(text).articles.at(-1)?.ingested_at
          reader.etag = typeof last !== 'string' && typeof etag === 'string' ? etag : ''
          if (typeof last === 'string') reader.after = last
        },
      }
    },
  }
  return { next: () => make[kindAt(random.next())]() }
}

/** The kind of a request, by a number from 0 to below 1. */
function kindAt(number: number): Kind {
  let left = number
  for (const kind of KINDS) {
    left -= SHARES[kind]
    if (left < 0) return kind
  }
  return 'search'
}

const question = (random: Random, words: string[]) => Array.from({ length: 6 }, () => random.one(words)).join(' ')

/** Collects times and sends each minute when the next one has begun. */
function createMinutes() {
  const empty = (minute: number): Minute => ({
    minute,
    requests: 0,
    failures: 0,
    times: { search: [], poll: [], feed: [], semantic: [] },
    slowest: [],
  })
  const started = Date.now()
  const open = new Map<number, Minute>()
  const send = (minute: Minute) => {
    open.delete(minute.minute)
    process.send?.(minute)
  }
  return {
    add(kind: Kind, due: number, ms: number, failed: boolean) {
      const number = Math.floor(due / MINUTE)
      const minute = open.get(number) ?? empty(number)
      open.set(number, minute)
      minute.requests++
      if (failed) minute.failures++
      else minute.times[kind].push(ms)
      minute.slowest.push({ kind, ms, at: new Date(started + due).toISOString() })
      minute.slowest.sort((a, b) => b.ms - a.ms).splice(SLOWEST)
      // Requests of a minute end after it: it is sent a minute late.
      for (const one of open.values()) if (one.minute < number - 1) send(one)
    },
    finish() {
      for (const one of [...open.values()].sort((a, b) => a.minute - b.minute)) send(one)
    },
  }
}
