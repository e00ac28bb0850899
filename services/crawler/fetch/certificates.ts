import { constants, X509Certificate } from 'node:crypto'
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls'
import { readAddress } from '../../../shared/articles/address.ts'

/**
 * The certificates that connections are checked against: the authorities of the system's Node, and
 * intermediate certificates that hosts should have sent but did not.
 */
export interface Trust {
  /** Undefined: the host sends all that is needed. */
  contextFor(host: string): SecureContext | undefined
  /** Whether one of the authorities has issued the certificate. */
  isIssuedByAuthority(certificate: X509Certificate): boolean
  /**
   * Remembers certificates that a host does not send. They only fill gaps of chains: a chain must
   * still end at an authority, because OpenSSL trusts no certificate that another one has issued.
   */
  remember(host: string, intermediates: X509Certificate[]): void
  /** Whether an hour has passed since the host's chain was last completed, or could not be. */
  mayTry(host: string): boolean
}

/**
 * As browsers do, we also connect to servers that cannot renegotiate securely: we never
 * renegotiate.
 */
export const SECURE_OPTIONS = constants.SSL_OP_LEGACY_SERVER_CONNECT

/** Hosts and certificates that are remembered; the oldest are forgotten first. */
const MOST_HOSTS = 1_000
const MOST_INTERMEDIATES = 100
/** ms between two tries to complete the chain of one host. */
const TRY_AGAIN = 3_600_000

/** @param authorities PEM; by default those of Node, with the ones of NODE_EXTRA_CA_CERTS */
export function createTrust(authorities?: string[]): Trust {
  const hosts = new Set<string>()
  const tried = new Map<string, number>()
  const intermediates = new Map<string, X509Certificate>()
  const ca = () => authorities ?? getCACertificates('default')
  let parsed: X509Certificate[] | null = null
  let context: SecureContext | null = null
  const contextOf = (certificates: string[]) => createSecureContext({ ca: certificates, secureOptions: SECURE_OPTIONS })
  const own = authorities === undefined ? undefined : contextOf(authorities)

  return {
    contextFor(host) {
      if (!hosts.has(host)) return own
      // Made anew only when a certificate is added: it holds all authorities, which takes 20 ms.
      context ??= contextOf([...ca(), ...[...intermediates.values()].map(String)])
      return context
    },
    isIssuedByAuthority(certificate) {
      parsed ??= ca().map(pem => new X509Certificate(pem))
      return parsed.some(authority => certificate.checkIssued(authority) && certificate.verify(authority.publicKey))
    },
    remember(host, found) {
      hosts.add(host)
      for (const certificate of found) {
        if (intermediates.has(certificate.fingerprint256)) continue
        intermediates.set(certificate.fingerprint256, certificate)
        context = null
      }
      dropOldest(hosts, MOST_HOSTS)
      dropOldest(intermediates, MOST_INTERMEDIATES)
    },
    mayTry(host) {
      const now = performance.now()
      if (now - (tried.get(host) ?? Number.NEGATIVE_INFINITY) < TRY_AGAIN) return false
      tried.delete(host)
      tried.set(host, now)
      dropOldest(tried, MOST_HOSTS)
      return true
    },
  }
}

function dropOldest(kept: { size: number; keys(): Iterable<string>; delete(key: string): boolean }, most: number) {
  for (const key of kept.keys()) {
    if (kept.size <= most) return
    kept.delete(key)
  }
}

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
