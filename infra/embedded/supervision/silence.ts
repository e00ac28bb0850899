import { setTimeout as pause } from 'node:timers/promises'
import { withTimeLimit } from '../../../shared/resilience/time-limit.ts'

/** An answer may take so long: a busy machine is slow, it does not hang. */
export const ANSWER_MS = 10_000
/** From an answer to the next question. */
const REST_MS = 3_000
/** A program that has answered none of the questions of this time is taken for hung. */
export const SILENCE_MS = 30_000

/**
 * Asks a program whether it is alive. A refusal is an answer too; no answer is false or an error.
 */
export type Ask = (signal: AbortSignal) => Promise<boolean>

/** Any answer to a GET of `url` will do. */
export const askHttp =
  (url: string): Ask =>
  async signal => {
    await (await fetch(url, { signal })).arrayBuffer()
    return true
  }

/**
 * Asks until the program has been silent for `SILENCE_MS`, and returns true; false when it is gone.
 * Until its first answer, or until `hasStarted`, a program is starting, for as long as it takes.
 *
 * Questions are counted, not time: a machine that slept has missed one. A question that took much
 * longer than it may says that we ourselves stood still, and nothing about the program.
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
      // One that is refused at once is asked no sooner than one that says nothing.
      await rest(ANSWER_MS - (performance.now() - began), gone)
      if (performance.now() - began < 2 * ANSWER_MS) silent += ANSWER_MS
      if (silent >= SILENCE_MS) return !gone.aborted
      continue
    }
    await rest(REST_MS, gone)
  }
  return false
}

/** A question that ignores its signal has the same time limit. */
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
