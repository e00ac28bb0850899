import { type ChildProcess, spawn } from 'node:child_process'
import {
  closeSync,
  copyFileSync,
  openSync,
  readSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
} from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import type { Owner } from '#infra/embedded/accounts'
import { Problem } from '#infra/embedded/files'
import { withTimeLimit } from '#shared/resilience/time-limit'
import type { Family } from './family.ts'
import { signalGroup } from './processes.ts'

/*
 * Supervision keeps one program running. It starts the program, waits until it is ready, checks
 * that it answers, and restarts it when it has ended. When a program keeps ending soon after its
 * start, the pauses before the restarts grow. A program that hangs counts as ended.
 */

/** A program that is kept running. */
export interface Program {
  /** The name of the program in sentences: "Postgres". */
  name: string
  command: string
  args: readonly string[]
  cwd: string
  env: NodeJS.ProcessEnv
  /** The account of the program; null: ours. */
  owner: Owner | null
  /**
   * The open lock file of the program's data. The program gets it as file 3, so that the lock lasts
   * as long as the program runs.
   */
  lock?: number
  /** The file that takes the program's standard output and error. */
  log: string
  /** Called before every start: removes the remains of a crash. */
  prepare?(): Promise<void>
  /** Whether the program is ready for work. Called several times a second after a start. */
  isReady(): Promise<boolean>
  /**
   * Whether the program is alive, even if it is busy. Called every few seconds; a program that
   * stops answering is replaced. Absent: never called.
   */
  isAlive?: Ask
  /**
   * The reason why the program ended, found in its log since its start; null when the log does not
   * show it.
   */
  explain?(log: string): Problem | null
  /**
   * The signals that end the program, each with ms to wait before the next signal. SIGKILL is the
   * last one.
   */
  stop: readonly { signal: NodeJS.Signals; wait: number }[]
  /** The signal that ends the program after the supervisor was killed. */
  gentle: 'SIGTERM' | 'SIGQUIT'
}

/** A program under supervision. */
export interface Supervised {
  /** The id of the program's process; undefined while none runs. */
  pid(): number | undefined
  /** Asks the program to end, without a restart; resolves when it has ended. */
  stop(): Promise<void>
  /** Kills the program at once, without a restart. */
  kill(): void
}

const PROBE_MS = 100
const SHORTEST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5_000
/** ms. A program that has run longer is healthy: when it ends, it is restarted almost at once. */
const WELL_MS = 20_000
const FIRST_ATTEMPTS = 3
const REMIND_MS = 60_000
/** ms that a program without answers has to end in order, before it is killed. */
const GRACE_MS = 3_000

interface Supervision {
  family: Family
  report: (sentence: string) => void
  /** Aborts an unfinished start. */
  signal: AbortSignal
  /** `onLost` is called when the program has been down for this many ms; null: never. */
  giveUpAfter: number | null
  onLost: (problem: Problem) => void
  /** Whether the programs do not keep this process alive. */
  background: boolean
}

/** A program with its state. */
interface Watched {
  program: Program
  options: Supervision
  /** The latest process of the program; null before the first. */
  current: Launched | null
  /** Whether the program ends for good, without a restart. */
  stopping: boolean
  /** The reason why the program ended last. */
  why: string
  lostTimer: NodeJS.Timeout | undefined
}

/**
 * Starts a program, waits until it is ready, and restarts it whenever it ends. A program that hangs
 * is ended.
 *
 * @throws Problem when it does not become ready in the first `FIRST_ATTEMPTS` starts, or when its
 *   log gives a reason before
 */
export async function supervise(program: Program, options: Supervision): Promise<Supervised> {
  limitLog(program.log)
  const watched: Watched = {
    program,
    options,
    current: null,
    stopping: false,
    why: '',
    lostTimer: undefined,
  }
  const first = await startFirst(watched)
  void keepRunning(watched, first)
  return {
    pid: () => runningPid(watched),
    stop: () => stop(watched),
    kill() {
      watched.stopping = true
      const pid = runningPid(watched)
      if (pid) signalGroup(pid, 'SIGKILL')
    },
  }
}

async function startFirst(watched: Watched): Promise<Launched> {
  const { program, options } = watched
  for (let attempt = 1; ; attempt++) {
    await program.prepare?.()
    options.signal.throwIfAborted()
    const launched = start(watched)
    if (await becomesReady(watched, launched)) return launched
    if (options.signal.aborted) await stop(watched)
    options.signal.throwIfAborted()
    const how = await launched.ended
    const reason = explain(watched, launched)
    if (reason) throw reason
    if (attempt === FIRST_ATTEMPTS)
      throw new Problem(`${program.name} does not start (${how}); see ${program.log}.`)
    await pause(300 * attempt)
  }
}

