import type { Random } from '#test/faults/random'
import PARTS from './parts.json' with { type: 'json' }

/** One connection of a hostile peer. */
export interface Attack {
  kind: keyof typeof KINDS
  /** Sent one after another, each in a packet of its own. */
  packets: Buffer[]
  /**
   * `close`: half-closes after an answer, or after a moment without one. `reset`: resets the
   * connection at once.
   */
  end: 'close' | 'reset'
}

/** The bytes of one connection: malformed, or valid in an unusual way. */
export function attack(c: Random, secret: string): Attack {
  const kind = c.pick(KIND_NAMES)
  const bytes = Buffer.from(KINDS[kind](c, `Authorization: Bearer ${secret}\r\n`), 'latin1')
  return {
    kind,
    packets: c.chance(0.2) ? split(c, bytes) : [bytes],
    end: c.chance(0.1) ? 'reset' : 'close',
  }
}

const PATHS = [
  '/healthz',
  '/v1/articles',
  '/v1/articles?q=brug',
  '/v1/articles.rss',
  '/docs',
  '/readyz',
  '/nothing',
]
const METHODS = [
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'OPTIONS',
  'CONNECT',
  'TRACE',
  'QUERY',
  'PRI',
  'SOURCE',
  'get',
  'GE T',
  '',
]
const VERSIONS = [
  'HTTP/1.1',
  'HTTP/1.1',
  'HTTP/1.1',
  'HTTP/1.0',
  'HTTP/0.9',
  'HTTP/2.0',
  'HTTP/1.',
  'http/1.1',
  '',
]

/** Each returns the bytes of a connection, one character a byte; `key` is a header line. */
const KINDS = {
  line: (c: Random, key: string): string =>
    `${c.pick(METHODS)}${c.pick([' ', ' ', ' ', '  ', '\t', ''])}${target(c)}${c.pick([' ', ' ', ' ', '  ', '\t', ''])}${c.pick(VERSIONS)}${lineEnd(c)}Host: x\r\n${key}\r\n`,
  target: (c: Random, key: string): string =>
    `${c.pick(['GET', 'GET', 'CONNECT', 'OPTIONS'])} ${target(c)} HTTP/1.1\r\nHost: x\r\n${key}\r\n`,
  headers: (c: Random, key: string): string =>
    `GET ${c.pick(PATHS)} HTTP/1.1\r\nHost: x\r\n${c.chance(0.5) ? key : ''}${several(c, 12, () => header(c, key))}\r\n`,
  many: (c: Random, key: string): string =>
    `GET ${c.pick(PATHS)} HTTP/1.1\r\nHost: x\r\n${key}${`${c.pick(['X', 'Host', 'Cookie', 'Authorization'])}: ${'a'.repeat(c.below(20))}\r\n`.repeat(c.below(c.chance(0.1) ? 4_000 : 150))}\r\n`,
  body: (c: Random, key: string): string =>
    `${c.pick(['GET', 'POST', 'PUT', 'HEAD'])} ${c.pick(PATHS)} HTTP/1.1\r\nHost: x\r\n${key}${c.pick(PARTS.lengths)}\r\n${body(c)}`,
  pipeline: (c: Random, key: string): string =>
    several(c, c.chance(0.1) ? 400 : 8, () =>
      c.chance(0.8)
        ? `GET ${c.pick(PATHS)} HTTP/1.1\r\nHost: x\r\n${key}\r\n`
        : KINDS[c.pick(PIPELINED)](c, key),
    ),
  handshake: (c: Random, key: string): string =>
    `${c.pick(['GET', 'CONNECT', 'POST'])} ${c.pick(PATHS)} HTTP/1.1\r\nHost: x\r\n${key}${several(c, 3, () => c.pick(PARTS.handshakes))}\r\n${c.chance(0.3) ? noise(c, 200) : ''}`,
  cut: (c: Random, key: string): string => {
    const whole = KINDS[c.pick(PIPELINED)](c, key)
    return whole.slice(0, c.below(whole.length + 1))
  },
  bent: (c: Random, key: string): string =>
    bend(c, `GET ${c.pick(PATHS)} HTTP/1.1\r\nHost: x\r\n${key}\r\n`),
  // A ClientHello's record header, then random bytes.
  tls: (c: Random): string =>
    `\x16\x03${c.pick(['\x00', '\x01', '\x03'])}\x02\x00\x01\x00\x01\xfc\x03\x03${noise(c, 512)}`,
  noise: (c: Random): string => noise(c, c.chance(0.05) ? 100_000 : 300),
} as const

