import type { ServiceName } from '../../fleet.ts'
import { during, type Fault, partsOf, pause, pickWorker, workerAgain } from './scene.ts'

/**
 * Longer than the lock of a message (30 s), so that another worker takes over what the paused one
 * still holds.
 */
const LONGER_THAN_A_LOCK_MS = 34_000
/** An API holds nothing; it only must not take others with it. */
const API_PAUSE_MS = 8_000

/**
 * The worker is gone between two instructions (SIGKILL), or is asked to end, as in every rolling
 * upgrade (SIGTERM).
 */
export const ended =
  (service: ServiceName, signal: 'SIGKILL' | 'SIGTERM'): Fault =>
  async scene => {
    const worker = pickWorker(scene, service)
    const pid = worker.pid()
    await during(scene, partsOf(worker), async () => {
      worker.signal(signal)
      await workerAgain(scene, worker, pid)
    })
    return `${worker.name} (${pid})`
  }

/**
 * The worker stands still, and goes on as if nothing had happened when others have long done its
 * work.
 */
export const paused =
  (service: ServiceName): Fault =>
  async scene => {
    const worker = pickWorker(scene, service)
    const ms = service === 'api' ? API_PAUSE_MS : LONGER_THAN_A_LOCK_MS
    await during(scene, partsOf(worker), () => pause(worker, ms))
    return `${worker.name} for ${ms / 1000} s`
  }