function start(watched: Watched): Launched {
  const { program, options } = watched
  const launched = launch(program, options.family, options.background)
  watched.current = launched
  return launched
}

/** Waits until a process is ready. False: the process has ended before. */
async function becomesReady(watched: Watched, { child, gone }: Launched): Promise<boolean> {
  const { program, options } = watched
  let ready = false
  if (child.pid) void endWhenSilent(watched, child.pid, () => ready, gone)
  while (!gone.aborted && !watched.stopping && !options.signal.aborted) {
    ready = await program.isReady().catch(() => false)
    if (ready) return !gone.aborted
    await pause(PROBE_MS)
  }
  return false
}

async function endWhenSilent(
  watched: Watched,
  pid: number,
  isReady: () => boolean,
  gone: AbortSignal,
): Promise<void> {
  const { program, options } = watched
  if (!program.isAlive || !(await fallsSilent(program.isAlive, isReady, gone)) || watched.stopping)
    return
  options.report(`${program.name} has not answered for ${SILENCE_MS / 1_000} s and is ended.`)
  signalGroup(pid, program.gentle)
  await pause(GRACE_MS, undefined, { signal: gone, ref: false }).catch(() => {})
  if (!gone.aborted) signalGroup(pid, 'SIGKILL')
}

const explain = ({ program }: Watched, { written }: Launched): Problem | null =>
  program.explain?.(written()) ?? null

/** Restarts the program after each end, with longer and longer pauses while it keeps ending. */
async function keepRunning(watched: Watched, first: Launched): Promise<void> {
  const { program, options } = watched
  const news = createNews(program.name, options.report)
  let launched = first
  let rest = SHORTEST_PAUSE_MS
  while (!watched.stopping) {
    const began = Date.now()
    const how = await launched.ended
    if (watched.stopping) return
    if (options.giveUpAfter !== null)
      watched.lostTimer ??= setTimeout(giveUp, options.giveUpAfter, watched)
    watched.why = explain(watched, launched)?.message ?? how
    rest = Date.now() - began > WELL_MS ? SHORTEST_PAUSE_MS : Math.min(rest * 2, LONGEST_PAUSE_MS)
    news.ended(how, watched.why)
    await pause(rest)
    if (watched.stopping) return
    await program
      .prepare?.()
      .catch((error: Error) => options.report(`${program.name}: ${error.message}`))
    if (watched.stopping) return
    launched = start(watched)
    if (await becomesReady(watched, launched)) {
      clearTimeout(watched.lostTimer)
      watched.lostTimer = undefined
      news.back()
    }
  }
}

/** Reports the ends of a program. The same sentence is reported at most once a minute. */
function createNews(name: string, report: (sentence: string) => void) {
  let told = ''
  let toldAt = 0
  return {
    ended(how: string, why: string): void {
      const sentence = `${name} ${how}; it is started again.${why === how ? '' : ` ${why}`}`
      if (sentence === told && Date.now() - toldAt <= REMIND_MS) return
      report(sentence)
      told = sentence
      toldAt = Date.now()
    },
    back(): void {
      told = ''
      report(`${name} is back.`)
    },
  }
}

function giveUp({ program, options, stopping, why }: Watched): void {
  const reason = why.replace(/\.$/, '')
  if (!stopping)
    options.onLost(
      new Problem(`${program.name} does not come back (${reason}); see ${program.log}.`),
    )
}

async function stop(watched: Watched): Promise<void> {
  const { program, current } = watched
  watched.stopping = true
  clearTimeout(watched.lostTimer)
  current?.child.ref()
  for (const step of [...program.stop, { signal: 'SIGKILL', wait: 1_000 } as const]) {
    const pid = runningPid(watched)
    if (!current || !pid) return
    signalGroup(pid, step.signal)
    const ended = current.ended.then(() => true)
    const gone = await withTimeLimit(ended, step.wait, () => false)
    if (gone) return
  }
}

const runningPid = ({ current }: Watched): number | undefined =>
  current?.gone.aborted ? undefined : current?.child.pid

/**
 * One process of a program. `ended` resolves with a part of a sentence: "ended with code 1". `gone`
 * is then aborted. `written` returns the text that the process has written to the log.
 */
interface Launched {
  child: ChildProcess
  ended: Promise<string>
  gone: AbortSignal
  written(): string
}

/**
 * Starts a process of a program, as a member of the family.
 * @param background whether the process does not keep this process alive
 */
