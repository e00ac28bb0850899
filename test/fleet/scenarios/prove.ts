import t from 'tap'
import { MissingProgram } from '#test/fleet/programs/debian'
import { type FleetVerdict, NeedsNamespaces, runScenario } from './run.ts'
import type { Scenario } from './scenario.ts'

/**
 * Runs a scenario as a test: each finding is a failure. Skips it where this machine lacks a program
 * or does not allow namespaces.
 */
export function proveScenario(scenario: Scenario, options: { loopback?: boolean } = {}): void {
  t.test(scenario.about, async t => {
    const ending = new AbortController()
    t.teardown(() => ending.abort())
    process.once('SIGTERM', () => ending.abort())
    let verdict: FleetVerdict
    try {
      verdict = await runScenario(scenario, {
        seed: 1,
        patience: 3,
        loopback: options.loopback === true,
        keep: false,
        say: sentence => t.comment(sentence),
        signal: ending.signal,
      })
    } catch (error) {
      if (!(error instanceof MissingProgram || error instanceof NeedsNamespaces)) throw error
      t.pass(`SKIPPED: ${error.message}`)
      return
    }
    for (const finding of verdict.findings) t.fail(finding)
    t.ok(verdict.ok, `nothing was found; logs are in ${verdict.folder} otherwise`)
  })
}
