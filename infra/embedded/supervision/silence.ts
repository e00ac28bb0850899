import { setTimeout as pause } from 'node:timers/promises'
import { withTimeLimit } from '../../../shared/resilience/time-limit.ts'

/** ms that an answer may take. A program on a busy machine is slow, but does not hang. */
export const ANSWER_MS = 10_000
/** ms from an answer to the next question. */
const REST_MS = 3_000
/** A program that answered no question for so many ms counts as hung. */
export const SILENCE_MS = 30_000

/**
 * Asks a program whether it is alive. A refusal is an answer too. No answer: false, or an error.
 */
export type Ask = (signal: AbortSignal) => Promise<boolean>

/** Asks with a GET of `url`. Any answer counts. */
export const askHttp =
  (url: string): Ask =>
  async signal => {
    await (await fetch(url, { signal })).arrayBuffer()
    return true
  }

/**
 * Asks a program again and again. True: it has been silent for `SILENCE_MS`. False: it is gone. A
 * program is starting until its first answer, or until `hasStarted`. A start may take any time.
 *
 * Unanswered questions are counted, not time, because the machine may have slept. A question that
 * took far too long does not count: our own process stood still.
 */
export async function fallsSilent(ask: Ask, hasStarted: () => boolean, gone: AbortSignal): Promise<boolean> {
  let heard = false
  let silent = 0
  while (!gone.aborted) {
    const began = performance.now()
    const answered = await answers(ask)
    if (answered) {
      heard = true
      silent = 0
    } else if (heard || hasStarted()) {
      // A question that failed at once is repeated as late as one that timed out.
      await rest(ANSWER_MS - (performance.now() - began), gone)
      if (performance.now() - began < 2 * ANSWER_MS) silent += ANSWER_MS
      if (silent >= SILENCE_MS) return !gone.aborted
      continue
    }
    await rest(REST_MS, gone)
  }
  return false
}

/** Asks once, and waits no longer than `ANSWER_MS`, also for a question that cannot be aborted. */
function answers(ask: Ask): Promise<boolean> {
  const late = new AbortController()
  const answered = ask(late.signal).catch(() => false)
  return withTimeLimit(answered, ANSWER_MS, () => {
    late.abort()
    return false
  })
}

const rest = (ms: number, gone: AbortSignal): Promise<void> =>
  pause(Math.max(0, ms), undefined, { signal: gone, ref: false }).catch(() => {})
