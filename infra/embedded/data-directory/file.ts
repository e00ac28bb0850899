import { randomBytes } from 'node:crypto'
import { open, readFile, rename, rm } from 'node:fs/promises'
import { errorCode } from '../problem.ts'

/** Writes a file whole or not at all, also through a crash: aside, to the disk, then renamed. */
export async function writeWhole(path: string, text: string, mode = 0o600): Promise<void> {
  // The folder may be one of all accounts (`--write-env /tmp/env`): nobody foresees the name, and
  // what is there is not taken.
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

/** An object of a file's JSON; empty when the file is missing or was damaged. */
export async function readRecord(path: string): Promise<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse((await readIfThere(path)) ?? '{}')
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch (error) {
    if (error instanceof SyntaxError) return {}
    throw error
  }
}
