import type { Logger } from './logger.ts'

/**
 * A trouble that lasts, such as a store that is away, told in few lines however often it is met: one when it begins, one a
 * minute while it goes on, one when it is over.
 */
export interface Trouble {
  met(error: unknown): void
  /** All is well, or was a moment ago: says so if there was trouble. */
  over(): void
}

export interface TroubleOptions {
  /** The sentence of the first line and of the reminders: "the queues are out of reach". */
  begins: string
  ends: string
  /** Asks whether all is well again, every few seconds while it is not; for those who would not notice by themselves. */
  ask?: () => Promise<unknown>
}

const REMIND = 60_000
/** Something that failed a moment ago may fail again in the next: the last failure must be so old (ms). */
const SETTLED = 3_000
const ASK = 1_500

export function createTrouble(log: Logger, { begins, ends, ask }: TroubleOptions): Trouble {
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
      const err = wordsOf(error)
      if (isNew || now - told >= REMIND) {
        told = now
        log.warn({ err, ...(isNew ? {} : { seconds: Math.round((now - since) / 1_000), failures }) }, begins)
      } else log.debug({ err }, begins)
      askSoon()
    },
    over,
  }
}

/** pg-boss tells some of its errors in objects that are none. */
function wordsOf(error: unknown): string {
  if (error instanceof Error) return error.message || error.name
  if (typeof error === 'object' && error !== null && 'message' in error) return String(error.message)
  return typeof error === 'object' ? JSON.stringify(error) : String(error)
}
