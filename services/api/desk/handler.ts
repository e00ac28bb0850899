import type { Request, Response } from 'express'
import type { Permits } from '#services/api/access/permits'
import type { Searches } from '#services/api/articles/find'
import type { CursorSecret } from '#services/api/contract/cursor'
import { ApiError } from '#services/api/contract/errors'
import type { FeedIdentity } from '#services/api/feeds/rss'
import type { Config } from '#shared/config/config'
import type { FoundKey } from '#shared/plans/keys'
import type { Pool } from '#shared/postgres/pool'

type AlertSettings = Pick<Config, 'ALERT_HOSTS' | 'SMTP_URL' | 'SMTP_FROM'>

/** The parts of the API that the handlers need. */
export interface OwnerParts extends FeedIdentity {
  /** Permits by key, so that the requests of one key never take many connections. */
  counts: Permits
  cursorSecret: CursorSecret
  config: AlertSettings
  searchesOf(response: Response): Searches
}

/**
 * @param parts with the key of the request, the id in its path, and as `pool` the statements that
 *   end when its client leaves
 */
export type Handler = (
  parts: OwnerParts & { key: FoundKey['key']; id: string; pool: Pool; searches: Searches },
  request: Request,
  response: Response,
) => Promise<void>

/**
 * Operations on feeds and searches of a key, by path and method. A handler in brackets reads a
 * body.
 */
export type OwnerRoutes = [
  path: string | RegExp,
  operations: Partial<Record<Method, Handler | [Handler]>>,
][]
type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'

export const noSearch = (): ApiError =>
  new ApiError('not_found', {
    message: 'This key keeps no such search; see GET /explore/searches.',
  })
