import { setTimeout as pause } from 'node:timers/promises'

/** Codes of the errors for a lock that was not granted in time, and for a deadlock. */
const LOCKED: unknown[] = ['55P03', '40P01']
/** Tries, and ms between them: an import may write for a minute. */
const TRIES = 60
const PAUSE = 1_000

/** Repeats a transaction whose locks others hold. A transaction that waits long would stop them. */
export async function repeatLocked<T>(work: () => Promise<T>): Promise<T> {
  for (let left = TRIES - 1; ; left--) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && LOCKED.includes(error.code))) throw error
      if (left === 0)
        throw new Error(
          'A process that writes articles does not end its transaction (pg_stat_activity); end it and repeat the command.',
          { cause: error },
        )
      await pause(PAUSE)
    }
  }
}
