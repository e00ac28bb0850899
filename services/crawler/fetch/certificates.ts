import { constants, X509Certificate } from 'node:crypto'
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls'
import { LRUCache } from 'lru-cache'
import { readTarget } from '#shared/articles/address'

/**
 * The certificates for checking connections: the authorities of the system's Node, and intermediate
 * certificates that hosts failed to send. The intermediate ones only fill gaps of chains. A chain
 * must still end at an authority, because OpenSSL ends no chain at a certificate that another
 * certificate has issued.
 */
export interface Trust {
  /** Undefined: Node's own context is used. */
  context(): SecureContext | undefined
  /** Whether one of the authorities has issued the certificate. */
  isIssuedByAuthority(certificate: X509Certificate): boolean
  remember(found: X509Certificate[]): void
  /** Whether the chain of the host may be completed now; at most once in `TRY_AGAIN`. */
  mayTry(host: string): boolean
}

/**
 * As browsers do, we also connect to servers without secure renegotiation. This is safe, because we
 * never renegotiate.
 */
export const SECURE_OPTIONS: number = constants.SSL_OP_LEGACY_SERVER_CONNECT

/**
 * How many hosts the crawler remembers whose chain it has tried to complete, and how many fetched
 * certificates it keeps. When it has this many certificates, it drops all before it adds new ones.
 */
const MOST_HOSTS = 1_000
const MOST_INTERMEDIATES = 100
/** ms between two tries to complete the chain of one host. */
const TRY_AGAIN = 3_600_000

/** @param authorities PEM; by default Node's authorities, with those in NODE_EXTRA_CA_CERTS */
export function createTrust(authorities?: string[]): Trust {
  const tried = new LRUCache<string, true>({ max: MOST_HOSTS, ttl: TRY_AGAIN })
  const intermediates = new Map<string, string>()
  const ca = () => authorities ?? getCACertificates('default')
  const contextOf = () =>
    createSecureContext({ ca: [...ca(), ...intermediates.values()], secureOptions: SECURE_OPTIONS })
  let context = authorities === undefined ? undefined : contextOf()

  return {
    context: () => context,
    isIssuedByAuthority: certificate =>
      ca()
        .map(pem => new X509Certificate(pem))
        .some(
          authority =>
            certificate.checkIssued(authority) && certificate.verify(authority.publicKey),
        ),
    remember(found) {
      if (intermediates.size >= MOST_INTERMEDIATES) intermediates.clear()
      for (const certificate of found)
        intermediates.set(certificate.fingerprint256, String(certificate))
      // The context is made only when certificates change, because it holds all authorities and
      // takes long to make.
      context = contextOf()
    },
    mayTry(host) {
      if (tried.has(host)) return false
      tried.set(host, true)
      return true
    },
  }
}

/** The most certificates that we fetch for one host. Usually one is missing. */
const MOST_FETCHED = 3
/** The most bytes of a certificate. Real ones have about two thousand. */
export const CERTIFICATE_LIMIT = 32_768

/**
 * Fetches the certificates between a host's own certificate and an authority. The address of each
 * is in the certificate before it (RFC 5280 §4.2.2.1, "CA Issuers"). Each must be a certificate of
 * an authority, and must have signed the one before it. A root is never taken, because only the
 * system decides which roots we trust.
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
 * The first address without TLS. A host with TLS could itself need a missing certificate, without
 * end.
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
