/** A caller that waits for something that others have at present. */
export interface Waiter<T> {
  /** Ends the wait with what the caller waited for. */
  begin(value: T): void
}

/**
 * Puts the caller at the end of a line. The owner of the line takes out the first waiter
 * and calls its `begin`.
 *
 * @throws the signal's reason when it is aborted before that; the caller then leaves the line
 */
export function waitInLine<T>(line: Waiter<T>[], signal: AbortSignal | undefined): Promise<T> {
  return new Promise((resolve, reject) => {
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
}
