/** Lets so many take a turn at a time; the others wait in the order they came. */
export interface Turns {
  /**
   * Runs `work` when a turn is free.
   * @throws the signal's reason when it is aborted before the turn came
   */
  take<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T>
}

export function createTurns(count: number): Turns {
  let free = count
  const waiting: { begin: () => void }[] = []
  const release = () => {
    const next = waiting.shift()
    if (next === undefined) free += 1
    else next.begin()
  }
  const turn = (signal: AbortSignal | undefined): Promise<void> => {
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
    async take(work, signal) {
      await turn(signal)
      try {
        return await work()
      } finally {
        release()
      }
    },
  }
}
