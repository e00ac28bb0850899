import { closeSync, openSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ACCOUNTS } from './accounts.ts'
import { sentenceOf } from './command.ts'

const CHECKOUT = fileURLToPath(new URL('../..', import.meta.url))

/** Threads read these, and what lies beside them, whenever one is started. */
const NEEDED = [
  join(CHECKOUT, 'package.json'),
  fileURLToPath(import.meta.url),
  join(CHECKOUT, 'node_modules', 'piscina', 'package.json'),
]

/**
 * Gives up root's rights for good, for the account of the services; does nothing for anybody else.
 * Whatever only root may read or open has to be open by then. The account has to be able to read
 * the checkout: otherwise, and where root may not change accounts, the process stays what it is.
 *
 * @returns a sentence when root's rights stay, else null
 */
export function dropRights(): string | null {
  if (process.getuid?.() !== 0) return null
  const id = ACCOUNTS.services
  try {
    const closed = closedTo(id)
    if (closed !== null) {
      return `Root's rights stay: the account ${id}, which is to work in its place, cannot read ${closed}; run "chmod o+rx ${closed}", or start as an ordinary user.`
    }
    process.setgroups?.([])
    process.setgid?.(id)
    process.setuid?.(id)
    return null
  } catch (error) {
    return `Root's rights stay: this root cannot change to the account ${id} (${sentenceOf(error)}).`
  }
}

/**
 * What of the checkout, or above it, the account cannot read; null: nothing. Tried as that account.
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

/** The highest on the way to a file that cannot be read or entered. */
function firstClosed(file: string): string | null {
  if (isReadable(file)) return null
  let closed = file
  for (let path = dirname(file); ; path = dirname(path)) {
    // A folder that may only be passed is open enough: what is below it tells.
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

/** A name that is not there tells it from one that must not be asked for. */
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
