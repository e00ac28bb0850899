import { promisify } from 'node:util'
import { brotliCompress, constants, deflate, gzip } from 'node:zlib'
import { LRUCache } from 'lru-cache'
import { createSemaphore } from '../../../shared/resilience/semaphore.ts'

/** Compresses bodies and keeps the result: many clients poll the same pages. */
export interface Compressor {
  kept(key: string): Buffer | undefined
  /**
   * Equal keys asked at the same time are compressed once.
   * @param key equal keys mean equal bodies in equal codings
   */
  compress(key: string, encoding: Encoding, body: Buffer): Promise<Buffer>
}

/** The threads that Node compresses in are as many; more at once would only hold more memory. */
const AT_ONCE = 4
/** Bytes of an entry beside its key and body. */
const ENTRY_BYTES = 400

/** @param limit bytes of what is kept */
export function createCompressor(limit: number): Compressor {
  const cache = new LRUCache<string, Buffer>({ maxSize: Math.max(1, limit) })
  const making = new Map<string, Promise<Buffer>>()
  const permits = createSemaphore(AT_ONCE)

  async function make(key: string, encoding: Encoding, body: Buffer): Promise<Buffer> {
    const small = await permits.run(() => COMPRESS[encoding](body))
    cache.set(key, small, { size: small.length + 2 * key.length + ENTRY_BYTES })
    return small
  }
  return {
    kept: key => cache.get(key),
    compress(key, encoding, body) {
      let made = making.get(key)
      if (made === undefined) {
        made = make(key, encoding, body).finally(() => making.delete(key))
        making.set(key, made)
      }
      return made
    },
  }
}

// Levels by measurement: the next ones take twice the time for two percent fewer bytes
// (docs/experiments/README.md).
const BROTLI_QUALITY = 2
const LEVEL = 3
/** Larger than almost every page, and a thirtieth of the memory of brotli's default. */
const BROTLI_WINDOW = 17

const compressBrotli = promisify(brotliCompress)
const compressGzip = promisify(gzip)
const compressDeflate = promisify(deflate)

const COMPRESS: Record<Encoding, (body: Buffer) => Promise<Buffer>> = {
  br: body =>
    compressBrotli(body, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
        [constants.BROTLI_PARAM_LGWIN]: BROTLI_WINDOW,
        [constants.BROTLI_PARAM_SIZE_HINT]: body.length,
      },
    }),
  gzip: body => compressGzip(body, { level: LEVEL }),
  deflate: body => compressDeflate(body, { level: LEVEL }),
}

/** A content coding in which answers are sent. */
export type Encoding = 'br' | 'gzip' | 'deflate'

/** Every coding with its place among codings that a client wants equally. */
const RANKS = { br: 0, gzip: 1, deflate: 2, identity: 2 } as const

/**
 * The coding that a client wants most by its `Accept-Encoding` (RFC 9110 §12.5.3); null: none.
 * Among equals br comes first, then gzip, then the order of the header: browsers name all alike.
 */
export function encodingFor(header: string | undefined): Encoding | null {
  if (header === undefined) return null
  const wanted = readWeights(header)
  let best: Candidate = { name: 'identity', weight: weightOf('identity', wanted) }
  for (const name of ['br', 'gzip', 'deflate'] as const) {
    const weight = weightOf(name, wanted)
    if (weight.q > 0 && isBefore({ name, weight }, best)) best = { name, weight }
  }
  return best.name === 'identity' ? null : best.name
}

interface Weight {
  q: number
  /** Place in the header. */
  at: number
}

type Candidate = { name: keyof typeof RANKS; weight: Weight }

function isBefore(a: Candidate, b: Candidate): boolean {
  if (a.weight.q !== b.weight.q) return a.weight.q > b.weight.q
  return RANKS[a.name] === RANKS[b.name] ? a.weight.at < b.weight.at : RANKS[a.name] < RANKS[b.name]
}

/** Codings that the header names, at most so many. */
const MOST = 32

function readWeights(header: string): Map<string, Weight> {
  const weights = new Map<string, Weight>()
  for (const [at, item] of header.split(',', MOST).entries()) {
    const [name = '', ...parameters] = item.split(';')
    const q = parameters.map(parameter => /^\s*q\s*=\s*(\d?\.?\d*)\s*$/i.exec(parameter)?.[1]).find(text => text)
    const coding = name.trim().toLowerCase()
    if (coding !== '' && !weights.has(coding)) weights.set(coding, { q: q === undefined ? 1 : Number(q), at })
  }
  return weights
}

function weightOf(name: keyof typeof RANKS, wanted: Map<string, Weight>): Weight {
  const weight = wanted.get(name) ?? wanted.get('*')
  if (weight !== undefined) return weight
  // Nobody needs to name the plain form: it is as good as the least of what is named.
  const least = Math.min(1, ...[...wanted.values()].map(({ q }) => q || 1))
  return { q: name === 'identity' ? least : 0, at: MOST }
}
