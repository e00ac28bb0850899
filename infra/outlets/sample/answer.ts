import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import iconv from 'iconv-lite'

/** One HTTP answer of a sample site, and the rules of HTTP for all answers. */

export interface SampleResponse {
  status: number
  headers: Record<string, string>
  body: Buffer
}

/** The request headers that count here; names in lower case. */
export interface RequestHeaders {
  'if-none-match'?: string | undefined
  'if-modified-since'?: string | undefined
  'accept-encoding'?: string | string[] | undefined
}

/** An answer with validators, for conditional requests (RFC 9110 §13). */
export function document(contentType: string, body: Buffer, lastModified: Date): SampleResponse {
  const tag = createHash('sha1').update(body).digest('hex').slice(0, 16)
  return {
    status: 200,
    headers: { 'Content-Type': contentType, ETag: `"${tag}"`, 'Last-Modified': lastModified.toUTCString() },
    body,
  }
}

export function redirect(status: 301 | 302, location: string): SampleResponse {
  return { status, headers: { Location: location }, body: Buffer.alloc(0) }
}

/** The answer, or 304 when the client has it. `If-None-Match` outweighs `If-Modified-Since`. */
export function conditional(answer: SampleResponse, request: RequestHeaders): SampleResponse {
  if (answer.status !== 200 || !isCurrent(answer, request)) return answer
  const kept = ['ETag', 'Last-Modified', 'Vary']
  const headers = Object.fromEntries(Object.entries(answer.headers).filter(([name]) => kept.includes(name)))
  return { status: 304, headers, body: Buffer.alloc(0) }
}

function isCurrent(answer: SampleResponse, request: RequestHeaders): boolean {
  const { ETag: tag, 'Last-Modified': modified } = answer.headers
  const wanted = request['if-none-match']
  if (wanted !== undefined) {
    const tags = wanted.split(',').map(candidate => candidate.trim().replace(/^W\//, ''))
    return tag !== undefined && tags.includes(tag.replace(/^W\//, ''))
  }
  const since = Date.parse(request['if-modified-since'] ?? '')
  return modified !== undefined && Date.parse(modified) <= since
}

/** Compresses the answer when the client accepts gzip. The tag becomes weak (RFC 9110 §8.8.1). */
export function compressed(answer: SampleResponse, request: RequestHeaders): SampleResponse {
  if (answer.body.length === 0 || !String(request['accept-encoding'] ?? '').includes('gzip')) return answer
  const tag = answer.headers.ETag
  return {
    status: answer.status,
    headers: {
      ...answer.headers,
      ...(tag ? { ETag: `W/${tag}` } : {}),
      'Content-Encoding': 'gzip',
      Vary: 'Accept-Encoding',
    },
    body: gzipSync(answer.body),
  }
}

/** Escapes text for HTML and XML, in elements and in double-quoted attributes. */
export function escapeMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}

export type Charset = 'utf-8' | 'windows-1252' | 'iso-8859-1' | 'iso-8859-15'

/**
 * Encodes HTML or XML. A character that the charset lacks becomes a numeric reference, as in real
 * content systems.
 */
export function encodeMarkup(markup: string, charset: Charset): Buffer {
  if (charset === 'utf-8') return Buffer.from(markup)
  const writable = (character: string) => iconv.decode(iconv.encode(character, charset), charset) === character
  const safe = markup.replace(/[\u0080-\u{10ffff}]/gu, character =>
    writable(character) ? character : `&#${character.codePointAt(0)};`,
  )
  return iconv.encode(safe, charset)
}
