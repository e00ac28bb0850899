import { PARAMETER_NAMES, PARAMETERS, type Parameter } from '../../../services/api/contract/parameters.ts'
import { LANGUAGES } from '../../../shared/articles/article.ts'
import type { Random } from '../../faults/random.ts'

/** A request as bytes, with the facts that the judge of its answer needs. */
export interface Shot {
  bytes: Buffer
  /** Semantic search may be asked for: 503 is then an answer. */
  semantic: boolean
}

const NASTY = [
  '',
  ' ',
  '-1',
  '101',
  '1e3',
  '99999999999999999999',
  'NaN',
  'a',
  '"de brug"',
  '-brug',
  '-"de brug" water',
  '"',
  '""',
  '---',
  'a:b & c | !d <-> (e)',
  "'; drop table articles; --",
  '\\',
  '%_\\',
  '*',
  'a'.repeat(191),
  'a'.repeat(192),
  '😀'.repeat(191),
  '語'.repeat(60),
  'é'.repeat(100),
  'e\u0301\u0302\u0303',
  '\u202eabc',
  '\ufeff',
  '\u0000',
  'a\u0000b',
  '\u0007',
  'ß ﬁ Ǆ İ ı ſ K',
  '½ m² CO₂ ™',
  'l’économie',
  'to be or not to be',
  '2024-02-30',
  '2024-01-01T00:00:00Z',
  '2024-01-01T00:00:00+02:00',
  '2024-01-01T24:00:00Z',
  '2100-12-31',
  '1899-12-31',
  '2026-01-01T00:00:00.123456789Z',
  'nl,be',
  ',',
  'NL,,BE,',
  'KEYWORD',
  'title_body',
  'relevance',
  'asc',
  '../../etc/passwd',
  '{{7*7}}',
  '<script>alert(1)</script>',
  '{"$gt":""}',
  '[]',
] as const

const WORDS = [
  'de',
  'brug',
  'water',
  'le',
  'pont',
  'nummer',
  'die',
  'COVID-19',
  "l'économie",
  'to',
  '"',
  '-',
  ' ',
  '(',
  '-"',
]

/** A request made of valid and invalid parts, bent once more here and there. */
export function shot(c: Random, secret: string, cursors: readonly string[]): Shot {
  const method = c.chance(0.93) ? 'GET' : c.pick(['HEAD', 'POST', 'OPTIONS', 'DELETE', 'TRACE', 'PROPFIND', 'QUERY'])
  const path = c.chance(0.9)
    ? c.pick(['/v1/articles', '/v1/articles.rss'])
    : c.pick([
        '/',
        '/v1',
        '/v1/articles/',
        '/v1//articles',
        '/v1/%61rticles',
        '/docs',
        '/docs/../v1',
        '/v1/openapi.json',
        '/%',
        '/%00',
        '*',
      ])
  let query = Array.from({ length: c.below(6) }, () => pair(c, cursors)).join('&')
  if (c.chance(0.1)) query = bend(c, query)
  const head = [`${method} ${path}${query === '' ? '' : '?'}${query} HTTP/1.1`, 'Host: x', 'Connection: close']
  const key = c.chance(0.97)
    ? `Bearer ${secret}`
    : c.pick(['Bearer', 'Bearer x', 'Basic eDp4', '', `Bearer ${secret}x`, secret])
  head.push(`Authorization: ${key}`)
  if (c.chance(0.2)) head.push(`If-None-Match: ${c.pick(['*', '"x"', 'W/"x"', ',,"', 'x', '"'.repeat(50)])}`)
  if (c.chance(0.1)) head.push(`X-Request-Id: ${c.pick(['a', 'a b', 'x'.repeat(300), '\x7f', '"', '<b>'])}`)
  if (c.chance(0.2))
    head.push(`Accept-Encoding: ${c.pick(['gzip', 'br', 'gzip;q=0', '*', 'zstd', ';;q=', 'br;q=2, gzip'])}`)
  if (c.chance(0.05)) head.push(`Accept: ${c.pick(['text/html', '*/*', 'x', 'application/json;q=0'])}`)
  if (c.chance(0.05)) head.push(`Range: ${c.pick(['bytes=0-1', 'bytes=9-1', 'x'])}`)
  if (c.chance(0.03)) head.push('X-Forwarded-For: 1.2.3.4, ::1, bogus')
  const text = `${head.join('\r\n')}\r\n\r\n`
  return { bytes: Buffer.from(text, 'latin1'), semantic: /semantic/i.test(query) }
}

function pair(c: Random, cursors: readonly string[]): string {
  const name = c.chance(0.95)
    ? c.pick(PARAMETER_NAMES)
    : c.pick(['foo', '', '__proto__', 'constructor', 'Q', 'country[0]', 'q[]', 'page'])
  const brackets = c.chance(0.1) ? c.pick(['[]', '%5B%5D', '[', '[0]']) : ''
  return `${encode(c, name)}${brackets}${c.chance(0.97) ? '=' : ''}${encode(c, value(c, name, cursors))}`
}

function value(c: Random, name: string, cursors: readonly string[]): string {
  if (c.chance(0.12)) return c.pick(NASTY)
  switch (name) {
    case 'cursor':
      return c.chance(0.5) && cursors.length > 0
        ? bend(c, c.pick(cursors))
        : c.pick(cursors.length > 0 ? cursors : ['x'])
    case 'per_page':
      return String(c.below(110))
    case 'q':
      return Array.from({ length: 1 + c.below(8) }, () => c.pick(WORDS)).join(c.chance(0.8) ? ' ' : '')
    case 'language':
      return Array.from({ length: 1 + c.below(3) }, () => c.pick(LANGUAGES)).join(',')
    case 'published_after':
    case 'published_before':
    case 'ingested_after': {
      const date = new Date(Date.UTC(2020 + c.below(8), c.below(12), 1 + c.below(28), c.below(24))).toISOString()
      return c.chance(0.5) ? date : date.slice(0, 10)
    }
    default: {
      const definition: Parameter | undefined = Object.entries(PARAMETERS).find(([known]) => known === name)?.[1]
      return definition && 'values' in definition
        ? c.pick(definition.values)
        : c.pick(['dag', 'koerier', 'Anna', 'é', 'true', 'no'])
    }
  }
}

/** Percent-encoded as it should be, mostly. */
function encode(c: Random, text: string): string {
  const encoded = encodeURIComponent(text.toWellFormed())
  if (c.chance(0.9)) return encoded
  if (c.chance(0.5)) return encoded.toLowerCase().replaceAll('%20', '+')
  return Buffer.from(text)
    .toString('latin1')
    .replace(/[\0\r\n ]/g, '+')
}

/** One to four bytes inserted, removed or changed; nothing that would end the line. */
function bend(c: Random, text: string): string {
  let bent = text
  for (let i = 0; i <= c.below(4); i++) {
    const at = c.below(bent.length + 1)
    const byte = c.chance(0.5)
      ? c.pick(['%', '&', '=', '+', '%00', '%ff', '%ED%A0%80', '#', '?', ';'])
      : String.fromCharCode(33 + c.below(222))
    bent = bent.slice(0, at) + (c.chance(0.3) ? '' : byte) + bent.slice(at + (c.chance(0.5) ? 1 : 0))
  }
  return bent
}
