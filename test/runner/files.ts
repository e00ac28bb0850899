import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { availableParallelism, cpus } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Family } from '#infra/embedded/supervision/family'
import { runTool } from '#infra/embedded/supervision/tool'
import { groupOf, LIMIT_S } from './groups.ts'

const SEVERAL = fileURLToPath(new URL('several.ts', import.meta.url))

/**
 * Seconds. tap ends a file at its limit. The runner ends a file that still hangs this much later.
 */
const GRACE_S = 15
/** Else V8 collects garbage many times while modules load, for a seventh of that time. */
const ROOMY = '--min-semi-space-size=16'
const KEPT_OUTPUT = 8 * 1024 * 1024
/** So many processes of quick and slow files run at the same time, and one less of long ones. */
const FEWEST = Math.min(2, availableParallelism()) + 1
/** Files wait for most of their time, so more of them run while the processors are idle. */
const MOST = 6
/** One process more runs when this share of the processors is idle, and so many bytes are free. */
const IDLE = 0.25
const FREE = 2 * 1024 ** 3
/** One process less runs when less than this share of the processors is idle. */
const BUSY = 0.05
/** ms between two looks at the processors. A process has this long to show what it uses. */
const LOOK_MS = 1_000

/**
 * At most this many red files are run once more, alone, and the second result counts, because a
 * wait may be too short on a busy machine. The first failure stays in the output. More red files
 * are no coincidence.
 */
const TRIED_ALONE = 3

export interface TestCounts {
  passed: number
  failed: number
}

/** What became of test files. */
export interface TestRun extends TestCounts {
  /** Seconds of each file. */
  times: Record<string, number>
  /** Files that were red and ran again, and whether they were then green. */
  again: { file: string; isGreen: boolean }[]
}

/**
 * Runs test files and counts their assertions. Prints a line for each file when its process ends,
 * with its measurements and its failures.
 *
 * The files themselves print TAP. tap's own runner is not used, because it loses the last file when
 * another one exceeds its time.
 *
 * @param processes the files of each process
 * @param options.env environment of the tests
 */
export async function runFiles(
  processes: readonly (readonly string[])[],
  options: {
    env: NodeJS.ProcessEnv
    family: Family
    signal: AbortSignal
    print: (line: string) => void
  },
): Promise<TestRun> {
  const { env, family, signal, print } = options
  const waiting = [...processes]
  const all = processes.flat()
  const times: Record<string, number> = {}
  const reports = new Map<string, Report>()
  /** Files that were red, or without a report, beside others. */
  const suspects = new Set<string>()

  async function runProcess(files: readonly string[]): Promise<void> {
    const began = Date.now()
    const [first = ''] = files
    const isShared = files.length > 1
    const seconds = LIMIT_S[groupOf(first)] * (isShared ? 2 : 1)
    const args = [ROOMY, ...(isShared ? [SEVERAL, ...files] : files)]
    const { code, output, timedOut } = await runTool(process.execPath, args, {
      family,
      signal,
      cwd: process.cwd(),
      keep: KEPT_OUTPUT,
      within: (seconds + GRACE_S) * 1_000,
      env: { ...env, TAP_TIMEOUT: String(seconds) },
    })
    const took = (Date.now() - began) / 1_000
    const used = processorTime()
    if (!isShared) return tell(first, readReport(output, code), { took, used, timedOut })
    const found = readReports(output, files.length)
    if (code === 0 && found.length === files.length) {
      for (const [at, report] of found.entries()) tell(files[at]!, report, { took, timedOut })
      print(`These ${files.length} files shared a process${used}.`)
    } else {
      print(`A process of ${files.length} files failed${used}. Those that may be red run alone:`)
      for (const line of details(readReport(output, code), timedOut)) print(`    ${line}`)
      parted(files, at => found[at]?.failed !== 0)
    }
  }

  /**
   * The error of one file may be told beside another one, or end the process. So green files run
   * again, too: together, as long as one of them is red.
   */
  function parted(files: readonly string[], isRed: (at: number) => boolean): void {
    const { red = [], green = [] } = Object.groupBy(files, (_, at) => (isRed(at) ? 'red' : 'green'))
    for (const file of red) suspects.add(file)
    const alone = red.length === 0 ? green : red
    waiting.unshift(...alone.map(file => [file]))
    if (red.length > 0 && green.length > 0) waiting.unshift(green)
  }

  function tell(
    file: string,
    report: Report,
    { took, used = '', timedOut }: { took: number; used?: string; timedOut: boolean },
  ): void {
    const again = reports.has(file) || suspects.has(file) ? ', alone' : ''
    const seconds = report.seconds ?? took
    reports.set(file, report)
    times[file] ??= Math.round(seconds)
    print(
      `[${reports.size}/${all.length}] ${report.failed > 0 ? 'FAILED' : 'ok'}${again} ${file} ${seconds.toFixed(1)} s${used}`,
    )
    for (const line of details(report, timedOut && report.failed > 0)) print(`    ${line}`)
  }
  const isLong = all.some(file => groupOf(file) === 'long')
  const running = new Set<Promise<void>>()
  const places = isLong ? () => FEWEST - 1 : countPlaces()
  while (waiting.length + running.size > 0) {
    const files = running.size < places(running.size) ? waiting.shift() : undefined
    if (files === undefined) {
      await Promise.race([...running, ...(waiting.length > 0 ? [pause(LOOK_MS)] : [])])
      continue
    }
    const work = runProcess(files).finally(() => running.delete(work))
    running.add(work)
    // The race below throws it.
    work.catch(() => {})
  }
  const red = [...reports].flatMap(([file, { failed }]) =>
    failed > 0 && !suspects.has(file) ? [file] : [],
  )
  const isTriedAgain = all.length > 1 && red.length <= TRIED_ALONE
  if (isTriedAgain) for (const file of red) await runProcess([file])
  const sum = (of: keyof TestCounts) =>
    [...reports.values()].reduce((total, report) => total + report[of], 0)
  return {
    passed: sum('passed'),
    failed: sum('failed'),
    times,
    again: [...suspects, ...(isTriedAgain ? red : [])].map(file => ({
      file,
      isGreen: reports.get(file)?.failed === 0,
    })),
  }
}

