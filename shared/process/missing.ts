import { withTimeLimit } from '../resilience/time-limit.ts'
import type { Missing } from './health.ts'

/** ms that a dependency may take to answer. */
const ANSWER_TIME = 2_000

/**
 * Asks every dependency of a service a small question, all at once. Names those that fail or do not
 * answer within two seconds.
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

function answers(ask: () => Promise<unknown>): Promise<boolean> {
  const answered = ask().then(
    () => true,
    () => false,
  )
  return withTimeLimit(answered, ANSWER_TIME, () => false)
}
