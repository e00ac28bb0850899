/** Collects items that arrive one by one, and flushes them in batches. */
export interface Batcher<T, R> {
  /** Resolves with the item's result when its batch is flushed. */
  add(item: T): Promise<R>
}

export interface BatchLimits {
  /** The most items of a batch. */
  items: number
  /** The most weight of a batch of several items. A single item may be heavier. */
  weight: number
  /** ms that the first item waits for others. */
  wait: number
}

/**
 * One batch is flushed at a time. Items that arrive meanwhile make the next batch, which begins
 * directly afterwards. When a batch of several items fails, each item is flushed alone, so that a
 * bad item does not harm the others.
 *
 * @param flush returns results in the order of the items
 * @param isWhole whether a failure concerns no single item, such as a lost connection
 */
export function createBatcher<T, R>(
  limits: BatchLimits,
  weigh: (item: T) => number,
  flush: (items: T[]) => Promise<R[]>,
  isWhole: (error: unknown) => boolean,
): Batcher<T, R> {
  interface Waiting extends PromiseWithResolvers<R> {
    item: T
  }
  const queue: Waiting[] = []
  let timer: NodeJS.Timeout | undefined
  let busy = false

  const run = async (batch: Waiting[]): Promise<void> => {
    try {
      const results = await flush(batch.map(({ item }) => item))
      for (const [at, { resolve, reject }] of batch.entries()) {
        const result = results[at]
        if (result === undefined)
          reject(new RangeError('The flush returned fewer results than items.'))
        else resolve(result)
      }
    } catch (error) {
      if (batch.length === 1 || isWhole(error)) for (const { reject } of batch) reject(error)
      else for (const one of batch) await run([one])
    }
  }
  const begin = async () => {
    clearTimeout(timer)
    timer = undefined
    if (busy || queue.length === 0) return
    busy = true
    const weights = queue.map(({ item }) => weigh(item))
    await run(queue.splice(0, batchLength(weights, limits)))
    busy = false
    void begin()
  }
  return {
    add(item) {
      const waiting = { item, ...Promise.withResolvers<R>() }
      queue.push(waiting)
      if (queue.length >= limits.items) void begin()
      else if (!busy) timer ??= setTimeout(begin, limits.wait)
      return waiting.promise
    },
  }
}

function batchLength(weights: number[], { items, weight }: BatchLimits): number {
  let total = 0
  let length = 0
  for (const each of weights.slice(0, items)) {
    total += each
    if (length > 0 && total > weight) break
    length += 1
  }
  return length
}
