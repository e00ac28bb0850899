import { lchownSync, lstatSync, mkdirSync, statSync } from 'node:fs'
import { constants, enableCompileCache, getCompileCacheDir } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/*
 * Node can cache its work on a module: its JavaScript without types, and V8's code. A start that
 * finds both loads in 0.6 of the processor time. Node does not cache modules that are loaded before
 * the cache is open, so this file imports none of ours.
 */

const MODULES = fileURLToPath(new URL('../../node_modules', import.meta.url))
/**
 * `npm ci` deletes this folder together with the packages, so each release begins with an empty
 * cache.
 */
const FOLDERS = join(MODULES, '.cache', 'perscope')

/**
 * Opens the compile cache of our account. Its files are code that we run, so no other account may
 * write to the folder. Threads and child processes find the folder by NODE_COMPILE_CACHE. If this
 * variable is already set, Node has already opened that cache.
 *
 * Without a cache a start is slower, and nothing else changes.
 */
export function keepCompiled(): void {
  const account = process.geteuid?.()
  // With cached code, V8 counts calls less precisely. So measurements of coverage use no cache.
  if (account === undefined || process.env.NODE_V8_COVERAGE || getCompileCacheDir() !== undefined)
    return
  const folder = makeCompiledFolder(account)
  if (folder === null) return
  const { status } = enableCompileCache(folder)
  if (status === constants.compileCacheStatus.ENABLED) process.env.NODE_COMPILE_CACHE = folder
}

/**
 * Makes the cache folder of an account: of our own account, or, as root, of the account to which we
 * change.
 *
 * @returns the folder, to which only this account may write; null: there is none
 */
export function makeCompiledFolder(account: number): string | null {
  const folder = join(FOLDERS, String(account))
  const own = process.geteuid?.()
  try {
    // If another account owns the packages, our files there would disturb that account's next
    // `npm ci`.
    if (statSync(MODULES).uid === own) {
      mkdirSync(FOLDERS, { recursive: true, mode: 0o755 })
      const made = mkdirSync(folder, { recursive: true, mode: 0o700 }) !== undefined
      if (made && account !== own) lchownSync(folder, account, account)
    }
    return isPrivate(folder, account) ? folder : null
  } catch {
    return null
  }
}

/** @throws when the folder does not exist */
function isPrivate(folder: string, account: number): boolean {
  const found = lstatSync(folder)
  return found.isDirectory() && found.uid === account && (found.mode & 0o022) === 0
}

/**
 * Options of Node for an API. By default V8 collects garbage with four helper threads, and a
 * request waits until all of them are done. With fewer free cores, the threads wait for one
 * another. On two cores, one thread lowers the p99 of a mixed load to between a half and a seventh
 * (`docs/experiments/README.md`). An API has a process for each core, so one thread is enough. Node
 * accepts this option only on the command line, so package.json, docker-compose.yml,
 * infra/Dockerfile and infra/ha/systemd also have it.
 */
export const API_NODE_OPTIONS: string[] = ['--v8-pool-size=1']

/** The variable in which a primary passes each of its processes its number. */
export const PROCESS_NUMBER = 'PERSCOPE_PROCESS'

/** The variable is set for a process that joins others which already serve its service. */
export const PROCESS_JOINS = 'PERSCOPE_JOINS'

/** Whether other processes behind the same port already answer requests. */
export const joinsOthers = (): boolean =>
  process.connected && process.env[PROCESS_JOINS] !== undefined

/**
 * The number of this process among those that share a service behind one port. null: the process
 * runs the service by itself, or is the primary.
 */
export const processNumber = (): string | null =>
  process.connected ? (process.env[PROCESS_NUMBER] ?? null) : null
