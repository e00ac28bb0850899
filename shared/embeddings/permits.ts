/** A limit on how many do something at a time; the others wait, first come, first served. */
export interface Turns {
  /** Resolves with what ends the turn, or with null when `signal` came first. */
  take(signal: AbortSignal): Promise<(() => void) | null>
}

export function createTurns(limit: number): Turns {
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
