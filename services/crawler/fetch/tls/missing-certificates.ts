import { X509Certificate } from 'node:crypto'
import { readAddress } from '../../../../shared/articles/address.ts'
import type { Trust } from './trust.ts'

/** Certificates that we fetch for one host. Real chains lack one. */
const MOST_FETCHED = 3
/** Bytes of a certificate. Real ones have two thousand. */
export const CERTIFICATE_LIMIT = 32_768

/**
 * Fetches the certificates between a host's own one and an authority, each from the address that
 * the one before names (RFC 5280 §4.2.2.1, "CA Issuers"). Each must be an authority's own and have
 * signed the one before. A root is never taken: only the system names those that we trust.
 *
 * @param fetch reads at most `CERTIFICATE_LIMIT` bytes; null: there is no answer
 * @returns null when the chain cannot be completed
 */
export async function missingCertificates(
  own: X509Certificate,
  trust: Pick<Trust, 'isIssuedByAuthority'>,
  fetch: (address: URL) => Promise<Buffer | null>,
): Promise<X509Certificate[] | null> {
  const found: X509Certificate[] = []
  let last = own
  while (found.length < MOST_FETCHED) {
    const address = issuerAddress(last)
    const issuer = address === null ? null : readCertificate(await fetch(address))
    if (issuer === null || !hasIssued(issuer, last) || hasIssued(issuer, issuer)) return null
    found.push(issuer)
    if (trust.isIssuedByAuthority(issuer)) return found
    last = issuer
  }
  return null
}

function hasIssued(issuer: X509Certificate, certificate: X509Certificate): boolean {
  try {
    return issuer.ca && certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey)
  } catch {
    return false
  }
}

/** The first plain address: one that needs TLS itself could lead in a circle. */
function issuerAddress({ infoAccess }: X509Certificate): URL | null {
  for (const line of (infoAccess ?? '').slice(0, 10_000).split('\n')) {
    const written = /^CA Issuers - URI:"?(http:\/\/[^"\s]+)/i.exec(line)?.[1]
    const url = written === undefined ? null : readAddress(written)
    if (url !== null) {
      url.hash = ''
      url.username = ''
      url.password = ''
      return url
    }
  }
  return null
}

/** DER, as the standard asks, or PEM. */
function readCertificate(bytes: Buffer | null): X509Certificate | null {
  if (bytes === null || bytes.length >= CERTIFICATE_LIMIT) return null
  try {
    return new X509Certificate(bytes)
  } catch {
    return null
  }
}
