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
  if (UNTRUSTED.includes(code)) {
    return `The server's certificate is of an authority that is not trusted (${code}); name the file of the right one in TLS_CA_FILE.`
  }
  if (code === 'CERT_HAS_EXPIRED') return "The server's certificate has expired; give it a new one."
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    const host = 'host' in error && typeof error.host === 'string' ? ` ${error.host}` : ''
    return `The server's certificate is not for the host${host}; write a host that it names, or give the server another one.`
  }
  return null
}
