import { X509Certificate } from 'node:crypto'
import { type LookupAddress, type LookupOptions, lookup } from 'node:dns'
import { isIP } from 'node:net'
import { TLSSocket } from 'node:tls'
import ipaddr from 'ipaddr.js'
import { buildConnector } from 'undici'
import { type Config, ConfigError } from '../../../shared/config/config.ts'
import { SETTINGS } from '../../../shared/config/settings.ts'
import { createTrust, SECURE_OPTIONS, type Trust } from './certificates.ts'
import { RequestFailure } from './request-failure.ts'

/**
 * Connects only to permitted addresses and ports. Each connection checks its own address. A name
 * that resolves differently the second time therefore does not pass, nor does a redirect. Of a name
 * with several addresses only the permitted ones are tried. The system resolves names.
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
      lookup: guardedLookup(rule, permitted, onWebPort),
      maxCachedSessions: 100,
      allowH2: true,
    })
  const onEveryPort = build(address => rule.isOpened(address), false)
  const isAsked = (address: string) => rule.isOpened(address) || (rule.asksPublic && rule.isPublic(address))
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

/** Connects with the certificates that are trusted at this moment. */
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

function guardedLookup(rule: AddressRule, permitted: (address: string) => boolean, onWebPort: boolean) {
  return (
    name: string,
    options: LookupOptions,
    callback: (error: NodeJS.ErrnoException | null, address: string | LookupAddress[], family?: number) => void,
  ) => {
    lookup(name, { ...options, all: true }, (error, found) => {
      if (error !== null) return callback(error, [])
      const addresses = found.filter(({ address }) => permitted(address))
      const [first] = addresses
      if (first === undefined) {
        const all = found.map(({ address }) => address)
        return callback(forbidden(rule, name, all, onWebPort), [])
      }
      if (options.all === true) callback(null, addresses)
      else callback(null, first.address, first.family)
    })
  }
}

/** Whether CRAWL_USER_AGENT names the operator: the default names a contact that nobody reads. */
export const introducesItself = ({ CRAWL_USER_AGENT }: Pick<Config, 'CRAWL_USER_AGENT'>): boolean =>
  CRAWL_USER_AGENT !== SETTINGS.CRAWL_USER_AGENT.default

/** The headers that say who asks (RFC 9110 §10.1). */
export const introduction = ({ CRAWL_USER_AGENT, CRAWL_FROM }: Config): Record<string, string> => ({
  'user-agent': CRAWL_USER_AGENT,
  ...(CRAWL_FROM === '' ? {} : { from: CRAWL_FROM }),
})

/** What an operator has to do before the crawler asks the web. */
export const HELD =
  'held: CRAWL_USER_AGENT is not set; set it to a name, an address and a contact of yours, as "NewsBot/1.0 (+https://example.org/bot; bot@example.org)"'

function forbidden(rule: AddressRule, host: string, addresses: string[], onWebPort: boolean): RequestFailure {
  if (!addresses.some(address => rule.isPublic(address)))
    return new RequestFailure('private-address', `${host} has no public address; CRAWL_ALLOW_PRIVATE opens ranges`)
  if (onWebPort && !rule.asksPublic) return new RequestFailure('held', HELD)
  return new RequestFailure('port', `${host} is asked for on a port that CRAWL_PORTS does not hold`)
}

/** The addresses and ports that the crawler may connect to. */
interface AddressRule {
  /** Whether the operator has opened the address. It may then be reached on every port. */
  isOpened(address: string): boolean
  /** Whether the address is public. It may then be reached on public ports. */
  isPublic(address: string): boolean
  /** Whether public addresses may be reached on this port. */
  isPublicPort(port: number): boolean
  /** Whether public addresses are asked at all. */
  asksPublic: boolean
}

/**
 * Allows public unicast addresses on the ports of the web, and every port of the ranges that the
 * operator opened. All other addresses are closed: loopback, private, link-local (cloud metadata),
 * carrier NAT, multicast, unspecified, documentation (RFC 6890, IANA's registries of
 * special-purpose addresses). IPv4 addresses inside IPv6 are closed too (RFC 4291 §2.5.5, RFC 6052,
 * RFC 3056, RFC 4380). Only 2000::/3 of IPv6 is assigned as unicast (IANA, "IPv6 Global Unicast
 * Address Assignments").
 *
 * @param opened CRAWL_ALLOW_PRIVATE: addresses or ranges, such as `127.0.0.0/8`
 * @param ports CRAWL_PORTS
 * @param asksPublic see `introducesItself`
 * @throws ConfigError for an invalid range or port
 */
export function addressRule(opened: string[], ports: string[], asksPublic = true): AddressRule {
  const ranges = opened.map(readRange)
  const allowed = new Set(ports.map(readPort))
  return {
    isOpened(text) {
      if (!ipaddr.isValid(text)) return false
      // `::ffff:127.0.0.1` reaches 127.0.0.1, so it is checked as that.
      const address = ipaddr.process(text)
      return ranges.some(([range, bits]) => range.kind() === address.kind() && address.match(range, bits))
    },
    isPublic(text) {
      if (!ipaddr.isValid(text)) return false
      const address = ipaddr.process(text)
      if (address.range() !== 'unicast' || OF_A_CLOUD.has(address.toString())) return false
      return address.kind() === 'ipv4' || address.match(GLOBAL_UNICAST)
    },
    isPublicPort: port => allowed.has(port),
    asksPublic,
  }
}

/**
 * Unicast by number, but answered by the platform below a virtual machine: Azure's own services.
 */
const OF_A_CLOUD = new Set(['168.63.129.16'])
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3')

function readRange(text: string): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  try {
    if (text.includes('/')) return ipaddr.parseCIDR(text)
    const address = ipaddr.parse(text)
    return [address, address.kind() === 'ipv4' ? 32 : 128]
  } catch {
    throw new ConfigError(`CRAWL_ALLOW_PRIVATE holds "${text}"; write address ranges such as 127.0.0.0/8 or ::1/128.`)
  }
}

function readPort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0
  if (port < 1 || port > 65_535) {
    throw new ConfigError(`CRAWL_PORTS holds "${text}"; write ports from 1 to 65535, such as 80,443.`)
  }
  return port
}

/**
 * The host sends its own certificate without those that link it to an authority. Browsers fetch the
 * missing ones from the addresses that the certificate names.
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
  ...['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'UNABLE_TO_GET_ISSUER_CERT', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY'],
])

/**
 * Notes the certificate of a connection, for the case that it is refused. Node destroys a refused
 * connection at once, and its certificate with it, so it is read just before that.
 *
 * @returns turns the error of this connection into an `IncompleteChain` if it is one
 */
function noteCertificate(socket: unknown): (error: Error) => Error {
  let certificate: Buffer | undefined
  if (socket instanceof TLSSocket) {
    // Not `getPeerX509Certificate`: after it Node does not find the certificate for its own checks.
    socket.prependOnceListener('secure', () => {
      certificate = socket.getPeerCertificate().raw
    })
  }
  return error =>
    certificate !== undefined && 'code' in error && MISSING_ISSUER.has(String(error.code))
      ? new IncompleteChain(new X509Certificate(certificate), error)
      : error
}
