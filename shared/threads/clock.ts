/**
 * A flag by which a thread tells its service that it has begun its task. It is in shared memory, so
 * that the service can read it while the thread is busy.
 */
export type Begun = Int32Array<SharedArrayBuffer>

export const createBegun = (): Begun =>
  new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))

/** Sets the flag; the thread calls this. */
export function begin(begun: Begun): void {
  Atomics.store(begun, 0, 1)
  Atomics.notify(begun, 0)
}

/** In ms. A thread that has not begun by then will never begin. */
const LONGEST_START = 180_000

/**
 * Calls `late` when a thread has worked on its task for `timeout` ms. The time in which a new
 * thread loads its modules does not count, because on a busy machine it alone can exceed the limit.
 *
 * @returns a function that stops the clock
 */
export function startClock(begun: Begun, timeout: number, late: () => void): () => void {
  let over = false
  let timer: NodeJS.Timeout | undefined
  const count = (how: string) => {
    if (over) return
    if (how === 'timed-out') late()
    else timer = setTimeout(late, timeout)
  }
  const wait = Atomics.waitAsync(begun, 0, 0, LONGEST_START)
  if (wait.async) void wait.value.then(count)
  else count(wait.value)
  return () => {
    over = true
    clearTimeout(timer)
    // Otherwise `wait` would stay pending until LONGEST_START.
    begin(begun)
  }
}
