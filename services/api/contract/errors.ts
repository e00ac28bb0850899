/**
 * Every error code with its status, the case in which it is sent, and its usual sentence. The API
 * sends errors from this table; the OpenAPI document and the reference page print it.
 */
export const ERRORS = {
  missing_token: {
    status: 401,
    when: 'No key was sent.',
    message: 'Send your key in the header "Authorization: Bearer <API_KEY>".',
  },
  invalid_token: {
    status: 401,
    when: 'The key is unknown, revoked or malformed, or another scheme than Bearer was used.',
    message: 'This key is not valid.',
  },
  too_many_failed_attempts: {
    status: 429,
    when: 'Too many invalid keys came from this address; `Retry-After` says when it is let in again. A request without a key is refused too. A valid key still works.',
    message: 'Too many invalid keys came from this address; wait before you try again.',
  },
  rate_limit_exceeded: {
    status: 429,
    when: 'The requests of this minute are used up; `Retry-After` says when the next minute begins.',
    message: 'The requests of this minute are used up.',
  },
  quota_exceeded: {
    status: 429,
    when: 'The requests of this month are used up; `Retry-After` runs to the first of next month, 00:00 UTC.',
    message: 'The requests of this month are used up.',
  },
  invalid_request: {
    status: 422,
    when: 'A parameter is unknown, given twice, malformed or out of bounds, or does not go with another; `errors` says which and why.',
    message: 'The request has parameters that cannot be used; see errors.',
  },
  country_not_included: {
    status: 403,
    when: '`country` names a country that the plan does not cover.',
    message: 'Your plan does not cover every country asked for.',
  },
  history_not_included: {
    status: 403,
    when: "`published_after` lies before the plan's history start.",
    message: 'Your plan does not reach that far back.',
  },
  semantic_search_unavailable: {
    status: 503,
    when: 'Semantic search is out of order for now; keyword and boolean search are not.',
    message: 'Semantic search is unavailable for now; retry shortly, or use another search mode.',
  },
  service_unavailable: {
    status: 503,
    when: 'The database is away or its disk is full; the request costs nothing of the month.',
    message: 'The service is out of order for now; retry in half a minute.',
  },
  not_found: {
    status: 404,
    when: 'There is nothing at this path.',
    message: 'There is nothing at this path; see /docs.',
  },
  method_not_allowed: {
    status: 405,
    when: 'Only GET and HEAD are served.',
    message: 'This method is not served here; the header Allow names those that are.',
  },
  internal_error: {
    status: 500,
    when: 'Something went wrong on our side; the request costs nothing of the month.',
    message: 'Something went wrong on our side; retry, and name the X-Request-Id if it stays.',
  },
} as const satisfies Record<string, { status: number; when: string; message: string }>

export type ErrorCode = keyof typeof ERRORS

/** The codes in the order in which a request is checked for them (decision 6). */
export const ERROR_CODES = Object.keys(ERRORS).filter((code): code is ErrorCode => code in ERRORS)

/**
 * Error codes of the operations beside the contract (decision 39). The contract, its OpenAPI
 * document and its page do not list them; `/explore/openapi.json` does.
 */
const BESIDE_ERRORS = {
  article_removed: alike(410, 'This article was taken out.'),
  feed_ended: alike(410, 'This feed has ended: it was revoked, or its key was.'),
  too_many_feeds: alike(409, 'This key has as many feeds as it may have; revoke one first.'),
  too_many_searches: alike(409, 'This key keeps as many searches as it may; remove one first.'),
  too_many_citations: alike(409, 'This key has cited as much as it may; see /explore/limits.'),
  body_too_slow: alike(408, 'The body of this request took too long to arrive.'),
  body_too_large: alike(413, 'The body of this request is too large.'),
  origin_not_allowed: {
    status: 403,
    when: '`/mcp` was asked by a web page of another origin, or by a name that is not that of `PUBLIC_URL`.',
    message:
      'This server is not asked by this name, or from this page; its operator sets PUBLIC_URL and CORS_ORIGINS.',
  },
  unsupported_body: {
    status: 415,
    when: 'The body is no JSON by its `Content-Type`, or is compressed.',
    message: 'Send the body as JSON, uncompressed, with Content-Type: application/json.',
  },
} as const satisfies Record<string, { status: number; when: string; message: string }>

/** An error whose message also serves as its `when`. */
function alike(status: number, message: string) {
  return { status, when: message, message }
}

export type BesideErrorCode = keyof typeof BESIDE_ERRORS

/** The errors of the contract, and those beside it. */
export const ALL_ERRORS = { ...ERRORS, ...BESIDE_ERRORS }

/** An error that a client gets. `errorOf` converts every other thrown value into an `ApiError`. */
export class ApiError extends Error {
  override name = 'ApiError'
  readonly code: ErrorCode | BesideErrorCode
  readonly errors: Record<string, string[]> | undefined
  readonly headers: Readonly<Record<string, string>>

  constructor(
    code: ErrorCode | BesideErrorCode,
    details: {
      message?: string
      errors?: Record<string, string[]>
      headers?: Record<string, string>
      cause?: unknown
    } = {},
  ) {
    super(details.message ?? ALL_ERRORS[code].message, { cause: details.cause })
    this.code = code
    this.errors = details.errors
    this.headers = details.headers ?? {}
  }

  get status(): number {
    return ALL_ERRORS[this.code].status
  }
}

/** The error for one wrong parameter, or one wrong member of a body. */
export const invalid = (member: string, ...sentences: string[]): ApiError =>
  new ApiError('invalid_request', { errors: { [member]: sentences } })
