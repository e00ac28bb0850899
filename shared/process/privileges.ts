import { closeSync, openSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sentenceOf } from './command.ts'

const CHECKOUT = fileURLToPath(new URL('../..', import.meta.url))

/** Threads read these files, and those beside them, at each start. */
const NEEDED = [
  join(CHECKOUT, 'package.json'),
  fileURLToPath(import.meta.url),
  join(CHECKOUT, 'node_modules', 'piscina', 'package.json'),
]

/**
 * Changes from root to the account of the services, for good. Does nothing for other accounts.
 * Files and ports that only root may open must be open by then. The process stays root when the
 * account cannot read the checkout, or when root may not change accounts.
 *
 * @returns a sentence when root's rights stay, else null
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
 * The first path of the checkout, or above it, that the account cannot read; null: none. Tried as
 * that account.
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

/** The highest folder above a file that cannot be read or entered. */
function firstClosed(file: string): string | null {
  if (isReadable(file)) return null
  let closed = file
  for (let path = dirname(file); ; path = dirname(path)) {
    // A folder that may be passed but not listed is enough; the paths below it decide.
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

/** The error for a missing name differs from the error for a forbidden folder. */
function isPassable(folder: string): boolean {
  try {
    readFileSync(join(folder, '.perscope-none'))
    return true
  } catch (error) {
    return !isForbidden(error)
  }
}

const isForbidden = (error: unknown) => error instanceof Error && 'code' in error && error.code === 'EACCES'

/** Ports below this need root's rights. */
export function firstOpenPort(): number {
  try {
    return Number(readFileSync('/proc/sys/net/ipv4/ip_unprivileged_port_start', 'utf8'))
  } catch {
    return 1_024
  }
}

/**
 * The accounts that parts run under when root starts them, user and group alike. The numbers have
 * no entry in any table of users: they own nothing, nobody can log in with them, and they need not
 * be created. No system hands out ids from 65520 to 65533 (https://systemd.io/UIDS-GIDS/), and a
 * container has them too.
 */
export const ACCOUNTS = { services: 65_520, qdrant: 65_521, model: 65_522 } as const
