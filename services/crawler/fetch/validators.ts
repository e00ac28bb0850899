import type { FetchedResponse } from './request.ts'

/**
 * The validators of an answer (RFC 9110 §13.1). The next request sends them back, and the server
 * then need not send an unchanged document again.
 */
export interface Validators {
  etag: string | null
  lastModified: string | null
}

export const NO_VALIDATORS: Validators = { etag: null, lastModified: null }

/** A header that is cut matches nothing, and harms nobody. */
export function validatorsOf({ headers }: Pick<FetchedResponse, 'headers'>): Validators {
  return { etag: headers.etag?.slice(0, 1_000) ?? null, lastModified: headers['last-modified']?.slice(0, 100) ?? null }
}

/** The headers of a conditional request. */
export function conditions({ etag, lastModified }: Validators): Record<string, string> {
  return {
    ...(etag === null ? {} : { 'if-none-match': etag }),
    ...(lastModified === null ? {} : { 'if-modified-since': lastModified }),
  }
}
