import { randomBytes } from 'node:crypto'
import { open, readFile, rename, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { parseJson } from '#shared/encoding/json'

/**
 * An error that the operator has to solve. The message is one sentence that says how to solve it.
 */
export class Problem extends Error {
  override name = 'Problem'
}

/** The code of a system error (`ENOSPC`, `EACCES` …), or an empty text. */
export const errorCode = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''

/**
 * The problem behind a failure to write in `dataDir`, found in a system error or in the log of a
 * server. Null: it is of no known kind.
 */
export function diskProblem(error: unknown, dataDir: string): Problem | null {
  const text =
    typeof error === 'string'
      ? error
      : `${errorCode(error)} ${error instanceof Error ? error.message : ''}`
  if (/ENOSPC|EDQUOT|No space left on device|Disk quota exceeded/i.test(text)) {
    return new Problem(
      `The disk that holds DATA_DIR ${dataDir} is full; free some space there, or set DATA_DIR to a folder on another disk.`,
    )
  }
  if (/EROFS|Read-only file system/i.test(text))
    return new Problem(
      `DATA_DIR ${dataDir} is on a read-only disk; set DATA_DIR to a folder that can be written.`,
    )
  if (/ENOTDIR|EEXIST/.test(text)) return new Problem(notAFolder(dataDir))
  if (/EACCES|EPERM/.test(text))
    return new Problem(
      `DATA_DIR ${dataDir} cannot be written by this user; set DATA_DIR to a folder of your own.`,
    )
  return null
}

export const notAFolder = (dataDir: string): string =>
  `DATA_DIR ${dataDir} is not a folder; set DATA_DIR to one, or to a path that is still free.`

/**
 * Writes a file completely or not at all, even in a crash: under another name, synced, then
 * renamed.
 */
export async function writeWhole(path: string, text: string, mode = 0o600): Promise<void> {
  // All accounts may be able to write to the folder (`--write-env /tmp/env`). They cannot guess
  // this name, and `wx` refuses an existing file.
  const aside = `${path}.${randomBytes(6).toString('hex')}.new`
  await using file = await open(aside, 'wx', mode)
  try {
    await file.writeFile(text)
    await file.sync()
    await rename(aside, path)
  } catch (error) {
    await rm(aside, { force: true })
    throw error
  }
}

/** The text of a file; null when the file does not exist. */
export async function readIfThere(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null
    throw error
  }
}

const require = createRequire(import.meta.url)

/**
 * The file of a package that npm has installed for this platform.
 *
 * @throws Problem with the sentence `missing` when there is none
 */
export function fileOfPackage(name: string, missing: string): string {
  try {
    return require.resolve(name)
  } catch (error) {
    if (errorCode(error) !== 'MODULE_NOT_FOUND') throw error
    throw new Problem(missing)
  }
}

/** The secret in a file that only its owner can read; `make` makes it the first time. */
export async function secretIn(file: string, make: () => string): Promise<string> {
  const known = (await readIfThere(file))?.trim()
  if (known) return known
  const secret = make()
  await writeWhole(file, `${secret}\n`)
  return secret
}

/** The JSON object, or list, in a file; empty when the file is missing or damaged. */
export async function readRecord(path: string): Promise<Record<string, unknown>> {
  const value = parseJson((await readIfThere(path)) ?? '')
  return typeof value === 'object' && value !== null ? { ...value } : {}
}
