import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * The waits of the work in hand: ms by name. Waits at the same time are added up, so the sum may be
 * longer than the work.
 */
export type Waits = Map<string, number>

const storage = new AsyncLocalStorage<Waits>()

/** Runs `work` and notes what it waits for, also in functions that it awaits. */
export function trackWaits<T>(waits: Waits, work: () => T): T {
  return storage.run(waits, work)
}

/** Adds a wait to those of the work in hand, if they are noted. */
export function noteWait(name: string, ms: number): void {
  const waits = storage.getStore()
  waits?.set(name, (waits.get(name) ?? 0) + ms)
}

/** Waits for `work` and notes how long that took, whether it succeeds or fails. */
export async function waitFor<T>(name: string, work: Promise<T>): Promise<T> {
  const start = performance.now()
  try {
    return await work
  } finally {
    noteWait(name, performance.now() - start)
  }
}
