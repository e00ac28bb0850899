import { type Request, type Response, Router } from 'express'
import { printableLine } from '../../../shared/log/printable.ts'
import type { Pool } from '../../../shared/postgres/pool.ts'
import { createPermits, NoPermit } from '../access/permits.ts'
import { rawQueryOf } from '../contract/query-string.ts'
import { readSignature } from './signature.ts'
import { confirm, deny, ring, secretOf } from './subscriptions.ts'

/** A token of ours. Not a path with a parameter: Express would decode it. */
const PATH = /^\/websub\/[\w-]{43}$/
const tokenIn = (path: string) => path.slice('/websub/'.length)

/** Bytes of a body that are read to check its signature. It is never kept or parsed. */
const LONGEST_BODY = 10_485_760
const LONGEST_CHALLENGE = 4_096

/**
 * Calls are looked up one after another. Anybody can send thousands at once, and each that waits in
 * the database holds a connection.
 */
const TURNS = { atOnce: 1, waiting: 1_000, patience: 5_000 }
type InTurn = <T>(ask: () => Promise<T>) => Promise<T>

/**
 * The addresses that hubs call (W3C WebSub). A signed body is a doorbell: the feed is polled soon,
 * with the manners of every poll, and nothing of the body is believed. No API key is asked for: the
 * address is a secret between us and the hub.
 */
export function hubCalls(pool: Pool): Router {
  const router = Router({ strict: true, caseSensitive: true })
  const permits = createPermits(TURNS)
  const inTurn: InTurn = ask => permits.take('hubs', ask)
  const answering = (answer: Answering) => async (request: Request, response: Response) => {
    response.set('Cache-Control', 'no-store')
    try {
      await answer({ pool, inTurn }, request, response)
    } catch (error) {
      if (!(error instanceof NoPermit)) throw error
      response.status(503).set({ 'Retry-After': '60', Connection: 'close' }).end()
    }
  }
  router.get(PATH, answering(verify))
  router.post(PATH, answering(receive))
  return router
}

interface Parts {
  pool: Pool
  inTurn: InTurn
}
type Answering = (parts: Parts, request: Request, response: Response) => Promise<void>

/** Verification of intent (§5.3): only what we have asked for is confirmed. */
async function verify({ pool, inTurn }: Parts, request: Request, response: Response): Promise<void> {
  const asked = new URLSearchParams(rawQueryOf(request.originalUrl))
  const token = tokenIn(request.path)
  const topic = asked.get('hub.topic') ?? ''
  const challenge = asked.get('hub.challenge') ?? ''
  if (asked.get('hub.mode') === 'denied') {
    const reason = printableLine(`the hub refuses: ${asked.get('hub.reason') ?? 'no reason given'}`).slice(0, 500)
    response.status((await inTurn(() => deny(pool, token, topic, reason))) ? 200 : 404).end()
    return
  }
  const seconds = Number(asked.get('hub.lease_seconds') ?? '')
  const isWhole =
    asked.get('hub.mode') === 'subscribe' &&
    challenge !== '' &&
    challenge.length <= LONGEST_CHALLENGE &&
    Number.isFinite(seconds)
  if (!isWhole || !(await inTurn(() => confirm(pool, token, topic, seconds)))) response.status(404).end()
  else response.type('text/plain').send(challenge)
}

/**
 * Receives a change (§7). A body without the right signature is ignored, and answered as if it were
 * right (§8), so that nobody can try signatures.
 */
async function receive({ pool, inTurn }: Parts, request: Request, response: Response): Promise<void> {
  const token = tokenIn(request.path)
  const secret = await inTurn(() => secretOf(pool, token))
  if (secret === null) {
    response.status(410).end()
    return
  }
  const signature = readSignature(request.get('x-hub-signature'), secret)
  let length = 0
  for await (const piece of request) {
    length += piece.length
    if (length > LONGEST_BODY) {
      response.status(413).set('Connection', 'close').end()
      return
    }
    signature?.hmac.update(piece)
  }
  if (signature?.isRight()) await inTurn(() => ring(pool, token))
  response.status(202).end()
}
