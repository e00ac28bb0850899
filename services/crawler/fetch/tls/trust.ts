import { constants, X509Certificate } from 'node:crypto'
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls'

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
