import type { Request, RequestHandler, Response } from 'express'
import { rateLimit, type Store } from 'express-rate-limit'
import type { Queryable } from '../../../shared/postgres/pool.ts'
import { ApiError } from '../contract/api-error.ts'
import { accessOf } from './locals.ts'
import type { Permits } from './permits.ts'

/** A minute of a plan. */
const MINUTE = 60_000

// The row's lock makes the count exact across processes, and each request learns its own place in
// it: headers count down without gaps or repeats. A refusal counts nothing. All on the database's
// clock; when that was set back by more than a minute, the window is over too. The table is
// unlogged, so that no commit waits for the disk.
const COUNT = `
insert into rate_windows as w (key_id, started_at, used, allowed)
select id, clock_timestamp(), 1, true from api_keys where id = $1
on conflict (key_id) do update set (started_at, used, allowed) = (
  select case when over then moment else w.started_at end,
         case when over then 1 when room then w.used + 1 else w.used end,
         over or room
  from (select clock_timestamp() as moment) m,
  lateral (select abs(extract(epoch from moment - w.started_at)) >= 60 as over) o,
  lateral (select w.used < rate as room from api_keys where id = w.key_id) r
)
returning used, allowed, 60000 - extract(epoch from clock_timestamp() - started_at)::float8 * 1000 as left`

/**
 * Where express-rate-limit keeps its counts: Postgres, shared by all API processes. A key's minute
 * begins with its first request.
 */
export function createRateStore(db: Queryable, permits: Permits): Store {
  return {
    localKeys: false,
    async increment(keyId) {
      const count = { name: 'rate-count', text: COUNT, values: [keyId] }
      const { rows } = await permits.take(keyId, () =>
        db.query<{ used: number; allowed: boolean; left: number }>(count),
      )
      const row = rows[0]
      if (!row) throw new Error('The key is gone.')
      return {
        // The plan of this very moment decides, not the limit that the middleware has read a moment
        // ago.
        totalHits: row.allowed ? row.used : Number.MAX_SAFE_INTEGER,
        resetTime: new Date(Date.now() + Math.min(MINUTE, Math.max(0, row.left))),
      }
    },
    // Requests are never given back: every answer but a refusal costs one (decision 5).
    async decrement() {},
    async resetKey(keyId) {
      await db.query('delete from rate_windows where key_id = $1', [keyId])
    },
  }
}

/**
 * The plan's requests per minute, for requests whose key is known. Sets the counters on every
 * answer from here on.
 */
export function limitRate(store: Store): RequestHandler[] {
  const count = rateLimit({
    store,
    windowMs: MINUTE,
    limit: (_request, response) => accessOf(response).key.plan.rate,
    keyGenerator: (_request, response) => accessOf(response).key.id,
    // Their names are not the contract's.
    standardHeaders: false,
    legacyHeaders: false,
    handler: (request, response, next) => {
      setRateHeaders(request, response)
      const left = (request.rateLimit?.resetTime?.getTime() ?? Date.now() + MINUTE) - Date.now()
      const seconds = Math.max(1, Math.ceil(left / 1_000))
      next(new ApiError('rate_limit_exceeded', { headers: { 'Retry-After': String(seconds) } }))
    },
  })
  return [
    count,
    (request, response, next) => {
      setRateHeaders(request, response)
      next()
    },
  ]
}

function setRateHeaders(request: Request, response: Response): void {
  if (!request.rateLimit) return
  const { limit, remaining } = request.rateLimit
  response.set({ 'X-RateLimit-Limit': String(limit), 'X-RateLimit-Remaining': String(remaining) })
}
