import { readFileSync, statSync } from 'node:fs'

/**
 * The most bytes of a file with certificates. The certificates of all public authorities take less.
 */
const MOST_BYTES = 1_048_576

/** The TLS options for trusted authorities; empty: the authorities that Node trusts. */
export interface Trust {
  ca?: string
}

/**
 * Reads the certificates of authorities from a PEM file.
 *
 * @returns the certificates; or half a sentence that says why there are none
 */
export function readAuthority(path: string): { certificates: string } | { problem: string } {
  const read = readSmallFile(path, MOST_BYTES)
  if ('problem' in read) return read
  return read.text.includes('-----BEGIN CERTIFICATE-----')
    ? { certificates: read.text }
    : { problem: 'it holds no certificate in PEM form' }
}

/**
 * Reads the file that a setting names. @returns its text, or half a sentence that says why there is
 * none
 */
export function readSmallFile(
  path: string,
  mostBytes: number,
): { text: string } | { problem: string } {
  try {
    // Refuses a pipe, because reading from it could block for ever.
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
 * The authorities for connections to our own servers: only the authorities in `TLS_CA_FILE`.
 * Without that setting, all authorities that Node trusts. The crawler does not use this for its
 * connections to outlets.
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
 * The values of libpq's `sslmode` with which a client asks for TLS. The client then checks the
 * server's certificate, or may check it.
 */
const CHECKED = ['require', 'verify-ca', 'verify-full']

/**
 * Adds the authorities' file to the address of a Postgres server, if the address asks for TLS and
 * has no such file. All users of the address then use the file: pools, pg-boss, BullMQ, threads,
 * `pg_dump`, `psql`.
 */
export function withAuthority(address: string, file: string): string {
  if (!/^postgres(ql)?:/.test(address) || !URL.canParse(address)) return address
  const { searchParams } = new URL(address)
  if (!CHECKED.includes(searchParams.get('sslmode') ?? '') || searchParams.has('sslrootcert'))
    return address
  return `${address}&sslrootcert=${encodeURIComponent(file)}`
}

/** OpenSSL's error codes, as Node writes them, for a certificate whose authority is not trusted. */
const UNTRUSTED = [
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'CERT_SIGNATURE_FAILURE',
]

/**
 * Why TLS refused the certificate of one of our servers, as a sentence; null for all other errors.
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
