import { type RequestHandler, Router } from 'express'
import type { WarmUp } from '../warm-up.ts'

/** Names of the dependencies that this process does not reach; no addresses. */
export interface Readiness {
  /** Without these nothing works. */
  required(): Promise<Record<string, string>>
  /** Without these semantic search is out of order. */
  semantic(): Promise<Record<string, string>>
  warmUp: Pick<WarmUp, 'isWarm' | 'isOver'>
}

/**
 * ms that a look at the dependencies is good for: the page is open to all, and must cost next to
 * nothing.
 */
const FRESH = 1_000

/**
 * `/healthz`: this process answers. `/readyz`: 200, or 503 when the database is missing or while
 * the process warms up; names what is missing.
 */
export function healthPages({ required, semantic, warmUp }: Readiness): Router {
  const router = Router({ strict: true, caseSensitive: true })
  const look = remembered(async () => {
    const [needed, others] = await Promise.all([required(), semantic()])
    const ready = Object.keys(needed).length === 0
    const missing = [...Object.keys(needed), ...Object.keys(others)]
    return { ready, status: missing.length > 0 ? 'degraded' : 'ok', missing }
  })
  router.get('/healthz', noStore, (_request, response) => {
    response.json({ status: 'ok' })
  })
  router.get('/readyz', noStore, async (_request, response) => {
    const { ready, status, missing } = await look()
    const warm = warmUp.isWarm()
    if (!ready) response.status(503).json({ status: 'unavailable', missing })
    else if (warmUp.isOver()) response.json({ status, missing, warm })
    else response.status(503).json({ status: 'warming up', missing, warm })
  })
  return router
}

const noStore: RequestHandler = (_request, response, next) => {
  response.set('Cache-Control', 'no-store')
  next()
}

function remembered<T>(work: () => Promise<T>): () => Promise<T> {
  let last: Promise<T> | undefined
  let until = 0
  return () => {
    if (!last || performance.now() > until) {
      last = work()
      until = performance.now() + FRESH
    }
    return last
  }
}
