import { createHash } from 'node:crypto'
import type { Duplex } from 'node:stream'
import { LRUCache } from 'lru-cache'
import { http } from '#shared/process/http'
import { RequestFailure } from './request-failure.ts'

/*
 * A second reader of HTTP/1 answers, for hosts whose answers the strict reader refuses. It reads
 * folded header lines (RFC 9112 §5.2), lines that end in LF alone (§2.2), a blank before the colon,
 * and a Content-Length that is given twice alike (RFC 9110 §8.6). Node's own lenient parser refuses
 * the last two, and chunks whose lines end in LF. An answer has a connection of its own, so nothing
 * can be smuggled into the next one.
 */

/** The head of an answer, and its body as it arrives. A body may end before its stated length. */
interface LenientAnswer {
  statusCode: number
  /** Names in lower case. */
  headers: Record<string, string | string[]>
  body: AsyncIterable<Buffer>
}

/** The most bytes of an answer's head, as for the strict reader. */
const LONGEST_HEAD = 65_536

/** Sends a GET on a connection and reads the head of the answer. */
export async function getLeniently(
  socket: Duplex,
  url: URL,
  headers: Record<string, string>,
): Promise<LenientAnswer> {
  const asked = Object.entries({ host: url.host, connection: 'close', ...headers })
  for (const [name, value] of asked) http.validateHeaderValue(name, value)
  const lines = asked.map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`GET ${url.pathname}${url.search} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1')
  const source = sourceOf(socket)
  for (;;) {
    const statusCode = Number(/^HTTP\/1\.\d (\d{3})(?!\d)/.exec(await source.line())?.[1])
    if (Number.isNaN(statusCode)) throw broken('the answer does not begin with a status of HTTP/1')
    const read = await headersIn(source)
    // Answers before the final one (RFC 9110 §15.2) have no body.
    if (statusCode >= 200) return { statusCode, headers: read, body: bodyIn(source, read) }
  }
}

const broken = (problem: string) => new RequestFailure('protocol', problem)

interface Source {
  /** The next line, without its end. */
  line(): Promise<string>
  /** The next bytes, at most this many; null: the connection has ended. */
  bytes(most: number): Promise<Buffer | null>
  /** Lines of chunks do not use up the room of the head. */
  renew(): void
}

/** Reads a connection by lines and by bytes. The lines together are limited. */
function sourceOf(socket: Duplex): Source {
  const pieces: AsyncIterator<Buffer> = socket[Symbol.asyncIterator]()
  let rest: Buffer = Buffer.alloc(0)
  let room = LONGEST_HEAD
  const more = async () => {
    const { done, value } = await pieces.next()
    if (!done) rest = rest.length === 0 ? value : Buffer.concat([rest, value])
    return !done
  }
  return {
    async line() {
      let end = -1
      for (let from = 0; end < 0; ) {
        end = rest.indexOf('\n', from)
        from = rest.length
        if ((end < 0 ? from : end) > room)
          throw broken(`the lines around the answer have more than ${LONGEST_HEAD} bytes`)
        if (end < 0 && !(await more()))
          throw new RequestFailure('cut', 'the connection ended within the head of the answer')
      }
      const line = rest.toString('latin1', 0, end)
      rest = rest.subarray(end + 1)
      room -= end + 1
      return line.replace(/\r$/, '')
    },
    async bytes(most) {
      if (rest.length === 0 && !(await more())) return null
      const piece = rest.subarray(0, most)
      rest = rest.subarray(piece.length)
      return piece
    },
    renew: () => {
      room = LONGEST_HEAD
    },
  }
}

async function headersIn(source: Source): Promise<LenientAnswer['headers']> {
  const fields: { name: string; value: string }[] = []
  for (let line = await source.line(); line !== ''; line = await source.line()) {
    const last = fields.at(-1)
    const [, name, value = ''] = /^([\w!#$%&'*+.^`|~-]+)[ \t]*:(.*)$/.exec(line) ?? []
    if (/^[ \t]/.test(line) && last !== undefined) last.value += ` ${clean(line)}`
    else if (name !== undefined) fields.push({ name: name.toLowerCase(), value: clean(value) })
  }
  // Without a prototype, a header named `constructor` is a header as any other.
  const headers: LenientAnswer['headers'] = Object.create(null)
  for (const { name, value } of fields)
    headers[name] = name in headers ? [headers[name] ?? [], value].flat() : value
  const stated = [headers['content-length'] ?? []].flat().flatMap(text => text.split(','))
  const lengths = new Set(stated.map(text => text.trim()))
  const [length] = lengths
  if (length === undefined) return headers
  if (lengths.size > 1 || !/^\d{1,15}$/.test(length))
    throw broken('the answer states several lengths, or none that is a number')
  if ('transfer-encoding' in headers) throw broken('the answer has both chunks and a length')
  return { ...headers, 'content-length': length }
}

/** A value without the control characters that could end a line (RFC 9110 §5.5). */
const clean = (value: string) =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these must not be in a header
  value.replace(/[\u0000-\u001f\u007f]/g, ' ').trim()

async function* bodyIn(source: Source, headers: LenientAnswer['headers']) {
  const coding = String(headers['transfer-encoding'] ?? '')
  if (/chunked\s*$/i.test(coding)) return yield* chunksIn(source)
  let left = Number(headers['content-length'] ?? Number.POSITIVE_INFINITY)
  while (left > 0) {
    const piece = await source.bytes(left)
    if (piece === null) return
    left -= piece.length
    yield piece
  }
}

/** The data of chunks (RFC 9112 §7.1). Trailers are left unread. */
async function* chunksIn(source: Source) {
  for (;;) {
    source.renew()
    const size = /^[\da-f]{1,12}(?=\s*(?:;|$))/i.exec(await source.line())?.[0]
    if (size === undefined) throw broken('a chunk has no size')
    let left = Number.parseInt(size, 16)
    if (left === 0) return
    while (left > 0) {
      const piece = await source.bytes(left)
      if (piece === null) throw new RequestFailure('cut', 'the answer was cut short in a chunk')
      left -= piece.length
      yield piece
    }
    if ((await source.line()) !== '') throw broken('a chunk is longer than its size')
  }
}

/** The hosts whose answers this process reads leniently. */
export interface Leniency {
  isFor(host: string): boolean
  /** The strict reader failed at this host, so the lenient reader has its answers for an hour. */
  begin(host: string): void
  end(host: string): void
  /**
   * Whether an address brought the same bytes at its try before. A body that is shorter than
   * announced is then not cut: the announcement is wrong.
   */
  isRepeated(url: URL, body: Buffer): boolean
}

const HOUR = 3_600_000
/** The most hosts, and the most addresses, that are remembered. The oldest is forgotten first. */
const MOST = 10_000

export function createLeniency(): Leniency {
  const hosts = new LRUCache<string, true>({ max: MOST, ttl: HOUR })
  const digests = new LRUCache<string, string>({ max: MOST })
  return {
    isFor: host => hosts.has(host),
    begin: host => void hosts.set(host, true),
    end: host => void hosts.delete(host),
    isRepeated(url, body) {
      const digest = createHash('sha256').update(body).digest('base64')
      const isSame = digests.peek(url.href) === digest
      digests.set(url.href, digest)
      return isSame
    },
  }
}
