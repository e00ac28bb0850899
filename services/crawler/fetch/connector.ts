import { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import { TLSSocket } from 'node:tls'
import { buildConnector } from 'undici'
import { type AddressRule, lookupAmong } from '#shared/addresses'
import type { Config } from '#shared/config/config'
import { SETTINGS } from '#shared/config/settings'
import { createTrust, SECURE_OPTIONS, type Trust } from './certificates.ts'
import { RequestFailure } from './request-failure.ts'

/**
 * Connects only to permitted addresses and ports. The check is made for each connection, so neither
 * a redirect nor a name that resolves differently the second time can avoid it. Of a name with
 * several addresses only the permitted ones are tried. The system resolves names.
 *
 * @param timeout ms for connecting, TLS included
 * @param trust by default the authorities of Node
 */
export function guardedConnector(
  rule: AddressRule,
  timeout: number,
  trust: Trust = createTrust(),
): buildConnector.connector {
  const build = (permitted: (address: string) => boolean, onWebPort: boolean) =>
    trusting(trust, {
      timeout,
      lookup: lookupAmong(permitted, (name, all) => forbidden(rule, name, all, onWebPort)),
      maxCachedSessions: 100,
      allowH2: true,
    })
  const onEveryPort = build(address => rule.isOpened(address), false)
  const isAsked = (address: string) =>
    rule.isOpened(address) || (rule.asksPublic && rule.isPublic(address))
  const onPublicPorts = build(isAsked, true)
  return (options, callback) => {
    const port = Number(options.port || (options.protocol === 'https:' ? 443 : 80))
    const isPublicPort = rule.isPublicPort(port)
    // An address in the URL itself is never looked up, so it is checked here.
    const host = options.hostname.replace(/^\[|\]$/g, '')
    if (isIP(host) !== 0 && !rule.isOpened(host) && !(isPublicPort && isAsked(host))) {
      callback(forbidden(rule, host, [host], isPublicPort), null)
      return
    }
    const connect = isPublicPort ? onPublicPorts : onEveryPort
    connect(options, callback)
  }
}

/** Connects with the certificates that `trust` has at this moment. */
function trusting(trust: Trust, options: buildConnector.BuildOptions): buildConnector.connector {
  let secureContext = trust.context()
  const build = () =>
    buildConnector({
      ...options,
      ...(secureContext === undefined ? { secureOptions: SECURE_OPTIONS } : { secureContext }),
    })
  let connect = build()
  return (asked, callback) => {
    if (trust.context() !== secureContext) {
      secureContext = trust.context()
      connect = build()
    }
    let explained = (error: Error) => error
    const socket: unknown = connect(asked, (...[error, connected]) => {
      if (error === null) callback(null, connected)
      else callback(explained(error), null)
    })
    explained = noteCertificate(socket)
  }
}

/**
 * Whether CRAWL_USER_AGENT names the operator. The default value names a contact that nobody reads.
 */
export const introducesItself = ({ CRAWL_USER_AGENT }: Pick<Config, 'CRAWL_USER_AGENT'>): boolean =>
  CRAWL_USER_AGENT !== SETTINGS.CRAWL_USER_AGENT.default

/** The headers that identify the crawler (RFC 9110 §10.1). */
export const introduction = ({ CRAWL_USER_AGENT, CRAWL_FROM }: Config): Record<string, string> => ({
  'user-agent': CRAWL_USER_AGENT,
  ...(CRAWL_FROM === '' ? {} : { from: CRAWL_FROM }),
})

/** The steps for an operator before the crawler requests anything from the web. */
export const HELD =
  'held: CRAWL_USER_AGENT is not set; set it to a name, an address and a contact of yours, as "NewsBot/1.0 (+https://example.org/bot; bot@example.org)"'

function forbidden(
  rule: AddressRule,
  host: string,
  addresses: string[],
  onWebPort: boolean,
): RequestFailure {
  if (!addresses.some(address => rule.isPublic(address)))
    return new RequestFailure(
      'private-address',
      `${host} has no public address; CRAWL_ALLOW_PRIVATE opens ranges`,
    )
  if (onWebPort && !rule.asksPublic) return new RequestFailure('held', HELD)
  return new RequestFailure('port', `${host} is asked for on a port that CRAWL_PORTS does not hold`)
}

/**
 * The host sends its own certificate without the certificates that link it to an authority.
 * Browsers fetch the missing ones from the addresses that the certificate names.
 */
export class IncompleteChain extends RequestFailure {
  override name = 'IncompleteChain'
  readonly certificate: X509Certificate

  constructor(certificate: X509Certificate, cause: unknown) {
    super('tls', 'the host does not send all certificates of its chain', cause)
    this.certificate = certificate
  }
}

const MISSING_ISSUER = new Set([
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
])

/**
 * Keeps the certificate of a connection, in case the connection is refused. Node destroys a refused
 * connection at once, with its certificate. So the certificate is read just before that.
 *
 * @returns a function that converts the connection's error into an `IncompleteChain`, if it is one
 */
function noteCertificate(socket: unknown): (error: Error) => Error {
  let certificate: Buffer | undefined
  if (socket instanceof TLSSocket) {
    // This does not call `getPeerX509Certificate`, because Node's own checks do not find the
    // certificate after that call.
    socket.prependOnceListener('secure', () => {
      certificate = socket.getPeerCertificate().raw
    })
  }
  return error =>
    certificate !== undefined && 'code' in error && MISSING_ISSUER.has(String(error.code))
      ? new IncompleteChain(new X509Certificate(certificate), error)
      : error
}
