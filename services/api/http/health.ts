import { type RequestHandler, Router } from 'express'

/** Names of the dependencies that this process does not reach; no addresses. */
export interface Readiness {
  /** Without these nothing works. */
  required(): Promise<Record<string, string>>
  /** Without these semantic search is out of order. */
  semantic(): Promise<Record<string, string>>
}

/**
 * ms that a look at the dependencies is good for: the page is open to all, and must cost next to
 * nothing.
 */
const FRESH = 1_000

/**
 * `/healthz`: this process answers. `/readyz`: 200, or 503 when the database is missing; names what
 * is.
 */
export function healthPages(readiness: Readiness): Router {
  const router = Router({ strict: true, caseSensitive: true })
  const look = remembered(async () => {
    const [required, semantic] = await Promise.all([readiness.required(), readiness.semantic()])
    const ready = Object.keys(required).length === 0
    const missing = [...Object.keys(required), ...Object.keys(semantic)]
    return { ready, body: { status: !ready ? 'unavailable' : missing.length > 0 ? 'degraded' : 'ok', missing } }
  })
  router.get('/healthz', noStore, (_request, response) => {
    response.json({ status: 'ok' })
  })
  router.get('/readyz', noStore, async (_request, response) => {
    const { ready, body } = await look()
    response.status(ready ? 200 : 503).json(body)
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
