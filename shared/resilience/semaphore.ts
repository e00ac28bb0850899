import { type Waiter, waitInLine } from './waiting-line.ts'

/**
 * Limits how many run at a time. The others wait in the order they came. `cockatiel`'s bulkhead
 * lets a waiting caller go only when a permit is free, however short the caller's own time limit is
 * (`docs/experiments/README.md`).
 */
export interface Semaphore {
  /**
   * Runs `work` when a permit is free.
   * @throws the signal's reason when it is aborted before that
   */
  run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T>
  /**
   * Waits for a permit, for work that begins and ends in different functions.
   * @returns gives the permit back; to be called once
   */
  acquire(signal?: AbortSignal): Promise<() => void>
}

export function createSemaphore(permits: number): Semaphore {
  let free = permits
  const line: Waiter<void>[] = []
  const release = () => {
    const next = line.shift()
    if (next === undefined) free += 1
    else next.begin()
  }
  const acquire = async (signal?: AbortSignal) => {
    signal?.throwIfAborted()
    if (free > 0) free -= 1
    else await waitInLine(line, signal)
    return release
  }
  return {
    acquire,
    async run(work, signal) {
      const done = await acquire(signal)
      try {
        return await work()
      } finally {
        done()
      }
    },
  }
}
