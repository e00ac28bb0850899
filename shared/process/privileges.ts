import { closeSync, openSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sentenceOf } from './command.ts'

const CHECKOUT = fileURLToPath(new URL('../..', import.meta.url))

/** Files that the services need later. Threads read them, and files beside them, at each start. */
const NEEDED = [
  join(CHECKOUT, 'package.json'),
  fileURLToPath(import.meta.url),
  join(CHECKOUT, 'node_modules', 'piscina', 'package.json'),
]

/**
 * Changes from root to the account of the services for good. Does nothing for other accounts. The
 * caller first opens the files and ports that only root may open. The process stays root when the
 * account cannot read the checkout, or when root may not change accounts.
 *
 * @returns a sentence when the process stays root; otherwise null
 */
export function dropPrivileges(): string | null {
  if (process.getuid?.() !== 0) return null
  const id = ACCOUNTS.services
  try {
    const closed = closedTo(id)
    if (closed !== null)
      return `Root's rights stay: the account ${id}, which is to work in its place, cannot read ${closed}; run "chmod o+rx ${closed}", or start as an ordinary user.`
    process.setgroups?.([])
    process.setgid?.(id)
    process.setuid?.(id)
    return null
  } catch (error) {
    return `Root's rights stay: this root cannot change to the account ${id} (${sentenceOf(error)}).`
  }
}

/**
 * The first path of the checkout, or above it, that the account cannot read; null: it can read all.
 * To find out, the process becomes this account for a moment.
 */
function closedTo(id: number): string | null {
  const groups = process.getgroups?.() ?? []
  process.setgroups?.([])
  try {
    process.setegid?.(id)
    process.seteuid?.(id)
    return NEEDED.map(firstClosed).find(path => path !== null) ?? null
  } finally {
    process.seteuid?.(0)
    process.setegid?.(0)
    process.setgroups?.(groups)
  }
}

/**
 * The highest folder above a file that the process cannot enter, or else the file; null: the
 * process can read the file.
 */
function firstClosed(file: string): string | null {
  if (isReadable(file)) return null
  let closed = file
  for (let path = dirname(file); ; path = dirname(path)) {
    // A folder need not be readable if the process may enter it. The paths below it decide.
    if (!isPassable(path)) closed = path
    if (path === dirname(path)) return closed
  }
}

function isReadable(path: string): boolean {
  try {
    closeSync(openSync(path, 'r'))
    return true
  } catch (error) {
    return !isForbidden(error)
  }
}

/** Tries to open a missing file. A forbidden folder gives another error than a missing name. */
function isPassable(folder: string): boolean {
  try {
    readFileSync(join(folder, '.perscope-none'))
    return true
  } catch (error) {
    return !isForbidden(error)
  }
}

const isForbidden = (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === 'EACCES'

/** The first port that needs no rights of root. */
export function firstOpenPort(): number {
  try {
    return Number(readFileSync('/proc/sys/net/ipv4/ip_unprivileged_port_start', 'utf8'))
  } catch {
    return 1_024
  }
}

/**
 * The accounts of the parts when root starts them, as user and as group. The numbers are in no
 * table of users. So the accounts own nothing, nobody can log in with them, and they need not be
 * created. No system hands out ids from 65520 to 65533 (https://systemd.io/UIDS-GIDS/), and a
 * container has them too.
 */
export const ACCOUNTS = { services: 65_520, qdrant: 65_521, model: 65_522 } as const