/**
 * The processor time of all children that have ended, and of those that they waited for: fields 16
 * and 17 of proc(5). Undefined where there is no /proc.
 */
export function processorSeconds(): number | undefined {
  const stat = '/proc/self/stat'
  if (!existsSync(stat)) return undefined
  const fields = readFileSync(stat, 'utf8').split(') ').at(-1)!.split(' ')
  return (Number(fields[13]) + Number(fields[14])) / 100
}

let toldSeconds = 0
/** Tells what grew since the last child ended, which is the time of this one. */
function processorTime(): string {
  const now = processorSeconds()
  if (now === undefined) return ''
  const used = now - toldSeconds
  toldSeconds = now
  return `, ${used.toFixed(1)} s of processor`
}

/** Tells how many processes may run, by what the processors did since the last look. */
function countPlaces(): (running: number) => number {
  const look = () => {
    const times = cpus().map(one => one.times)
    const sum = (values: number[]) => values.reduce((all, ms) => all + ms, 0)
    return {
      at: performance.now(),
      idle: sum(times.map(({ idle }) => idle)),
      all: sum(times.flatMap(one => Object.values(one))),
    }
  }
  let before = look()
  let places = FEWEST
  return running => {
    if (performance.now() - before.at < LOOK_MS) return places
    const now = look()
    const share = (now.idle - before.idle) / Math.max(1, now.all - before.all)
    before = now
    const hasRoom = share >= IDLE && process.availableMemory() >= FREE
    if (hasRoom && running >= places) places = Math.min(MOST, places + 1)
    else if (share < BUSY) places = Math.max(FEWEST, places - 1)
    return places
  }
}

const details = (report: Report, timedOut: boolean): string[] => [
  ...(timedOut ? ['It did not end in time and was ended.'] : []),
  ...(report.failures.length > 0 ? report.failures : report.comments),
  ...report.skipped.map(skipped => `left out: ${skipped}`),
]

/** The results of a test file in TAP (https://testanything.org/tap-version-14-specification.html). */
interface Report {
  passed: number
  failed: number
  /** Comments from `t.comment`, such as measurements. */
  comments: string[]
  /** Skipped tests, and the reasons. */
  skipped: string[]
  /** The failures with their context: names of the tests around them, differences, places. */
  failures: string[]
  /** What the file took of a process that it shared. */
  seconds?: number
}

/** Reads the reports of files that shared a process (`several.ts`), in their order. */
function readReports(text: string, files: number): Report[] {
  const parts = text.split(/(?<=^# \{ total: .*\n)/m)
  return parts.slice(0, files).map(part => {
    const [, ms] = /^(?:not )?ok .* # time=([\d.]+)ms$/m.exec(part) ?? []
    return { ...readReport(part, 0), seconds: Number(ms ?? 0) / 1_000 }
  })
}

/**
 * Reads the report of a file that ended with `code`. A file that crashed, or ended before its plan,
 * has failed.
 */
export function readReport(text: string, code: number | null): Report {
  const lines = text.split('\n')
  const sum = lines.findLast(line => /^# \{ total: \d+/.test(line))
  const counted = (name: string) =>
    Number(new RegExp(`\\b${name}: (\\d+)`).exec(sum ?? '')?.[1] ?? 0)
  const failed = counted('fail')
  const brokenOff = sum === undefined || (code !== 0 && failed === 0)
  const passed =
    sum === undefined ? lines.filter(line => /^ +ok \d+/.test(line)).length : counted('pass')
  return {
    passed,
    failed: brokenOff ? failed + 1 : failed,
    comments: lines
      .filter(line => /^\s*# (?!Subtest|time=|\{ total)/.test(line))
      .map(line => line.trim()),
    skipped: lines.flatMap(line => / # SKIP ?(.*)$/i.exec(line)?.[0].trim() ?? []),
    failures:
      failed > 0 || brokenOff ? lines.filter(line => line.trim() !== '' && !isNoise(line)) : [],
  }
}

/** Passed tests and plans are noise beside a failure. */
const isNoise = (line: string) => /^\s*(ok \d+|\d+\.\.\d+$|# time=|TAP version)/.test(line)

/**
 * Runs a check (types, style, mutants) of the installed tools, and prints what it says. Types and
 * style say nothing when all is well.
 */
export async function check(
  name: string,
  args: readonly string[],
  print: (line: string) => void,
): Promise<TestCounts> {
  const began = Date.now()
  const [tool, ...rest] = args
  const { passed, output } = await promisify(execFile)(`node_modules/.bin/${tool}`, rest, {
    maxBuffer: KEPT_OUTPUT,
  }).then(
    ({ stdout }) => ({ passed: true, output: tool === 'node' ? stdout.trimEnd() : '' }),
    ({ message, stdout, stderr }) => ({
      passed: false,
      output: `${stdout}${stderr}`.trimEnd() || message,
    }),
  )
  const took = ((Date.now() - began) / 1_000).toFixed(1)
  print(`${passed ? 'ok' : 'FAILED'} ${name} ${took} s${processorTime()}`)
  if (output !== '') print(output)
  return { passed: Number(passed), failed: Number(!passed) }
}
