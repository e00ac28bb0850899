import { randomBytes } from 'node:crypto'
import { open, readFile, rename, rm } from 'node:fs/promises'
import { errorCode } from '../problem.ts'

/** Writes a file completely or not at all, also in a crash: under another name, synced, renamed. */
export async function writeWhole(path: string, text: string, mode = 0o600): Promise<void> {
  // All accounts may be able to write to the folder (`--write-env /tmp/env`). They cannot guess
  // this name, and `wx` refuses a file that exists.
  const aside = `${path}.${randomBytes(6).toString('hex')}.new`
  const file = await open(aside, 'wx', mode)
  try {
    try {
      await file.writeFile(text)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(aside, path)
  } catch (error) {
    await rm(aside, { force: true })
    throw error
  }
}

/** The text of a file, or null when there is none. */
export async function readIfThere(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null
    throw error
  }
}

/** The JSON object in a file; empty when the file is missing or damaged. */
export async function readRecord(path: string): Promise<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse((await readIfThere(path)) ?? '{}')
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch (error) {
    if (error instanceof SyntaxError) return {}
    throw error
  }
}
