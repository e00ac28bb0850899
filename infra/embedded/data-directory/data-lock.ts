import { setTimeout as pause } from 'node:timers/promises'
import { Problem } from '../problem.ts'
import { type Lock, lockFile } from './lock.ts'

/** A watchdog ends the servers of a killed start within 8 s. */
const PATIENCE_MS = 15_000
const RETRY_MS = 200

/**
 * Takes the lock of one server's data. The server itself has the file open too, so the lock holds
 * until its last process is gone. That also protects the data when a start was killed and its
 * servers are still ending in another container, whose processes we do not see.
 *
 * @param name the server's name in sentences
 * @throws Problem when an earlier server does not end
 */
export async function lockData(path: string, name: string, signal: AbortSignal): Promise<Lock & { held: true }> {
  const end = Date.now() + PATIENCE_MS
  for (;;) {
    const lock = await lockFile(path, `${name} of process ${process.pid}`)
    if (lock.held) return lock
    if (Date.now() > end) {
      throw new Problem(
        `The data behind ${path} are in use by ${lock.holder}; end it on ${lock.host} (in a container perhaps), then start again.`,
      )
    }
    await pause(RETRY_MS, undefined, { signal })
  }
}
