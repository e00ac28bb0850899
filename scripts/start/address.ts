/**
 * The host part of an address at which this machine reaches a server that listens on `host`. A
 * server on all addresses listens on loopback too.
 */
export function reachable(host: string): string {
  if (['0.0.0.0', '::', ''].includes(host)) return '127.0.0.1'
  return host.includes(':') ? `[${host}]` : host
}