function launch(program: Program, family: Family, background: boolean): Launched {
  const start = logSize(program.log)
  const child = spawnLogged(program)
  if (background) child.unref()
  const { pid } = child
  if (pid) family.adopt(pid, program.gentle)
  const gone = new AbortController()
  const ended = new Promise<string>(resolve => {
    const end = (how: string) => {
      gone.abort()
      if (pid) family.release(pid)
      resolve(how)
    }
    child.on('error', error => end(error.message))
    child.once('exit', (code, signal) =>
      end(signal ? `ended by ${signal}` : `ended with code ${code}`),
    )
  })
  return { child, ended, gone: gone.signal, written: () => readLog(program.log, start) }
}

function spawnLogged({ command, args, cwd, env, owner, lock, log }: Program): ChildProcess {
  const output = openLog(log)
  const child = spawn(command, args, {
    cwd,
    env,
    stdio: ['ignore', output, output, ...(lock === undefined ? [] : [lock])],
    // The program gets a session of its own. Ctrl-C in a terminal then reaches only this process,
    // which ends the programs in their order.
    detached: true,
    ...(owner && { uid: owner.uid, gid: owner.gid }),
  })
  closeSync(output)
  return child
}

/** Bytes, and ms. A log that is longer or older is copied to `NAME.1` and emptied. */
const LONGEST_LOG = 64 * 1024 * 1024
const OLDEST_LOG = 7 * 86_400_000
const CHECK_MS = 60_000

/**
 * Opens a log for a child in append mode, so that `limitLog` can empty the log while the child
 * writes.
 */
const openLog = (path: string): number => openSync(path, 'a', 0o640)

/** Limits the size and the age of a log, and of its copy, as long as this process lives. */
const limitLog = (path: string) => void setInterval(rotate, CHECK_MS, path).unref()

/**
 * Copies a log that is too long or too old to `NAME.1`, and empties it. If the disk has no room for
 * the copy, the lines are lost, because other data need the room more.
 */
export function rotate(path: string): void {
  const copy = `${path}.1`
  const log = statSync(path, { throwIfNoEntry: false })
  if (log === undefined) return
  const since = statSync(copy, { throwIfNoEntry: false })?.mtimeMs ?? log.birthtimeMs
  if (log.size < LONGEST_LOG && Date.now() - since < OLDEST_LOG) return
  try {
    rmSync(copy, { force: true })
    copyFileSync(path, copy)
    utimesSync(copy, new Date(), new Date())
  } catch {
    rmSync(copy, { force: true })
  }
  truncateSync(path)
}

const logSize = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0

/** The text of a log from byte `from` on; only the last 8 KB of a longer text. */
function readLog(path: string, from: number): string {
  const size = logSize(path)
  const start = Math.max(from, size - 8_192, 0)
  if (size <= start) return ''
  const buffer = Buffer.alloc(size - start)
  const fd = openSync(path, 'r')
  return buffer.subarray(0, readSync(fd, buffer, 0, buffer.length, start)).toString()
}

/** ms that an answer may take. A program on a busy machine is slow, but does not hang. */
export const ANSWER_MS = 10_000
/** ms from an answer to the next check. */
const REST_MS = 3_000
/** A program that answered no check for this many ms counts as hung. */
const SILENCE_MS = 30_000

/**
 * Checks whether a program is alive. A refusal is an answer, too. No answer: false, or an error.
 */
type Ask = (signal: AbortSignal) => Promise<boolean>

/** Checks with a GET of `url`. Any answer counts. */
export const askHttp =
  (url: string): Ask =>
  async signal => {
    const { fetch } = await import('undici')
    await (await fetch(url, { signal })).arrayBuffer()
    return true
  }

/**
 * Checks a program again and again. True: it has not answered for `SILENCE_MS`. False: it has
 * ended. A program counts as starting until its first answer, or until `hasStarted`. A start may
 * take any time.
 *
 * The code counts unanswered checks instead of time, because the machine may have slept. A check
 * that took far too long does not count, because this process itself stood still.
 */
async function fallsSilent(
  ask: Ask,
  hasStarted: () => boolean,
  gone: AbortSignal,
): Promise<boolean> {
  let heard = false
  let silent = 0
  while (!gone.aborted) {
    const began = performance.now()
    const answered = await answers(ask)
    if (answered) {
      heard = true
      silent = 0
    } else if (heard || hasStarted()) {
      // A check that failed at once also takes the time of a check that timed out.
      await rest(ANSWER_MS - (performance.now() - began), gone)
      if (performance.now() - began < 2 * ANSWER_MS) silent += ANSWER_MS
      if (silent >= SILENCE_MS) return !gone.aborted
      continue
    }
    await rest(REST_MS, gone)
  }
  return false
}

/** Checks once, and waits at most `ANSWER_MS`, even for a check that cannot be aborted. */
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
