import { readFileSync } from 'node:fs'

/** Of Linux, wherever Node runs on it (`getconf CLK_TCK`). */
const TICKS_PER_SECOND = 100

/** Fields of proc(5) `/proc/PID/stat`, counted from the one after the name. */
const [USER, SYSTEM, CHILDREN_USER, CHILDREN_SYSTEM] = [11, 12, 13, 14]

/** Seconds of processor time that processes took, with those of children that have ended. */
export function processorTime(pids: number[]): number {
  const ticks = pids.flatMap(pid => {
    try {
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ')
      return [USER, SYSTEM, CHILDREN_USER, CHILDREN_SYSTEM].map(at => Number(fields[at]))
    } catch {
      return [] // ended meanwhile; its parent has its time
    }
  })
  return ticks.reduce((sum, one) => sum + one, 0) / TICKS_PER_SECOND
}
