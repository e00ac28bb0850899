import { promisify } from 'node:util'
import { brotliCompress, constants, deflate, gzip } from 'node:zlib'
import { LRUCache } from 'lru-cache'
import { createSemaphore } from '../../../shared/resilience/semaphore.ts'
import type { Encoding } from './encoding.ts'

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
// (docs/experiments/2026-11-23-answers.md).
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
