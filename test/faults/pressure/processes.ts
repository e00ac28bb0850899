import type { ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** MB of memory that a process holds now. */
export function memoryOf({ pid }: ChildProcess): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Math.round(Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1024)
}

/** Lets a process run only for a share of the time, until it is told to stop that. */
export function slowProcess({ pid = 0 }: ChildProcess, share: number): () => void {
  const PERIOD = 1_000
  const go = () => {
    process.kill(pid, 'SIGCONT')
    timer = setTimeout(halt, PERIOD * share)
  }
  const halt = () => {
    process.kill(pid, 'SIGSTOP')
    timer = setTimeout(go, PERIOD * (1 - share))
  }
  let timer = setTimeout(halt, 0)
  return () => {
    clearTimeout(timer)
    process.kill(pid, 'SIGCONT')
  }
}
