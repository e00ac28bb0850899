import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Request, Response } from 'express'
import { matchesEtag } from '../http/answer.ts'

/**
 * A page or file of the reference, compressed once: it is open to everybody and must cost next to
 * nothing.
 */
export interface Asset {
  contentType: string
  body: Buffer
  gzipped: Buffer
  etag: string
}

const compress = promisify(gzip)

export async function makeAsset(contentType: string, content: string | Buffer): Promise<Asset> {
  const body = Buffer.from(content)
  return {
    contentType,
    body,
    gzipped: await compress(body, { level: 9 }),
    etag: `W/"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`,
  }
}

export function sendAsset(request: Request, response: Response, asset: Asset): void {
  response.vary('Accept-Encoding')
  response.set({ 'Cache-Control': 'public, max-age=300', ETag: asset.etag })
  if (matchesEtag(request.headers['if-none-match'], asset.etag)) {
    response.status(304).end()
    return
  }
  const small = request.acceptsEncodings('gzip', 'identity') === 'gzip'
  const body = small ? asset.gzipped : asset.body
  if (small) response.set('Content-Encoding', 'gzip')
  response.set({ 'Content-Type': asset.contentType, 'Content-Length': String(body.length) }).end(body)
}
