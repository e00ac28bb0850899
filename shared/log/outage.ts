import { certificateRefusal } from '#shared/config/tls'
import type { Logger } from './logger.ts'
import { describe } from './printable.ts'

/**
 * Logs an outage in few lines, however often a call fails: one line when it begins, one a minute
 * while it lasts, and one when it is over.
 */
export interface OutageLog {
  /** Notes that a call failed. */
  met(error: unknown): void
  over(): void
}

const REMIND = 60_000
/**
 * An outage is over when no call has failed for this many ms, because one success may be followed
 * by another failure.
 */
const SETTLED = 3_000
const ASK = 1_500

/**
 * @param begins the sentence of the first line and of the reminders: "the queues are out of reach"
 * @param ends the sentence of the last line
 * @param ask called every few seconds during an outage, for callers that cannot notice its end
 *   themselves
 */
export function createOutageLog(
  log: Logger,
  begins: string,
  ends: string,
  ask?: () => Promise<unknown>,
): OutageLog {
  let since: number | null = null
  let last = 0
  let told = 0
  let failures = 0
  let asking = false

  function over(): void {
    const now = performance.now()
    if (since === null || now - last < SETTLED) return
    log.info({ seconds: Math.round((now - since) / 1_000), failures }, ends)
    since = null
  }

  function askSoon(): void {
    if (asking || ask === undefined) return
    asking = true
    setTimeout(async () => {
      await ask().then(over, () => {})
      asking = false
      if (since !== null) askSoon()
    }, ASK).unref()
  }

  return {
    met(error) {
      const now = performance.now()
      last = now
      const isNew = since === null
      if (isNew) failures = 0
      since ??= now
      failures += 1
      const err = certificateRefusal(error) ?? describe(error)
      if (isNew || now - told >= REMIND) {
        told = now
        log.warn(
          { err, ...(isNew ? {} : { seconds: Math.round((now - since) / 1_000), failures }) },
          begins,
        )
      } else log.debug({ err }, begins)
      askSoon()
    },
    over,
  }
}
