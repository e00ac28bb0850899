import { lchownSync, lstatSync, mkdirSync, statSync } from 'node:fs'
import { constants, enableCompileCache, getCompileCacheDir } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/*
 * Node can keep what it makes of a module: its JavaScript without types, and V8's code. A start
 * that finds both loads in 0.6 of the processor time. Modules that are loaded before the cache is
 * open are not kept, so this file imports none of ours.
 */

const MODULES = fileURLToPath(new URL('../../node_modules', import.meta.url))
/**
 * `npm ci` removes it together with the packages and Node, so each release begins without a cache.
 */
const FOLDERS = join(MODULES, '.cache', 'perscope')

/**
 * Opens the compile cache of our account, in a folder that no other account may write to: its files
 * are code that we run. The threads and the child processes of this process find the folder by
 * NODE_COMPILE_CACHE. If that is set already, Node has opened the cache that it names.
 *
 * Without a cache a start is slower, and nothing else changes.
 */
export function keepCompiled(): void {
  const account = process.geteuid?.()
  // With code from a cache, V8 counts calls less precisely, so measurements of coverage use none.
  if (account === undefined || process.env.NODE_V8_COVERAGE || getCompileCacheDir() !== undefined) return
  if (!makeCompiledFolder(account)) return
  const folder = folderOf(account)
  const { status } = enableCompileCache(folder)
  if (status === constants.compileCacheStatus.ENABLED) process.env.NODE_COMPILE_CACHE = folder
}

/**
 * Makes the folder of an account: our own, or as root the one that we change to.
 *
 * @returns whether there is one that only this account may write to
 */
export function makeCompiledFolder(account: number): boolean {
  const folder = folderOf(account)
  const own = process.geteuid?.()
  try {
    // If another account owns the packages, our files there would disturb its next `npm ci`.
    if (statSync(MODULES).uid === own) {
      mkdirSync(FOLDERS, { recursive: true, mode: 0o755 })
      const made = mkdirSync(folder, { recursive: true, mode: 0o700 }) !== undefined
      if (made && account !== own) lchownSync(folder, account, account)
    }
    return isPrivate(folder, account)
  } catch {
    return false
  }
}

const folderOf = (account: number) => join(FOLDERS, String(account))

/** @throws when there is none */
function isPrivate(folder: string, account: number): boolean {
  const found = lstatSync(folder)
  return found.isDirectory() && found.uid === account && (found.mode & 0o022) === 0
}

/**
 * Options of Node for an API. V8 collects garbage with four helper threads, and a request waits
 * until all of them are done. Where there are not as many free cores, they wait for one another:
 * with one helper the p99 of a mixed load on two cores is a half to a seventh
 * (`docs/experiments/README.md`). An API has a process for each core, so one is enough. Node takes
 * this option on the command line only. So package.json, docker-compose.yml, infra/Dockerfile and
 * infra/ha/systemd have it, too.
 */
export const API_NODE_OPTIONS = ['--v8-pool-size=1']

/** The variable by which a primary tells its processes their numbers. */
export const PROCESS_NUMBER = 'PERSCOPE_PROCESS'

/** The variable that is set for a process when others serve its service already. */
export const PROCESS_JOINS = 'PERSCOPE_JOINS'

/** Whether other processes behind the same port answer requests already. */
export const joinsOthers = () => process.connected && process.env[PROCESS_JOINS] !== undefined

/**
 * The number of this process among those that share a service behind one port. null: the process
 * runs the service by itself, or is the primary.
 */
export const processNumber = (): string | null => (process.connected ? (process.env[PROCESS_NUMBER] ?? null) : null)