const KIND_NAMES = Object.keys(KINDS).filter((name): name is keyof typeof KINDS => name in KINDS)
const PIPELINED = ['line', 'target', 'headers', 'body', 'handshake', 'bent'] as const

function target(c: Random): string {
  const start = c.pick(PARTS.starts)
  const middle = several(c, 4, () =>
    c.chance(0.5)
      ? c.pick(PARTS.oddParts)
      : c.pick(['a', 'q=brug', '&', '=', '%2e%2e', '%00', '%ff', '%2f', '/../', ';']),
  )
  return (
    start +
    middle +
    (c.chance(0.03) ? c.pick(['a', '?', '/', '\xe9', '%', '&', '#']).repeat(c.below(20_000)) : '')
  )
}

const header = (c: Random, key: string): string =>
  c.pick([
    () => key,
    () => `Host: ${c.pick(['x', '', 'a b', 'x, y', '[', '\xe9'])}\r\n`,
    () =>
      `X-Request-Id: ${c.pick(['a', 'a\x0bb', '\xe9', 'x'.repeat(200), '"><script>', '%0d%0aX: y'])}\r\n`,
    () => `${noise(c, 10)}: ${noise(c, 20)}\r\n`,
    () => `X: a\r\n b\r\n`,
    () => `X:a${c.pick(['\n', '\r', '\0', '\x7f', '\x01'])}Y: b\r\n`,
    () => `${c.pick(['', ' ', 'X', 'X ', 'X\t', '(', '\xe9'])}:a\r\n`,
    () => 'no colon\r\n',
    () => `X-Forwarded-For: ${c.pick(['x', '1.2.3.4, '.repeat(50), '::', '\xe9', ',,,'])}\r\n`,
    () => `If-None-Match: ${c.pick(['"', 'W/', '"a'.repeat(500), '*', '\xe9'])}\r\n`,
    () =>
      `Accept-Encoding: ${c.pick([';q=', 'gzip;q=x', ','.repeat(1_000), 'br, *;q=0', '\xe9'])}\r\n`,
    () => `Cookie: ${'a=b;'.repeat(c.below(100))}\r\n`,
    () =>
      `Authorization: ${c.pick(['Basic', 'Basic =', 'Basic OjpA', 'Bearer', '\xe9', `Bearer ${'a'.repeat(5_000)}`])}\r\n`,
  ])()

const body = (c: Random): string =>
  c.pick([
    () => '',
    () => 'hello',
    () => 'hello world, and more than was said',
    () => '5\r\nhello\r\n0\r\n\r\n',
    () => '5\r\nhello\r\n0\r\nX: trailer\r\n\r\n',
    () => `5;${'x=y;'.repeat(c.below(5_000))}\r\nhello\r\n0\r\n\r\n`,
    () => 'fffffffffffffffff\r\nhello',
    () => '-5\r\nhello\r\n0\r\n\r\n',
    () => '5\nhello\n0\n\n',
    () => '5\r\nhello!\r\n0\r\n\r\n',
    () => '0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: x\r\n\r\n',
    () => noise(c, 2_000),
    () => 'a'.repeat(c.below(200_000)),
  ])()

const lineEnd = (c: Random) =>
  c.chance(0.8) ? '\r\n' : c.pick(['\n', '\r', '', '\r\r\n', '\n\r', '\0\r\n'])

const several = (c: Random, most: number, make: () => string) =>
  Array.from({ length: c.below(most + 1) }, make).join('')

const noise = (c: Random, most: number) => several(c, most, () => String.fromCharCode(c.below(256)))

/** Bytes inserted, removed or changed anywhere, line ends too. */
function bend(c: Random, text: string): string {
  let bent = text
  for (let i = 0; i <= c.below(5); i++) {
    const at = c.below(bent.length + 1)
    bent =
      bent.slice(0, at) +
      (c.chance(0.6) ? String.fromCharCode(c.below(256)) : '') +
      bent.slice(at + c.below(3))
  }
  return bent
}

function split(c: Random, bytes: Buffer): Buffer[] {
  const packets: Buffer[] = []
  let from = 0
  for (let i = 0; i < 3 && from < bytes.length; i++) {
    const to = from + 1 + c.below(bytes.length - from)
    packets.push(bytes.subarray(from, to))
    from = to
  }
  return [...packets, bytes.subarray(from)]
}
