/**
 * Waits for work, but no longer than a time limit. The work itself goes on. If the work can be
 * ended, `late` should end it.
 *
 * @param limit ms
 * @param late called at the limit. Its result is then returned, or its error thrown.
 */
export async function withTimeLimit<T, L>(
  work: Promise<T>,
  limit: number,
  late: () => L | PromiseLike<L>,
): Promise<T | L> {
  const over = Promise.withResolvers<void>()
  const timer = setTimeout(over.resolve, limit)
  try {
    return await Promise.race([work, over.promise.then(late)])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Waits for work that takes no signal. The work itself goes on after the abort.
 *
 * @throws the signal's reason as soon as it is aborted
 */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  // After an abort, a later failure of the work must not count as unhandled.
  work.catch(() => {})
  signal.throwIfAborted()
  const aborted = Promise.withResolvers<never>()
  const leave = () => aborted.reject(signal.reason)
  signal.addEventListener('abort', leave, { once: true })
  try {
    return await Promise.race([work, aborted.promise])
  } finally {
    signal.removeEventListener('abort', leave)
  }
}
