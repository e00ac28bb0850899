import { hash } from 'node:crypto'
import type { Request, Response } from 'express'
import type { SearchMode } from '../contract/parameters.ts'

/** A good answer, before HTTP's own matters. */
export interface Content {
  contentType: string
  body: string
  /** The ETag is the hash of this. */
  tagged: string
  /** The ETag, where it is known already. */
  etag?: string
}

/** A good answer of an operation that searches. */
export interface Answer extends Content {
  search: SearchMode
  /** Of the time to the answer, what the search took. */
  searchMs: number
  /** Whether nothing was found. */
  isEmpty: boolean
}

/** A weak ETag (RFC 9110 §8.8.3): the same in every process. */
export const etagOf = ({ tagged }: Content): string => `W/"${hash('sha256', tagged, 'base64url').slice(0, 27)}"`

/**
 * Sends an answer, or 304 when the client has it (decision 8).
 * @param beforeHeaders runs just before the headers go out; what it throws is sent instead
 */
export async function sendAnswer(
  request: Request,
  response: Response,
  answer: Content,
  beforeHeaders: () => Promise<void>,
): Promise<void> {
  const etag = answer.etag ?? etagOf(answer)
  const known = matchesEtag(request.headers['if-none-match'], etag)
  await beforeHeaders()
  response.vary('Authorization').vary('Accept-Encoding')
  response.set({ 'Cache-Control': 'private, no-cache', ETag: etag })
  if (known) {
    response.status(304).end()
    return
  }
  const body = Buffer.from(answer.body)
  response.status(200).set('Content-Type', answer.contentType)
  // GET would be compressed, HEAD is not: its length would be another answer's (RFC 9110 §8.6).
  const isKnown = request.method !== 'HEAD' || request.acceptsEncodings(['br', 'gzip', 'identity']) === 'identity'
  if (isKnown) response.set('Content-Length', String(body.length))
  response.end(body)
}

/** `If-None-Match` by weak comparison (RFC 9110 §13.1.2): `*`, or a list of tags. */
export function matchesEtag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  if (header.trim() === '*') return true
  const opaque = (tag: string) => tag.replace(/^W\//, '')
  return (header.match(/(?:W\/)?"[^"]*"/g) ?? []).some(tag => opaque(tag) === opaque(etag))
}
