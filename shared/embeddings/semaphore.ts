/** Limits how many tasks run at a time; the others wait, first come, first served. */
export interface Semaphore {
  /** Resolves with the function that releases the permit, or with null when `signal` aborts first. */
  take(signal: AbortSignal): Promise<(() => void) | null>
}

export function createSemaphore(limit: number): Semaphore {
  const waiting: (() => void)[] = []
  let taken = 0

  const end = () => {
    const next = waiting.shift()
    if (next) next()
    else taken--
  }
  const once = () => {
    let ended = false
    return () => {
      if (!ended) end()
      ended = true
    }
  }

  return {
    async take(signal) {
      if (signal.aborted) return null
      if (taken < limit) {
        taken++
        return once()
      }
      return new Promise(resolve => {
        const come = () => {
          signal.removeEventListener('abort', leave)
          resolve(once())
        }
        const leave = () => {
          waiting.splice(waiting.indexOf(come), 1)
          resolve(null)
        }
        waiting.push(come)
        signal.addEventListener('abort', leave, { once: true })
      })
    },
  }
}
