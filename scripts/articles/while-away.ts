import { setTimeout as sleep } from 'node:timers/promises'
import { isTransient } from '#shared/postgres/pool'
import { fullDisk, sentenceOf } from '#shared/process/command'

/** A lost primary is replaced within half a minute, and a restart takes less. */
const PATIENCE_MS = 120_000
const PAUSE_MS = 1_000

/**
 * Repeats work while Postgres is away, for `PATIENCE_MS` at most. After that, or when `signal`
 * aborts, it throws the last error. It must be safe to run the work twice.
 */
export async function whileAway<T>(
  work: () => Promise<T>,
  { say, signal }: { say(sentence: string): void; signal: AbortSignal },
): Promise<T> {
  let deadline: number | null = null
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!isTransient(error) || signal.aborted) throw error
      const trouble = fullDisk(error) === null ? 'Postgres is away' : sentenceOf(error)
      if (deadline === null)
        say(
          `${trouble.replace(/\.$/, '')}; waiting for it, at most ${PATIENCE_MS / 60_000} minutes.`,
        )
      deadline ??= Date.now() + PATIENCE_MS
      if (Date.now() > deadline) throw error
      await sleep(PAUSE_MS)
    }
  }
}
