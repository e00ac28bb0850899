import { readSmallFile } from './tls.ts'

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/**
 * Milliseconds of a duration written as `500ms`, `30s`, `5m`, `2h`, `1d`, or a bare `0`. Returns
 * null for other texts.
 */
export const parseDuration = (text: string): number | null => amountOf(text, UNITS)

const SIZES = { kB: 2 ** 10, MB: 2 ** 20, GB: 2 ** 30 }

/**
 * Bytes of a size written as `512kB`, `64MB`, `2GB` or `1.5GB` (powers of 1,024), or a bare `0`.
 * Returns null for other texts.
 */
export const parseBytes = (text: string): number | null => amountOf(text, SIZES)

function amountOf(text: string, units: Readonly<Record<string, number>>): number | null {
  if (/^0+$/.test(text)) return 0
  const [, number, unit = ''] = /^(\d{1,9}(?:\.\d{1,3})?)([a-zA-Z]+)$/.exec(text.trim()) ?? []
  return Object.hasOwn(units, unit) ? Math.round(Number(number) * units[unit]!) : null
}

/** The most bytes of a secret's file. Every address, key or password takes less. */
const MOST_BYTES = 65_536

/**
 * Reads a secret from a file, as containers and systemd credentials provide it. Ignores white space
 * around the secret.
 *
 * @returns the secret, or half a sentence that says why there is none
 */
export function readSecretFile(path: string): { secret: string } | { problem: string } {
  const read = readSmallFile(path, MOST_BYTES)
  if ('problem' in read) return read
  const secret = read.text.trim()
  if (secret === '') return { problem: 'it is empty' }
  return /[\r\n\0]/.test(secret) ? { problem: 'it has more than one line' } : { secret }
}
