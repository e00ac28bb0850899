/**
 * As an address has it, where this machine reaches what listens on `host`; every address of a
 * machine includes loopback.
 */
export function reachable(host: string): string {
  if (['0.0.0.0', '::', ''].includes(host)) return '127.0.0.1'
  return host.includes(':') ? `[${host}]` : host
}
