/**
 * Limits how many callers run at a time. The others wait in the order in which they came. We do not
 * use `cockatiel`'s bulkhead (`docs/experiments/README.md`). There a waiting caller goes on waiting
 * until a permit is free, even if its own time limit is over.
 */
export interface Semaphore {
  /**
   * Waits for a permit, for work that begins and ends in different functions.
   *
   * @returns a function that gives the permit back; call it once
   */
  acquire(signal?: AbortSignal): Promise<() => void>
  /**
   * Runs `work` when a permit is free.
   *
   * @throws the signal's reason if the signal is aborted before
   */
  run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T>
}

export function createSemaphore(permits: number): Semaphore {
  let free = permits
  const line: Waiter<void>[] = []
  const release = () => {
    const next = line.shift()
    if (next === undefined) free += 1
    else next.begin()
  }
  const acquire = async (signal?: AbortSignal): Promise<() => void> => {
    signal?.throwIfAborted()
    if (free > 0) free -= 1
    else await waitInLine(line, signal)
    return release
  }
  return {
    acquire,
    async run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
      const done = await acquire(signal)
      try {
        return await work()
      } finally {
        done()
      }
    },
  }
}

/** A caller that waits for something, such as a permit, that other callers hold. */
export interface Waiter<T> {
  /** Ends the wait, and gives the caller the value for which it waited. */
  begin(value: T): void
}

/**
 * Puts the caller at the end of a line. The owner of the line takes out the first waiter and calls
 * its `begin`.
 *
 * @throws the signal's reason if the signal is aborted before; the caller then leaves the line
 */
export const waitInLine = <T>(line: Waiter<T>[], signal: AbortSignal | undefined): Promise<T> =>
  new Promise((resolve, reject) => {
    const giveUp = () => {
      line.splice(line.indexOf(waiter), 1)
      reject(signal?.reason)
    }
    const waiter: Waiter<T> = {
      begin(value) {
        signal?.removeEventListener('abort', giveUp)
        resolve(value)
      },
    }
    line.push(waiter)
    signal?.addEventListener('abort', giveUp, { once: true })
  })
