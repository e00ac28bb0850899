/** One way of a connection: what is put in comes out later, in the same order. */
export interface Lane {
  put(deliver: () => void): void
}

/** @param delay ms; asked for each delivery, so that it may change */
export function createLane(delay: () => number): Lane {
  const waiting: { due: number; deliver: () => void }[] = []
  let isWaiting = false

  function drain(): void {
    isWaiting = false
    for (let next = waiting[0]; next; next = waiting[0]) {
      const wait = next.due - Date.now()
      if (wait > 0) {
        wake(wait)
        return
      }
      waiting.shift()
      next.deliver()
    }
  }
  function wake(after: number): void {
    if (isWaiting) return
    isWaiting = true
    setTimeout(drain, after)
  }
  return {
    put(deliver) {
      if (waiting.length === 0 && delay() === 0) return deliver()
      const before = waiting.at(-1)?.due ?? 0
      waiting.push({ due: Math.max(before, Date.now() + delay()), deliver })
      wake(delay())
    },
  }
}
