import { setTimeout as pause } from 'node:timers/promises'
import { withTimeLimit } from '../../../shared/resilience/time-limit.ts'
import { Problem } from '../problem.ts'
import type { Family } from './family.ts'
import { type Launched, launch } from './launch.ts'
import { limitLog } from './logs.ts'
import { signalGroup } from './processes.ts'
import type { Program, Supervised } from './program.ts'
import { fallsSilent, SILENCE_MS } from './silence.ts'

const PROBE_MS = 100
const SHORTEST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5_000
/** A program that ran for so long counts as well: after its end it is started again at once. */
const WELL_MS = 20_000
const FIRST_ATTEMPTS = 3
const REMIND_MS = 60_000
/** The time that a program which fell silent has to end in order. */
const GRACE_MS = 3_000

export interface Supervision {
  family: Family
  report: (sentence: string) => void
  /** Ends an unfinished start. */
  signal: AbortSignal
  /** `onLost` is called after so many ms without the program; null: we try for ever. */
  giveUpAfter: number | null
  onLost: (problem: Problem) => void
  /** The programs do not keep our own process alive. */
  background: boolean
}

/** A program and what we know of it. */
interface Watched {
  program: Program
  options: Supervision
  /** Its latest process; null before the first. */
  current: Launched | null
  /** It is ended for good. */
  stopping: boolean
  /** The reason of its last end. */
  why: string
  lostTimer: NodeJS.Timeout | undefined
}

/**
 * Starts a program, waits until it is ready, and starts it again whenever it ends. A program that
 * hangs is ended.
 *
 * @throws Problem when it does not become ready after the first start
 */
export async function supervise(program: Program, options: Supervision): Promise<Supervised> {
  limitLog(program.log)
  const watched: Watched = { program, options, current: null, stopping: false, why: '', lostTimer: undefined }
  const first = await startFirst(watched)
  void keepRunning(watched, first)
  return {
    name: program.name,
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
    if (attempt === FIRST_ATTEMPTS) throw new Problem(`${program.name} does not start (${how}); see ${program.log}.`)
    await pause(300 * attempt)
  }
}

function start(watched: Watched): Launched {
  const { program, options } = watched
  const launched = launch(program, options.family, options.background)
  watched.current = launched
  return launched
}

/** Waits until a process is ready. False: it ended before. */
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

async function endWhenSilent(watched: Watched, pid: number, isReady: () => boolean, gone: AbortSignal): Promise<void> {
  const { program, options } = watched
  if (!program.isAlive || !(await fallsSilent(program.isAlive, isReady, gone)) || watched.stopping) return
  options.report(`${program.name} has not answered for ${SILENCE_MS / 1_000} s and is ended.`)
  signalGroup(pid, program.gentle)
  await pause(GRACE_MS, undefined, { signal: gone, ref: false }).catch(() => {})
  if (!gone.aborted) signalGroup(pid, 'SIGKILL')
}

const explain = ({ program }: Watched, { written }: Launched): Problem | null => program.explain?.(written()) ?? null

/** Starts the program again after each end, with longer and longer pauses while it keeps ending. */
async function keepRunning(watched: Watched, first: Launched): Promise<void> {
  const { program, options } = watched
  const news = createNews(program.name, options.report)
  let launched = first
  let rest = SHORTEST_PAUSE_MS
  while (!watched.stopping) {
    const began = Date.now()
    const how = await launched.ended
    if (watched.stopping) return
    if (options.giveUpAfter !== null) watched.lostTimer ??= setTimeout(giveUp, options.giveUpAfter, watched)
    watched.why = explain(watched, launched)?.message ?? how
    rest = Date.now() - began > WELL_MS ? SHORTEST_PAUSE_MS : Math.min(rest * 2, LONGEST_PAUSE_MS)
    news.ended(how, watched.why)
    await pause(rest)
    if (watched.stopping) return
    await program.prepare?.().catch((error: Error) => options.report(`${program.name}: ${error.message}`))
    if (watched.stopping) return
    launched = start(watched)
    if (await becomesReady(watched, launched)) {
      clearTimeout(watched.lostTimer)
      watched.lostTimer = undefined
      news.back()
    }
  }
}

/** Reports the ends of a program. The same sentence is reported once a minute at most. */
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
  if (!stopping) options.onLost(new Problem(`${program.name} does not come back (${reason}); see ${program.log}.`))
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
