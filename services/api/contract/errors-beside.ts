/**
 * Error codes of what lies beside the two operations (decision 39). The contract, its OpenAPI
 * document and its page do not have them; docs/explore.md does.
 */
export const BESIDE_ERRORS = {
  feed_ended: {
    status: 410,
    message: 'This feed has ended: it was revoked, or its key was.',
  },
  too_many_feeds: {
    status: 409,
    message: 'This key has as many feeds as it may have; revoke one first.',
  },
  body_too_slow: {
    status: 408,
    message: 'The body of this request took too long to arrive.',
  },
  body_too_large: {
    status: 413,
    message: 'The body of this request is too large.',
  },
  unsupported_body: {
    status: 415,
    message: 'Send the body as JSON, uncompressed, with Content-Type: application/json.',
  },
} as const satisfies Record<string, { status: number; message: string }>

export type BesideErrorCode = keyof typeof BESIDE_ERRORS
