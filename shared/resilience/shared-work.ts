import { unlessAborted } from './time-limit.ts'

/** Work by name. Callers who want the same at the same time wait for it together. */
export interface SharedWork<T> {
  /** Whether work of this name is under way. */
  has(name: string): boolean
  /**
   * Joins the work of this name, or begins it. The work goes on while one of its callers waits, and
   * ends when the last one leaves.
   *
   * @param work gets a signal that aborts with the reason of the last caller who left
   * @throws the reason of `leaves` as soon as it aborts
   */
  run(name: string, leaves: AbortSignal, work: (ends: AbortSignal) => Promise<T>): Promise<T>
  underWay(): Promise<T>[]
}

export function createSharedWork<T>(): SharedWork<T> {
  const all = new Map<string, { done: Promise<T>; waiting: number; ends: AbortController }>()

  function begin(name: string, work: (ends: AbortSignal) => Promise<T>) {
    const ends = new AbortController()
    const one = { done: work(ends.signal), waiting: 0, ends }
    all.set(name, one)
    const forget = () => {
      if (all.get(name) === one) all.delete(name)
    }
    one.done.then(forget, forget)
    return one
  }
  return {
    has: name => all.has(name),
    async run(name, leaves, work) {
      leaves.throwIfAborted()
      const one = all.get(name) ?? begin(name, work)
      one.waiting++
      try {
        return await unlessAborted(one.done, leaves)
      } finally {
        if (--one.waiting === 0) {
          // Who comes now begins anew. Who came when the work was just done has begun already.
          if (all.get(name) === one) all.delete(name)
          one.ends.abort(leaves.reason)
        }
      }
    },
    underWay: () => [...all.values()].map(({ done }) => done),
  }
}
