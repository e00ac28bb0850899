import { createSemaphore, type Semaphore } from '../../../shared/resilience/semaphore.ts'

/** Permits by name: limits how much work of one name is under way at a time. */
export interface Permits {
  /**
   * Does the work once fewer than `atOnce` of the same name are under way; others of that name come
   * first come, first served. Work of other names never waits for it.
   *
   * @param leaves the caller has left: ends the wait, and what was not begun is not
   * @throws NoPermit when it would have to wait for too long, or too many wait already; whatever
   * `work` throws
   */
  take<T>(name: string, work: () => Promise<T>, leaves?: AbortSignal): Promise<T>
}

/** The work has not been begun. */
export class NoPermit extends Error {
  override name = 'NoPermit'
}

export interface PermitLimits {
  /** Pieces of work of one name under way at a time. */
  atOnce: number
  /** Of one name. */
  waiting: number
  /** ms */
  patience: number
}

/** Permits of this process. It forgets a name when no work of it is left. */
export function createPermits({ atOnce, waiting, patience }: PermitLimits): Permits {
  const lines = new Map<string, { semaphore: Semaphore; callers: number }>()
  return {
    async take(name, work, leaves) {
      if (leaves?.aborted) throw new NoPermit('The caller has left.')
      const line = lines.get(name) ?? { semaphore: createSemaphore(atOnce), callers: 0 }
      if (line.callers >= atOnce + waiting) throw new NoPermit('Too many wait for a permit.')
      lines.set(name, line)
      const wait = line.callers < atOnce ? null : openWait(patience, leaves)
      line.callers++
      try {
        return await line.semaphore.run(work, wait?.signal)
      } finally {
        wait?.close()
        line.callers--
        if (line.callers === 0) lines.delete(name)
      }
    },
  }
}

/** A signal that ends a wait, when the caller has left or has waited for too long. */
function openWait(patience: number, leaves: AbortSignal | undefined) {
  const ending = new AbortController()
  const end = (why: string) => () => ending.abort(new NoPermit(why))
  const late = setTimeout(end('No permit came in time.'), patience)
  const left = end('The caller has left.')
  leaves?.addEventListener('abort', left, { once: true })
  return {
    signal: ending.signal,
    close() {
      clearTimeout(late)
      leaves?.removeEventListener('abort', left)
    },
  }
}
