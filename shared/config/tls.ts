import { readFileSync, statSync } from 'node:fs'

/** Most bytes of a file with certificates. All public authorities together take less. */
const MOST_BYTES = 1_048_576

/** The part of TLS options that says whom to trust; empty: the authorities that Node knows. */
export interface Trust {
  ca?: string
}

/**
 * Reads the certificates of authorities from a file in PEM form.
 *
 * @returns the certificates, or half a sentence that says why there are none
 */
export function readAuthority(path: string): { certificates: string } | { problem: string } {
  const read = readSmallFile(path, MOST_BYTES)
  if ('problem' in read) return read
  return read.text.includes('-----BEGIN CERTIFICATE-----')
    ? { certificates: read.text }
    : { problem: 'it holds no certificate in PEM form' }
}

/** The text of a file that a setting names, or half a sentence that says why there is none. */
export function readSmallFile(path: string, mostBytes: number): { text: string } | { problem: string } {
  try {
    // Reading from a pipe could wait for ever.
    const stat = statSync(path)
    if (!stat.isFile()) return { problem: 'it is no file' }
    if (stat.size > mostBytes) return { problem: `it is longer than ${mostBytes} bytes` }
    return { text: readFileSync(path, 'utf8') }
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

/**
 * Whom connections to our own servers trust: the authorities of `TLS_CA_FILE` and no other, or
 * without that setting those that Node knows. The crawler's connections to outlets do not use it.
 *
 * @throws when the file cannot be read any more; `readConfig` has checked it at the start
 */
export function trustOf({ TLS_CA_FILE }: { TLS_CA_FILE: string }): Trust {
  if (TLS_CA_FILE === '') return {}
  const read = readAuthority(TLS_CA_FILE)
  if ('problem' in read) throw new Error(`TLS_CA_FILE is "${TLS_CA_FILE}", and ${read.problem}.`)
  return { ca: read.certificates }
}

/**
 * Values of libpq's `sslmode` with which it asks for TLS and checks the server's certificate, or
 * may check it.
 */
const CHECKED = ['require', 'verify-ca', 'verify-full']

/**
 * Adds the authorities' file to the address of a Postgres that asks for TLS and names no file
 * itself. Everything that connects by this address then uses the file: pools, pg-boss, BullMQ,
 * threads, `pg_dump`, `psql`.
 */
export function withAuthority(address: string, file: string): string {
  if (!/^postgres(ql)?:/.test(address) || !URL.canParse(address)) return address
  const { searchParams } = new URL(address)
  if (!CHECKED.includes(searchParams.get('sslmode') ?? '') || searchParams.has('sslrootcert')) return address
  return `${address}&sslrootcert=${encodeURIComponent(file)}`
}

/** Codes of OpenSSL, as Node writes them, for a certificate of an authority that is not trusted. */
const UNTRUSTED = [
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'CERT_SIGNATURE_FAILURE',
]

/**
 * Why the certificate of one of our servers was refused, as a sentence; null for all other errors.
 */
export function certificateRefusal(error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error)) return null
  const { code } = error
  if (typeof code !== 'string') return null
  if (UNTRUSTED.includes(code))
    return `The server's certificate is of an authority that is not trusted (${code}); name the file of the right one in TLS_CA_FILE.`
  if (code === 'CERT_HAS_EXPIRED') return "The server's certificate has expired; give it a new one."
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    const host = 'host' in error && typeof error.host === 'string' ? ` ${error.host}` : ''
    return `The server's certificate is not for the host${host}; write a host that it names, or give the server another one.`
  }
  return null
}
