import { setTimeout as pause } from 'node:timers/promises'
import type { OutageLog } from '#shared/log/outage'
import { type Client, type Pool, withConnection } from '#shared/postgres/pool'

interface RestingOptions {
  open(): Pool
  /** Reads something from the server, to see whether it answers. */
  look(client: Client): Promise<unknown>
  /** ms that `look` may take. */
  limit: number
  outage: OutageLog
}

/** ms between two checks of a server that rests: the first, and the longest. */
const FIRST = 50
const LONGEST = 1_000

export interface RestingPool {
  rests(): boolean
  /**
   * Runs work on a connection. The pool aborts `ending` when it begins to rest, which interrupts
   * the work.
   */
  run<T>(ending: AbortController, work: (client: Client) => Promise<T>): Promise<T>
  /** Ends all work under way, and checks the server until it answers. */
  rest(error: unknown): void
  close(): Promise<void>
}

/** A pool of a server that may be away. While the server is away, the pool rests. */
export function createRestingPool({ open, look, limit, outage }: RestingOptions): RestingPool {
  const closing = new AbortController()
  let pool = open()
  const active = new Set<AbortController>()
  let resting: Promise<void> | null = null

  async function untilItAnswers(): Promise<void> {
    const { signal } = closing
    for (let wait = FIRST; !signal.aborted; wait = Math.min(2 * wait, LONGEST)) {
      await pause(wait, undefined, { signal, ref: false }).catch(() => {})
      const late = AbortSignal.any([signal, AbortSignal.timeout(limit)])
      const failure = await withConnection(pool, late, look).then(
        () => null,
        (error: unknown) => ({ error }),
      )
      if (failure === null) return outage.over()
      if (!signal.aborted) outage.met(failure.error)
    }
  }
  return {
    rests: () => resting !== null,
    async run<T>(ending: AbortController, work: (client: Client) => Promise<T>): Promise<T> {
      active.add(ending)
      try {
        return await withConnection(pool, ending.signal, work)
      } finally {
        active.delete(ending)
      }
    },
    rest(error) {
      outage.met(error)
      if (resting !== null || closing.signal.aborted) return
      for (const one of active) one.abort()
      // Old connections to a host that is gone would fail one after another.
      void pool.end()
      pool = open()
      resting = untilItAnswers().finally(() => {
        resting = null
      })
    },
    async close() {
      closing.abort()
      for (const one of active) one.abort()
      await resting
      await pool.end()
    },
  }
}
