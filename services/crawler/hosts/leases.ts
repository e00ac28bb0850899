import { randomUUID } from 'node:crypto'
import type { Logger } from '../../../shared/log/logger.ts'
import { createOutageLog } from '../../../shared/log/outage.ts'
import type { Pool } from '../../../shared/postgres/pool.ts'

/** How long a dead process keeps what it held. */
export const HOLD = 10_000
const BEAT = 3_000

/** Something of which there is one in the whole fleet: the visit to a host, or a request to it. */
export interface Hold {
  readonly id: string
  readonly host: string
  /** Aborted when the hold is lost; what depends on it ends. */
  readonly lost: AbortSignal
  /** Whether it can still be ours: false as soon as another may have taken it, also after this process was paused. */
  alive(): boolean
}

/** The holds of one process, kept alive together. */
export interface Holds {
  /** Notes a hold that the database has just granted. `since`: monotonic time before it was asked for. */
  keep(kind: Kind, host: string, id: string, since: number): Hold
  drop(hold: Hold): void
  /** Stops keeping; what is still held runs out by itself. */
  close(): void
}

type Kind = 'visit' | 'turn'

interface Kept extends Hold {
  kind: Kind
  /** Monotonic ms. */
  deadline: number
  loss: AbortController
}

export const newHoldId = () => randomUUID()

/**
 * Prolongs every hold of this process in one statement each few seconds. A hold that could not be prolonged in time, or that
 * the database gives to another, is lost: its signal aborts.
 */
export function createHolds(pool: Pool, log: Logger, hostDelay: number): Holds {
  const kept = new Map<string, Kept>()
  let beating = false
  let lastBeat = 0
  const outage = createOutageLog(log, { begins: 'cannot prolong the holds', ends: 'the holds are prolonged again' })

  const lose = (hold: Kept) => {
    kept.delete(hold.id)
    hold.loss.abort()
    log.warn({ host: hold.host, hold: hold.kind }, 'lost a hold; another crawler goes on')
  }

  const beat = async () => {
    for (const hold of kept.values()) if (performance.now() >= hold.deadline) lose(hold)
    if (beating || kept.size === 0 || performance.now() - lastBeat < BEAT) return
    beating = true
    const since = performance.now()
    const asked = [...kept.values()]
    try {
      const { rows } = await pool.query<{ visit: string | null; turn: string | null }>(PROLONG, [
        asked.filter(({ kind }) => kind === 'visit').map(({ id }) => id),
        asked.filter(({ kind }) => kind === 'turn').map(({ id }) => id),
        HOLD,
        hostDelay,
      ])
      const prolonged = new Set(rows.flatMap(({ visit, turn }) => [visit, turn]))
      for (const hold of asked) {
        if (prolonged.has(hold.id)) hold.deadline = since + HOLD
        else if (kept.has(hold.id)) lose(hold)
      }
      lastBeat = since
      outage.over()
    } catch (error) {
      outage.met(error)
    } finally {
      beating = false
    }
  }
  const timer = setInterval(() => void beat(), 500)

  return {
    keep(kind, host, id, since) {
      const loss = new AbortController()
      const hold: Kept = {
        ...{ kind, host, id, loss, deadline: since + HOLD, lost: loss.signal },
        alive: () => !loss.signal.aborted && performance.now() < hold.deadline,
      }
      kept.set(id, hold)
      return hold
    },
    drop: hold => void kept.delete(hold.id),
    close: () => clearInterval(timer),
  }
}

// $1 visits, $2 turns, $3 ms they last, $4 pause between two requests (ms). What has run out already is not revived:
// another may be about to take it.
const PROLONG = `
  update hosts
     set leased_until = case when holder = any($1::uuid[]) and leased_until > clock_timestamp()
                             then clock_timestamp() + $3 * interval '1 ms' else leased_until end,
         free_at = case when turn = any($2::uuid[]) and free_at > clock_timestamp()
                        then clock_timestamp() + ($3 + greatest(coalesce(crawl_delay, 0), $4)) * interval '1 ms'
                        else free_at end
   where holder = any($1::uuid[]) or turn = any($2::uuid[])
  returning case when holder = any($1::uuid[]) and leased_until > clock_timestamp() then holder end as visit,
            case when turn = any($2::uuid[]) and free_at > clock_timestamp() then turn end as turn`
