/**
 * Error codes of what lies beside the two operations (decision 39): their status, when they are
 * given, and the sentence sent. The contract, its OpenAPI document and its page do not have them;
 * `/explore/openapi.json` prints them.
 */
export const BESIDE_ERRORS = {
  feed_ended: {
    status: 410,
    when: 'The feed was revoked, or its key was.',
    message: 'This feed has ended: it was revoked, or its key was.',
  },
  too_many_feeds: {
    status: 409,
    when: 'The key has as many feeds as it may have.',
    message: 'This key has as many feeds as it may have; revoke one first.',
  },
  body_too_slow: {
    status: 408,
    when: 'The body took too long to arrive.',
    message: 'The body of this request took too long to arrive.',
  },
  body_too_large: {
    status: 413,
    when: 'The body has more bytes than a body may have.',
    message: 'The body of this request is too large.',
  },
  unsupported_body: {
    status: 415,
    when: 'The body is no JSON by its `Content-Type`, or is compressed.',
    message: 'Send the body as JSON, uncompressed, with Content-Type: application/json.',
  },
} as const satisfies Record<string, { status: number; when: string; message: string }>

export type BesideErrorCode = keyof typeof BESIDE_ERRORS
