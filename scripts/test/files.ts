import { availableParallelism } from 'node:os'
import type { Family } from '../../infra/embedded/supervision/family.ts'
import { runTool } from '../../infra/embedded/supervision/tool.ts'
import { type Group, groupOf, LIMIT_S } from './groups.ts'
import { type Report, readReport } from './report.ts'

/** tap ends a file at its limit. The runner ends a file that hangs this much later. */
const GRACE_S = 15
const KEPT_OUTPUT = 8 * 1024 * 1024
/**
 * Files side by side. Quick files wait for a third of their time, so there is one more of them than
 * cores. The others start servers and services of their own; beyond two they slow each other down.
 */
const JOBS: Readonly<Record<Group, number>> = {
  quick: Math.min(2, availableParallelism()) + 1,
  slow: Math.min(2, availableParallelism()),
  long: Math.min(2, availableParallelism()),
}

export interface Counts {
  passed: number
  failed: number
}

/**
 * Runs test files, each in a process of its own, and counts their assertions. Prints a line for
 * each file as it ends, with its measurements and its failures.
 *
 * The files print TAP when they are run; tap's own runner is not needed for that (and loses the
 * last file when another one exceeds its time).
 *
 * @param options.env environment of the tests
 */
export async function runFiles(
  files: readonly string[],
  options: {
    env: NodeJS.ProcessEnv
    family: Family
    signal: AbortSignal
    print: (line: string) => void
  },
): Promise<Counts> {
  const { env, family, signal, print } = options
  const counts = { passed: 0, failed: 0 }
  const waiting = [...files]
  let done = 0

  async function runOne(file: string): Promise<void> {
    const began = Date.now()
    const seconds = LIMIT_S[groupOf(file)]
    const { code, output, timedOut } = await runTool(process.execPath, [file], {
      ...{ family, signal, cwd: process.cwd(), keep: KEPT_OUTPUT },
      within: (seconds + GRACE_S) * 1_000,
      env: { ...env, TAP_TIMEOUT: String(seconds) },
    })
    const report = readReport(output, code)
    counts.passed += report.passed
    counts.failed += report.failed
    done++
    const took = `${((Date.now() - began) / 1_000).toFixed(1)} s`
    print(`[${done}/${files.length}] ${report.failed > 0 ? 'FAILED' : 'ok'} ${file} ${took}`)
    for (const line of details(report, timedOut)) print(`    ${line}`)
  }
  async function work(): Promise<void> {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) await runOne(file)
  }
  const jobs = Math.min(...files.map(file => JOBS[groupOf(file)]))
  await Promise.all(Array.from({ length: jobs }, work))
  return counts
}

const details = (report: Report, timedOut: boolean): string[] => [
  ...(timedOut ? ['It did not end in time and was ended.'] : []),
  ...(report.failures.length > 0 ? report.failures : report.comments),
  ...report.skipped.map(skipped => `left out: ${skipped}`),
]
