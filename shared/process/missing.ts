import { setTimeout as sleep } from 'node:timers/promises'
import type { Missing } from './health.ts'

/** ms that a dependency may take to answer. */
const PATIENCE = 2_000

/**
 * Asks every dependency of a service something small, all at once, and names those that fail or are
 * silent for two seconds.
 *
 * @param questions by the dependency's name
 */
export async function missingAmong(questions: Record<string, () => Promise<unknown>>): Promise<Missing> {
  const missing: Missing = {}
  await Promise.all(
    Object.entries(questions).map(async ([name, ask]) => {
      if (!(await answers(ask))) missing[name] = 'does not answer'
    }),
  )
  return missing
}

async function answers(ask: () => Promise<unknown>): Promise<boolean> {
  const timer = new AbortController()
  const late = sleep(PATIENCE, false, { signal: timer.signal, ref: false }).catch(() => false)
  const answered = ask().then(
    () => true,
    () => false,
  )
  return Promise.race([answered, late]).finally(() => timer.abort())
}
