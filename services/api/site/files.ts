import { constants } from 'node:zlib'
import type { Request, Response } from 'express'
import { compressors, encodingFor, etagOf, matchesEtag } from '#services/api/http/answer'

type Coding = 'identity' | 'gzip' | 'br'

/** A file that anybody can load, so sending it must be cheap. */
export interface WebFile {
  contentType: string
  etag: string
  /**
   * `identity` is the file itself. Other codings are made at the first request for them, and kept.
   */
  body(coding: Coding): Promise<Buffer>
}

export function makeFile(contentType: string, content: string | Buffer): WebFile {
  const file = Buffer.from(content)
  const made = new Map<Coding, Promise<Buffer>>()
  return {
    contentType,
    etag: etagOf({ tagged: file }),
    body(coding) {
      const kept = made.get(coding)
      if (kept) return kept
      const body = COMPRESS[coding](file)
      made.set(coding, body)
      body.catch(() => made.delete(coding))
      return body
    },
  }
}

const COMPRESS = {
  identity: async (file: Buffer) => file,
  ...compressors(11, 9, constants.BROTLI_DEFAULT_WINDOW),
}

/** Sends a file in the coding that the client prefers, or 304. */
export async function sendFile(
  request: Request,
  response: Response,
  file: WebFile,
  cacheControl: string,
): Promise<void> {
  response.vary('Accept-Encoding').set({ 'Cache-Control': cacheControl, ETag: file.etag })
  if (matchesEtag(request.headers['if-none-match'], file.etag)) {
    response.status(304).end()
    return
  }
  const coding = encodingFor(request.headers['accept-encoding']) ?? 'identity'
  const body = await file.body(coding)
  if (coding !== 'identity') response.set('Content-Encoding', coding)
  response
    .set({ 'Content-Type': file.contentType, 'Content-Length': String(body.length) })
    .end(body)
}
