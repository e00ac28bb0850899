import t from 'tap'
import { type ChaosOptions, chaos, type Verdict } from './chaos.ts'

/** Runs the fault test as a test: each finding is a failure. */
export async function proveChaos(
  options: Pick<ChaosOptions, 'seconds' | 'seed' | 'redis' | 'rate' | 'imported'>,
): Promise<Verdict> {
  const ending = new AbortController()
  t.teardown(() => ending.abort())
  process.once('SIGTERM', () => ending.abort())
  const verdict = await chaos({
    ...options,
    only: [],
    keep: false,
    signal: ending.signal,
    say: sentence => t.comment(sentence),
  })
  for (const finding of verdict.findings) t.fail(finding)
  t.ok(
    verdict.ok,
    `nothing was lost in ${options.seconds} s; logs are in ${verdict.folder} otherwise`,
  )
  t.ok(
    verdict.published > 0 && verdict.sequences > 0 && verdict.requests.asked > 0,
    'something was tried',
  )
  return verdict
}
