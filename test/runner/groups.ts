import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'

/** The group of a test file by its name. Each group belongs to a command. */
export type Group = 'quick' | 'slow' | 'long'

/**
 * - quick: `*.test.ts`, by `npm test`.
 * - slow: `*.slow.test.ts`, by `npm run test:all` too. Fleets, real time limits, large data.
 * - long: `*.long.test.ts`, by `npm run test:long` too. Fuzzing and faults for many minutes, and
 *   the whole of what the other groups try in part: hosts in a box, the image, random histories.
 */
const GROUPS: readonly Group[] = ['quick', 'slow', 'long']

/**
 * Seconds after which a file has failed. They are meant for a file that hangs, not for a busy
 * machine.
 */
export const LIMIT_S: Readonly<Record<Group, number>> = { quick: 300, slow: 900, long: 3_600 }

export const groupOf = (file: string): Group =>
  file.endsWith('.long.test.ts') ? 'long' : file.endsWith('.slow.test.ts') ? 'slow' : 'quick'

/** Seconds of each file when all files last ran with `--record`. */
export const TIMES: URL = new URL('times.json', import.meta.url)
export const readTimes = (): Record<string, number> => JSON.parse(readFileSync(TIMES, 'utf8'))

/**
 * What a process has once: its streams, memory, signals and threads. Its variables, path and number
 * are read, and its children end with the file.
 */
const OF_A_PROCESS =
  /(?<!\.)\bprocess\.(?!env\b(?!\.\w+ = )|execPath|pid|platform|get(eu|u)id)|node:worker_threads/
/** Whether a file may run after others in the same process. */
export const mayShare = (file: string): boolean =>
  groupOf(file) === 'quick' && !OF_A_PROCESS.test(readFileSync(file, 'utf8'))

/** Seconds of a file that runs alone, and of all files that share a process. */
const ALONE_S = 20
const TOGETHER_S = 40

/**
 * The files of each process, the longest process first. Quick files share processes, because most
 * of them take less time than their modules take to load. Neighbours share one, because they load
 * the same modules.
 */
export function shareProcesses(
  files: readonly string[],
  times: Readonly<Record<string, number>>,
  isShareable: (file: string) => boolean,
): string[][] {
  const timeOf = (file: string) => times[file] ?? ALONE_S
  const sum = (all: readonly string[]) => all.reduce((seconds, file) => seconds + timeOf(file), 0)
  const isShared = (file: string) => timeOf(file) < ALONE_S && isShareable(file)
  const shared: string[][] = [[]]
  for (const file of files.filter(isShared).sort()) {
    if (sum(shared[0]!) + timeOf(file) > TOGETHER_S) shared.unshift([])
    shared[0]!.push(file)
  }
  const alone = files.filter(file => !isShared(file)).map(file => [file])
  return [...alone, ...shared].filter(process => process.length > 0).sort((a, b) => sum(b) - sum(a))
}

/** The files that a command line selects. */
export interface Selection {
  all: boolean
  long: boolean
  /** Parts of paths; empty: every file of the groups. */
  parts: readonly string[]
}

/**
 * The files to run, group by group; a group without files is left out. Parts of paths choose among
 * quick and slow files. A long file needs `--long` or its whole path.
 *
 * The longest file of a group is the first, so that the short ones fill the gaps. A new file comes
 * before the others, because nobody knows how long it takes.
 *
 * @param times seconds that each file took
 */
export function selectFiles(
  files: readonly string[],
  { all, long, parts }: Selection,
  times: Readonly<Record<string, number>>,
): [Group, string[]][] {
  const wanted = GROUPS.slice(0, long ? 3 : all || parts.length > 0 ? 2 : 1)
  const named = new Set(parts.map(part => resolve(part)))
  const isChosen = (file: string) =>
    named.has(resolve(file)) ||
    (wanted.includes(groupOf(file)) &&
      (parts.length === 0 || parts.some(part => file.includes(part))))
  const timeOf = (file: string) => times[file] ?? Number.MAX_VALUE
  const chosen = files.filter(isChosen).sort((a, b) => timeOf(b) - timeOf(a) || (a < b ? -1 : 1))
  return GROUPS.map((group): [Group, string[]] => [
    group,
    chosen.filter(file => groupOf(file) === group),
  ]).filter(([, members]) => members.length > 0)
}
