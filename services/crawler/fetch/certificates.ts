import { constants, X509Certificate } from 'node:crypto'
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls'
import { LRUCache } from 'lru-cache'
import { readTarget } from '../../../shared/articles/address.ts'

/**
 * The certificates that connections are checked against: the authorities of the system's Node, and
 * intermediate certificates that hosts should have sent but did not. The intermediate ones only
 * fill gaps of chains. A chain must still end at an authority: OpenSSL ends none at a certificate
 * that another one has issued.
 */
export type Trust = ReturnType<typeof createTrust>

/**
 * As browsers do, we also connect to servers that cannot renegotiate securely. That does no harm,
 * because we never renegotiate.
 */
export const SECURE_OPTIONS = constants.SSL_OP_LEGACY_SERVER_CONNECT

/**
 * Most tries, and most certificates, that are remembered. When the certificates are that many, all
 * of them are forgotten before new ones are added.
 */
const MOST_HOSTS = 1_000
const MOST_INTERMEDIATES = 100
/** ms between two tries to complete the chain of one host. */
const TRY_AGAIN = 3_600_000

/** @param authorities PEM; by default those of Node, with the ones of NODE_EXTRA_CA_CERTS */
export function createTrust(authorities?: string[]) {
  const tried = new LRUCache<string, true>({ max: MOST_HOSTS, ttl: TRY_AGAIN })
  const intermediates = new Map<string, string>()
  const ca = () => authorities ?? getCACertificates('default')
  const contextOf = () =>
    createSecureContext({ ca: [...ca(), ...intermediates.values()], secureOptions: SECURE_OPTIONS })
  let context = authorities === undefined ? undefined : contextOf()

  return {
    /** Undefined: Node's own context serves. */
    context: (): SecureContext | undefined => context,
    /** Whether one of the authorities has issued the certificate. */
    isIssuedByAuthority: (certificate: X509Certificate): boolean =>
      ca()
        .map(pem => new X509Certificate(pem))
        .some(authority => certificate.checkIssued(authority) && certificate.verify(authority.publicKey)),
    remember(found: X509Certificate[]) {
      if (intermediates.size >= MOST_INTERMEDIATES) intermediates.clear()
      for (const certificate of found) intermediates.set(certificate.fingerprint256, String(certificate))
      // The context is made only here, because it holds all authorities, and making it takes 20 ms.
      context = contextOf()
    },
    /** Whether an hour has passed since completing the host's chain was last tried. */
    mayTry(host: string): boolean {
      if (tried.has(host)) return false
      tried.set(host, true)
      return true
    },
  }
}

/** Most certificates that we fetch for one host. Real chains lack one. */
const MOST_FETCHED = 3
/** Most bytes of a certificate. Real ones have about two thousand. */
export const CERTIFICATE_LIMIT = 32_768

/**
 * Fetches the certificates between a host's own one and an authority, each from the address that
 * the one before names (RFC 5280 §4.2.2.1, "CA Issuers"). Each must be the certificate of an
 * authority, and must have signed the one before. A root is never taken, because only the system
 * says which roots we trust.
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

/**
 * The first address without TLS. An address with TLS could need a missing certificate itself, and
 * lead in a circle.
 */
function issuerAddress({ infoAccess }: X509Certificate): URL | null {
  for (const line of (infoAccess ?? '').slice(0, 10_000).split('\n')) {
    const written = /^CA Issuers - URI:"?(http:\/\/[^"\s]+)/i.exec(line)?.[1]
    const url = written === undefined ? null : readTarget(written)
    if (url !== null) return url
  }
  return null
}

/** Reads a certificate in DER, as the standard demands, or in PEM. */
function readCertificate(bytes: Buffer | null): X509Certificate | null {
  if (bytes === null || bytes.length >= CERTIFICATE_LIMIT) return null
  try {
    return new X509Certificate(bytes)
  } catch {
    return null
  }
}
