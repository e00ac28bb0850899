import { type LookupAddress, type LookupOptions, lookup } from 'node:dns'
import { isIP } from 'node:net'
import type { SecureContext } from 'node:tls'
import { buildConnector } from 'undici'
import type { AddressRule } from './addresses.ts'
import { RequestFailure } from './request-failure.ts'
import { noteCertificate } from './tls/incomplete-chain.ts'
import { createTrust, SECURE_OPTIONS, type Trust } from './tls/trust.ts'

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
  const build = (permitted: (address: string) => boolean) =>
    trusting(trust, { timeout, lookup: guardedLookup(rule, permitted), maxCachedSessions: 100, allowH2: true })
  const onEveryPort = build(address => rule.isOpened(address))
  const onPublicPorts = build(address => rule.isOpened(address) || rule.isPublic(address))
  return (options, callback) => {
    const port = Number(options.port || (options.protocol === 'https:' ? 443 : 80))
    const isPublicPort = rule.isPublicPort(port)
    // An address in the URL itself is never looked up, so it is checked here.
    const host = options.hostname.replace(/^\[|\]$/g, '')
    if (isIP(host) !== 0 && !rule.isOpened(host) && !(isPublicPort && rule.isPublic(host))) {
      callback(forbidden(rule, host, [host]), null)
      return
    }
    const connect = isPublicPort ? onPublicPorts : onEveryPort
    connect(options, callback)
  }
}

/** Connects with the certificates that the host needs beside its own. */
function trusting(trust: Trust, options: buildConnector.BuildOptions): buildConnector.connector {
  const connectors = new WeakMap<SecureContext, buildConnector.connector>()
  const usual = buildConnector({ ...options, secureOptions: SECURE_OPTIONS })
  const connectorOf = (host: string): buildConnector.connector => {
    const secureContext = trust.contextFor(host)
    if (secureContext === undefined) return usual
    const connector = connectors.get(secureContext) ?? buildConnector({ ...options, secureContext })
    connectors.set(secureContext, connector)
    return connector
  }
  return (asked, callback) => {
    let explained = (error: Error) => error
    const socket: unknown = connectorOf(asked.host ?? asked.hostname)(asked, (...[error, connected]) => {
      if (error === null) callback(null, connected)
      else callback(explained(error), null)
    })
    explained = noteCertificate(socket)
  }
}

function guardedLookup(rule: AddressRule, permitted: (address: string) => boolean) {
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
        return callback(forbidden(rule, name, all), [])
      }
      if (options.all === true) callback(null, addresses)
      else callback(null, first.address, first.family)
    })
  }
}

const forbidden = (rule: AddressRule, host: string, addresses: string[]) =>
  addresses.some(address => rule.isPublic(address))
    ? new RequestFailure('port', `${host} is asked for on a port that CRAWL_PORTS does not hold`)
    : new RequestFailure('private-address', `${host} has no public address; CRAWL_ALLOW_PRIVATE opens ranges`)
