import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import type { Family } from '#infra/embedded/supervision/family'

/** How a process ended. `asked`: the harness had sent it a signal that ends it. */
export interface End {
  at: number
  member: string
  code: number | null
  signal: NodeJS.Signals | null
  asked: NodeJS.Signals | null
  /** ms from the signal to the end; null when none was sent. */
  took: number | null
}

/** A process that is started again whenever it ends, as any supervisor would. */
export interface Member {
  name: string
  ends: End[]
  log: string
  /** Null between an end and the next start. */
  pid(): number | null
  /** Whether it is there, and was not sent a signal that ends or stops it. */
  isWell(): boolean
  /** Sends a signal to the process and to what it started; false when there is none. */
  signal(signal: NodeJS.Signals): boolean
  /** Kills it, and nobody starts it again. */
  abandon(): void
  stop(): Promise<void>
}

export interface MemberOptions {
  name: string
  command: string
  args: readonly string[]
  env: NodeJS.ProcessEnv
  cwd?: string
  log: string
  family: Family
  /** Before every start but the first. */
  prepare?: () => Promise<void>
}

/** @returns whether there was such a process */
export function signalProcess(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal)
  } catch {
    return false
  }
}

const PAUSE_MS = 300
const LONGEST_PAUSE_MS = 2_000
const WELL_MS = 5_000
const STOP_MS = 20_000

export function startMember(options: MemberOptions): Member {
  const { name, family } = options
  const ends: End[] = []
  let child: ChildProcess | null = null
  let asked: { signal: NodeJS.Signals; at: number } | null = null
  let stopped = false
  let paused = false
  let pause = PAUSE_MS
  let timer: NodeJS.Timeout | undefined
  let gone: () => void = () => {}
  launch()

  function launch(): void {
    const log = openSync(options.log, 'a')
    const began = Date.now()
    // A group of its own: Ctrl-C reaches the harness alone, and a kill reaches what the process has
    // started.
    const started = spawn(options.command, options.args, {
      env: options.env,
      stdio: ['ignore', log, log],
      detached: true,
      cwd: options.cwd,
    })
    closeSync(log)
    child = started
    asked = null
    if (started.pid) family.adopt(started.pid, 'SIGTERM')
    started.once('exit', (code, signal) => {
      const now = Date.now()
      if (started.pid) family.release(started.pid)
      ends.push({
        at: now,
        member: name,
        code,
        signal,
        asked: asked?.signal ?? null,
        took: asked && now - asked.at,
      })
      child = null
      paused = false
      if (stopped) return gone()
      pause = now - began > WELL_MS ? PAUSE_MS : Math.min(pause * 2, LONGEST_PAUSE_MS)
      timer = setTimeout(again, pause)
    })
  }
  async function again(): Promise<void> {
    await options.prepare?.()
    if (!stopped) launch()
  }

  /** @returns whether there was a process to send it to */
  function send(signal: NodeJS.Signals): boolean {
    if (!child?.pid) return false
    if (signal === 'SIGKILL' || (signal === 'SIGTERM' && !asked)) asked = { signal, at: Date.now() }
    if (signal === 'SIGSTOP') paused = true
    if (signal === 'SIGCONT') {
      // A process that stands still cannot end when it is asked to.
      if (paused && asked) asked.at = Date.now()
      paused = false
    }
    return signalProcess(-child.pid, signal)
  }
  async function stop(): Promise<void> {
    stopped = true
    clearTimeout(timer)
    if (!child) return
    const ended = new Promise<void>(resolve => {
      gone = resolve
    })
    send('SIGCONT')
    send('SIGTERM')
    const late = setTimeout(send, STOP_MS, 'SIGKILL')
    await ended
    clearTimeout(late)
  }

  function abandon(): void {
    stopped = true
    clearTimeout(timer)
    send('SIGKILL')
  }

  return {
    name,
    ends,
    log: options.log,
    pid: () => child?.pid ?? null,
    isWell: () => child !== null && asked === null && !paused,
    signal: send,
    abandon,
    stop,
  }
}
