/**
 * Limits how many run at a time. The others wait in the order they came. `cockatiel`'s bulkhead
 * lets a waiting caller go only when a permit is free, however short the caller's own time limit is
 * (`docs/experiments/2026-11-22-libraries.md`).
 */
export interface Semaphore {
  /**
   * Runs `work` when a permit is free.
   * @throws the signal's reason when it is aborted before that
   */
  run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T>
}

export function createSemaphore(permits: number): Semaphore {
  let free = permits
  const waiting: { begin: () => void }[] = []
  const release = () => {
    const next = waiting.shift()
    if (next === undefined) free += 1
    else next.begin()
  }
  const acquire = (signal: AbortSignal | undefined): Promise<void> => {
    signal?.throwIfAborted()
    if (free > 0) {
      free -= 1
      return Promise.resolve()
    }
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        waiting.splice(waiting.indexOf(waiter), 1)
        reject(signal?.reason)
      }
      const waiter = {
        begin: () => {
          signal?.removeEventListener('abort', giveUp)
          resolve()
        },
      }
      waiting.push(waiter)
      signal?.addEventListener('abort', giveUp, { once: true })
    })
  }
  return {
    async run(work, signal) {
      await acquire(signal)
      try {
        return await work()
      } finally {
        release()
      }
    },
  }
}
