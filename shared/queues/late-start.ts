import { setTimeout as sleep } from 'node:timers/promises'

/** The common part of BullMQ's queues and workers. */
interface Opened {
  on(event: 'error', listener: (error: Error) => void): unknown
  waitUntilReady(): Promise<void>
  close(force?: boolean): Promise<void>
}

/** A worker that was made with `autorun: false`. */
interface IdleWorker extends Opened {
  run(): Promise<void>
}

/** ms between two attempts to reach the store. */
const RETRY = 500

/**
 * On Postgres, BullMQ 6.7 keeps the result of its first connection for good. A queue or worker that
 * was made while the server was starting fails for ever. A worker does so in a loop without a
 * pause, so that nothing else of the process runs, not even a handler of SIGTERM. So a queue or
 * worker that could not reach its store is closed and made again.
 */

/** Makes a queue; one that cannot reach its store is closed, and the reason thrown. */
export async function openReady<T extends Opened>(make: () => T, onError: (error: Error) => void): Promise<T> {
  const opened = make()
  opened.on('error', onError)
  try {
    await opened.waitUntilReady()
    return opened
  } catch (error) {
    await opened.close().catch(onError)
    throw error
  }
}

/** Makes a worker and lets it run as soon as it reaches its store. */
export function runWhenReady(
  make: () => IdleWorker,
  onError: (error: Error) => void,
): { close(force?: boolean): Promise<void> } {
  const closing = new AbortController()
  let worker: IdleWorker | undefined

  const start = async () => {
    while (!closing.signal.aborted) {
      const made = make()
      made.on('error', onError)
      worker = made
      try {
        await made.waitUntilReady()
        if (!closing.signal.aborted) await made.run()
        return
      } catch (error) {
        if (closing.signal.aborted) return
        onError(error instanceof Error ? error : new Error(String(error)))
        await made.close(true).catch(onError)
        await sleep(RETRY, undefined, { signal: closing.signal }).catch(() => {})
      }
    }
  }
  void start()

  return {
    async close(force = false) {
      closing.abort()
      await worker?.close(force)
    },
  }
}
