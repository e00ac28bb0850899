import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { withTimeLimit } from '../../../shared/resilience/time-limit.ts'
import { Problem } from '../problem.ts'
import type { Family } from './family.ts'
import { limitLog, logSize, openLog, readLog } from './logs.ts'
import { signalGroup } from './processes.ts'
import type { Program, Supervised } from './program.ts'
import { fallsSilent, SILENCE_MS } from './silence.ts'

const PROBE_MS = 100
const SHORTEST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5_000
/** A program that ran so long is taken for well: its next start comes at once again. */
const WELL_MS = 20_000
const FIRST_ATTEMPTS = 3
const REMIND_MS = 60_000
/** What a program that fell silent has left to end in order. */
const GRACE_MS = 3_000

export interface Supervision {
  family: Family
  report: (sentence: string) => void
  /** Ends an unfinished start. */
  signal: AbortSignal
  /** After so many ms without the program `onLost` is called; null: it is tried for ever. */
  giveUpAfter: number | null
  onLost: (problem: Problem) => void
  /** The programs do not keep our own process alive. */
  background: boolean
}

/**
 * Starts a program, waits until it is ready, and starts it again whenever it ends. One that hangs
 * is ended.
 * @throws Problem when it does not come up the first time
 */
export async function supervise(program: Program, options: Supervision): Promise<Supervised> {
  const { family, report, signal, giveUpAfter } = options
  let stopping = false
  let child: ChildProcess | null = null
  let ready = false
  let ended: Promise<string> = Promise.resolve('')
  let logged = 0
  let why = ''
  let lostTimer: NodeJS.Timeout | undefined
  limitLog(program.log)

  /** Resolves with how it ended once the process is gone. */
  function launch(): Promise<string> {
    logged = logSize(program.log)
    const log = openLog(program.log)
    const { owner } = program
    const started = spawn(program.command, program.args, {
      cwd: program.cwd,
      env: program.env,
      stdio: ['ignore', log, log, ...(program.lock === undefined ? [] : [program.lock])],
      // A session of its own: Ctrl-C in a terminal reaches us alone, and we end things in their
      // order.
      detached: true,
      ...(owner && { uid: owner.uid, gid: owner.gid }),
    })
    closeSync(log)
    if (options.background) started.unref()
    child = started
    ready = false
    const { pid } = started
    const gone = new AbortController()
    if (pid) {
      family.adopt(pid, program.gentle)
      void endWhenSilent(pid, gone.signal)
    }
    return new Promise(resolve => {
      const done = (how: string) => {
        gone.abort()
        if (pid) family.release(pid)
        if (child === started) child = null
        resolve(how)
      }
      started.once('error', error => done(error.message))
      started.once('exit', (code, by) => done(by ? `ended by ${by}` : `ended with code ${code}`))
    })
  }

  async function endWhenSilent(pid: number, gone: AbortSignal): Promise<void> {
    if (!program.isAlive || !(await fallsSilent(program.isAlive, () => ready, gone)) || stopping) return
    report(`${program.name} has not answered for ${SILENCE_MS / 1_000} s and is ended.`)
    signalGroup(pid, program.gentle)
    await pause(GRACE_MS, undefined, { signal: gone, ref: false }).catch(() => {})
    if (!gone.aborted) signalGroup(pid, 'SIGKILL')
  }

  const explain = () => program.explain?.(readLog(program.log, logged)) ?? null

  /** Waits until the program is ready; false when it ended before. */
  async function becomesReady(): Promise<boolean> {
    let gone = false
    ended.then(() => {
      gone = true
    })
    while (!gone && !stopping && !signal.aborted) {
      ready = await program.isReady().catch(() => false)
      if (ready) return !gone
      await pause(PROBE_MS)
    }
    return false
  }

  async function firstStart(): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      await program.prepare?.()
      signal.throwIfAborted()
      ended = launch()
      if (await becomesReady()) return
      if (signal.aborted) await stop()
      signal.throwIfAborted()
      const how = await ended
      const reason = explain()
      if (reason) throw reason
      if (attempt === FIRST_ATTEMPTS) throw new Problem(`${program.name} does not start (${how}); see ${program.log}.`)
      await pause(300 * attempt)
    }
  }

  async function keepRunning(): Promise<void> {
    let rest = SHORTEST_PAUSE_MS
    let told = ''
    let toldAt = 0
    while (!stopping) {
      const began = Date.now()
      const how = await ended
      if (stopping) return
      if (giveUpAfter !== null) lostTimer ??= setTimeout(giveUp, giveUpAfter)
      why = explain()?.message ?? how
      rest = Date.now() - began > WELL_MS ? SHORTEST_PAUSE_MS : Math.min(rest * 2, LONGEST_PAUSE_MS)
      const sentence = `${program.name} ${how}; it is started again.${why === how ? '' : ` ${why}`}`
      // What ends again and again for the same reason, as on a full disk, is no news each time.
      if (sentence !== told || Date.now() - toldAt > REMIND_MS) {
        report(sentence)
        told = sentence
        toldAt = Date.now()
      }
      await pause(rest)
      if (stopping) return
      await program.prepare?.().catch((error: Error) => report(`${program.name}: ${error.message}`))
      if (stopping) return
      ended = launch()
      if (await becomesReady()) {
        clearTimeout(lostTimer)
        lostTimer = undefined
        told = ''
        report(`${program.name} is back.`)
      }
    }
  }

  function giveUp(): void {
    const reason = why.replace(/\.$/, '')
    if (!stopping) options.onLost(new Problem(`${program.name} does not come back (${reason}); see ${program.log}.`))
  }

  async function stop(): Promise<void> {
    stopping = true
    clearTimeout(lostTimer)
    child?.ref()
    for (const step of [...program.stop, { signal: 'SIGKILL', wait: 1_000 } as const]) {
      if (!child?.pid) return
      signalGroup(child.pid, step.signal)
      const gone = await withTimeLimit(
        ended.then(() => true),
        step.wait,
        () => false,
      )
      if (gone) return
    }
  }

  await firstStart()
  void keepRunning()
  return {
    name: program.name,
    stop,
    kill() {
      stopping = true
      if (child?.pid) signalGroup(child.pid, 'SIGKILL')
    },
  }
}
