/**
 * Response headers of the contract, for the OpenAPI document; `services/api/access` and `http` send
 * them.
 */
export const HEADERS = {
  'X-Request-Id': {
    type: 'string',
    about: 'Names this request in our logs. A well-formed one that you send is kept.',
  },
  'X-RateLimit-Limit': { type: 'integer', about: 'Requests per minute that the plan allows.' },
  'X-RateLimit-Remaining': { type: 'integer', about: 'Requests left in the current minute.' },
  'X-Quota-Limit': { type: 'integer', about: 'Requests allowed this month; only when the plan has a quota.' },
  'X-Quota-Remaining': { type: 'integer', about: 'Requests left this month; only when the plan has a quota.' },
  'X-Quota-Reset': {
    type: 'integer',
    about: 'Unix time at which the quota starts anew: 00:00 UTC of the first of next month.',
  },
  'X-Quota-Period': { type: 'string', about: 'The calendar month (UTC) that the counters describe, as `2026-11`.' },
  'Retry-After': { type: 'integer', about: 'Whole seconds to wait, at least 1.' },
  'WWW-Authenticate': { type: 'string', about: 'The Bearer challenge (RFC 6750).' },
  ETag: { type: 'string', about: 'Of everything in the answer but `next_cursor`; send it back as `If-None-Match`.' },
  'Cache-Control': { type: 'string', about: '`private, no-cache`: keep it, but ask before you use it again.' },
  Vary: { type: 'string', about: '`Authorization, Accept-Encoding`' },
} as const satisfies Record<string, { type: 'string' | 'integer'; about: string }>

export type HeaderName = keyof typeof HEADERS

/** Sent with everything that a known plan is answered. */
export const PLAN_HEADERS = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-Quota-Limit',
  'X-Quota-Remaining',
  'X-Quota-Reset',
  'X-Quota-Period',
] as const satisfies HeaderName[]
