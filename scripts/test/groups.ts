import { resolve } from 'node:path'

/** The group of a test file by its name. Each group belongs to a command. */
export type Group = 'quick' | 'slow' | 'long'

/**
 * - quick: `*.test.ts`, by `npm test`. Together they take at most four minutes on two quiet cores.
 * - slow: `*.slow.test.ts`, by `npm run test:all` too. Fleets, real time limits, large data.
 * - long: `*.long.test.ts`, by `npm run test:long` too. Fuzzing and faults for many minutes.
 */
const GROUPS: readonly Group[] = ['quick', 'slow', 'long']

/**
 * Seconds after which a file has failed. They are meant for a file that hangs, not for a busy
 * machine.
 */
export const LIMIT_S: Readonly<Record<Group, number>> = { quick: 300, slow: 900, long: 3_600 }

export const groupOf = (file: string): Group =>
  file.endsWith('.long.test.ts') ? 'long' : file.endsWith('.slow.test.ts') ? 'slow' : 'quick'

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
 */
export function selectFiles(
  files: readonly string[],
  { all, long, parts }: Selection,
): [Group, string[]][] {
  const wanted = GROUPS.slice(0, long ? 3 : all || parts.length > 0 ? 2 : 1)
  const named = new Set(parts.map(part => resolve(part)))
  const isChosen = (file: string) =>
    named.has(resolve(file)) ||
    (wanted.includes(groupOf(file)) &&
      (parts.length === 0 || parts.some(part => file.includes(part))))
  const chosen = files.filter(isChosen).sort(longestFirst)
  return GROUPS.map((group): [Group, string[]] => [
    group,
    chosen.filter(file => groupOf(file) === group),
  ]).filter(([, members]) => members.length > 0)
}

/** Files with real servers take longest. They start first, so that the short ones fill the gaps. */
function longestFirst(a: string, b: string): number {
  const isLonger = (file: string) => Number(file.startsWith('test/'))
  return isLonger(b) - isLonger(a) || (a < b ? -1 : 1)
}
