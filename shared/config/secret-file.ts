import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'

/** More than any address, key or password takes. */
const MOST_BYTES = 65_536

/**
 * Reads a secret from a file, as containers and systemd credentials give them. Space around it and
 * the line's end do not count.
 *
 * @returns a secret, or one sentence that says why there is none
 */
export function readSecretFile(path: string): { secret: string } | { problem: string } {
  try {
    // Opened before it is looked at, so that both are the same file. A pipe must not make it wait.
    const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    try {
      const stat = fstatSync(file)
      if (!stat.isFile()) return { problem: 'it is no file' }
      if (stat.size > MOST_BYTES) return { problem: `it is longer than ${MOST_BYTES} bytes` }
      const secret = readFileSync(file, 'utf8').trim()
      if (secret === '') return { problem: 'it is empty' }
      return /[\r\n\0]/.test(secret) ? { problem: 'it has more than one line' } : { secret }
    } finally {
      closeSync(file)
    }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
    return { problem: REASONS[code] ?? `it cannot be read (${code})` }
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EACCES: 'this user may not read it',
}
