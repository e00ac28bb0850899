import type { ApiErrorDetails, ClientOptions, Limits } from './client.ts'
import type { ErrorObject } from './contract.ts'
import {
  ApiError,
  ForeignAnswerError,
  InvalidRequestError,
  KeyError,
  LockedError,
  NoAnswerError,
  PerscopeError,
  PlanError,
  QuotaError,
  RateLimitError,
  SemanticUnavailableError,
} from './errors.ts'

/*
 * This file does what the contract asks of every client: the key, the waits, the repetitions, the
 * counters. The client itself only names paths and parameters.
 */

/** An answer of 200 or, to a request with an ETag, 304. */
export interface Answer<Body> {
  status: number
  etag: string | null
  /** For a feed its text, for any other answer its parsed JSON. Empty with 304. */
  body: Body
}

export type Value = string | number | boolean | Date | readonly string[] | null | undefined
export type Query = object

/** The most bytes of an answer: far more than a page of 100 articles has. */
const LONGEST_ANSWER = 32 * 1024 * 1024

/** Sends requests with the key, repeats them by the contract, and stores the counters. */
export interface Transport {
  /** The counters of the latest answer; null: there was none. */
  limits(): Limits | null
  /**
   * @param signal in place of the client's
   * @throws ApiError, NoAnswerError, ForeignAnswerError, or the signal's reason
   */
  ask<Body>(
    path: string,
    query: Query,
    etag?: string | null,
    signal?: AbortSignal,
  ): Promise<Answer<Body>>
  /**
   * Sends a change. It is repeated only after an answer 429, because the API then did nothing.
   * @throws as `ask`
   */
  send<Body>(method: string, path: string, content?: object): Promise<Body>
}

export function createTransport(options: ClientOptions): Transport {
  const base = checkedUrl(options.url)
  const key = checkedKey(options.key)
  const { timeout = 30_000, retries = 5, longestWait = 120_000 } = options
  if (!(timeout > 0)) throw new PerscopeError('timeout must be a number of ms above 0.')
  let limits: Limits | null = null

  async function once<Body>(
    address: string,
    etag: string | null,
    signal: AbortSignal | undefined,
    sent: RequestInit = {},
  ): Promise<Answer<Body>> {
    const headers = {
      Authorization: `Bearer ${key}`,
      ...(etag === null ? {} : { 'If-None-Match': etag }),
      ...(sent.body && { 'Content-Type': 'application/json' }),
    }
    const limit = AbortSignal.timeout(timeout)
    let hasBegun = false
    try {
      const response = await fetch(address, {
        ...sent,
        headers,
        cache: 'no-store',
        redirect: 'manual',
        signal: signal ? AbortSignal.any([limit, signal]) : limit,
      })
      hasBegun = true
      refuseRedirect(base, response)
      const text = await readText(response)
      limits = readLimits(response.headers) ?? limits
      const body: Body = bodyOf(base, response, text, sent.method)
      return { status: response.status, etag: response.headers.get('etag'), body }
    } catch (error) {
      if (signal?.aborted) throw signal.reason
      if (limit.aborted)
        throw new NoAnswerError(`${base} did not answer within ${timeout} ms.`, { cause: error })
      // fetch throws a TypeError when nothing answers, or when an answer breaks off.
      if (!(error instanceof TypeError)) throw error
      throw new NoAnswerError(hasBegun ? brokenOff(base) : `${base} cannot be reached.`, {
        cause: error,
      })
    }
  }

  async function repeated<T>(
    attemptOnce: () => Promise<T>,
    mayRepeat: (error: unknown) => boolean,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    for (let attempt = 0; ; attempt++) {
      try {
        return await attemptOnce()
      } catch (error) {
        const wait = attempt < retries && mayRepeat(error) ? waitAfter(error, attempt) : null
        if (wait === null || wait > longestWait) throw error
        options.onWait?.(wait, error)
        await sleep(wait, signal)
      }
    }
  }

  return {
    limits: () => limits,
    ask<Body>(path: string, query: Query, etag: string | null = null, signal = options.signal) {
      return repeated(
        () => once<Body>(`${base}${path}${queryString(query)}`, etag, signal),
        () => true,
        signal,
      )
    },
    async send<Body>(method: string, path: string, content?: object) {
      const sent = { method, ...(content === undefined ? {} : { body: JSON.stringify(content) }) }
      const isRefused = (error: unknown) => error instanceof ApiError && error.status === 429
      const { signal } = options
      const attempt = () => once<Body>(`${base}${path}`, null, signal, sent)
      return (await repeated(attempt, isRefused, signal)).body
    },
  }
}

const brokenOff = (base: string) => `The answer of ${base} broke off.`

/** Refuses redirects. A browser hides the target of a redirect. */
function refuseRedirect(base: string, { type, status, headers }: Response): void {
  if (type !== 'opaqueredirect' && (status < 300 || status > 399 || status === 304)) return
  const to = headers.get('location') ?? ''
  const where = URL.canParse(to, base) ? new URL(to, base).origin : 'another address'
  throw new ForeignAnswerError(
    `${base} redirects to ${where}; write the address of the API itself as url.`,
  )
}

/**
 * The body of an answer.
 * @throws ApiError, NoAnswerError when the answer breaks off, ForeignAnswerError when the API did
 * not send it
 */
function bodyOf(base: string, { ok, headers, status }: Response, text: string, method?: string) {
  if (status === 304 || (status === 204 && method !== undefined)) return ''
  if (!ok) throw errorOf(status, headers, text)
  const type = headers.get('content-type')?.split(';')[0] ?? 'no content type'
  if (/^application\/rss\+xml$/i.test(type)) {
    if (/<\/rss>\s*$/.test(text)) return text
    throw new NoAnswerError(brokenOff(base))
  }
  const foreign = `${base} answers ${status} with ${type} that is no answer of the API; is a proxy or a login page before it?`
  try {
    const body = JSON.parse(text)
    if (body?.status === 'ok') return body
  } catch (error) {
    if (/^application\/json$/i.test(type))
      throw new NoAnswerError(brokenOff(base), { cause: error })
  }
  throw new ForeignAnswerError(foreign)
}

/** Lists are joined by commas; null and undefined are left out. */
export function queryString(query: Query): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries<Value>({ ...query })) {
    if (value === undefined || value === null) continue
    parameters.set(name, value instanceof Date ? value.toISOString() : String(value))
  }
  return parameters.size === 0 ? '' : `?${parameters}`
}

async function readText(response: Response): Promise<string> {
  const reader = response.body?.getReader()
  if (reader === undefined) return ''
  const decoder = new TextDecoder()
  let text = ''
  for (let bytes = 0; ; ) {
    const { done, value } = await reader.read()
    if (done) return text + decoder.decode()
    bytes += value.length
    if (bytes > LONGEST_ANSWER) {
      await reader.cancel()
      throw new NoAnswerError(
        `The answer is longer than ${LONGEST_ANSWER} bytes; is this the address of the API?`,
      )
    }
    text += decoder.decode(value, { stream: true })
  }
}

/**
 * The address without white space, without a last slash, and without `/v1`, which the client adds.
 */
function checkedUrl(written: string): string {
  const address = String(written).trim()
  const url = URL.canParse(address) ? new URL(address) : null
  const isApi = url !== null && /^https?:$/.test(url.protocol) && !url.username && !url.password
  if (!isApi || url.search || url.hash) {
    throw new PerscopeError('url must be the address of the API, such as https://news.example.')
  }
  return url.href.replace(/\/+(v1\/*)?$/, '')
}

/** The key without white space around it. Error messages never contain the key. */
function checkedKey(written: string): string {
  const key = String(written ?? '').trim()
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new PerscopeError(
      'key must be an API key: one word of printable ASCII characters, such as psk_….',
    )
  }
  return key
}

const FIRST_BACK_OFF = 500
const LONGEST_BACK_OFF = 30_000

/**
 * ms after which the same request may succeed; null: it will not. By the contract a client waits
 * when the minute is used up, or when the server fails. Any other 4xx is final.
 */
function waitAfter(error: unknown, attempt: number): number | null {
  const backOff = Math.min(LONGEST_BACK_OFF, FIRST_BACK_OFF * 2 ** attempt)
  if (error instanceof NoAnswerError) return backOff
  if (!(error instanceof ApiError)) return null
  if (error.code !== 'rate_limit_exceeded' && error.status < 500) return null
  return error.retryAfter === null ? backOff : error.retryAfter * 1_000
}

/** Resolves after this many ms. @throws the signal's reason when it is aborted before */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    if (signal?.aborted) stop()
    else signal?.addEventListener('abort', stop, { once: true })
  })
}

/** The counters of an answer; null: it has none, because the server did not know the plan. */
function readLimits(headers: Headers): Limits | null {
  const number = (name: string) => Number(headers.get(name))
  if (!/^\d+$/.test(headers.get('x-ratelimit-limit') ?? '')) return null
  return {
    rate: { limit: number('x-ratelimit-limit'), remaining: number('x-ratelimit-remaining') },
    quota: headers.has('x-quota-limit')
      ? {
          limit: number('x-quota-limit'),
          remaining: number('x-quota-remaining'),
          reset: new Date(number('x-quota-reset') * 1_000),
          period: headers.get('x-quota-period') ?? '',
        }
      : null,
  }
}

const CLASSES: Readonly<Record<string, typeof ApiError>> = {
  missing_token: KeyError,
  invalid_token: KeyError,
  too_many_failed_attempts: LockedError,
  rate_limit_exceeded: RateLimitError,
  quota_exceeded: QuotaError,
  invalid_request: InvalidRequestError,
  country_not_included: PlanError,
  history_not_included: PlanError,
  semantic_search_unavailable: SemanticUnavailableError,
}

/**
 * Makes an error of an answer. An answer without an error object, such as a proxy's page, has the
 * code `no_error_object`.
 */
function errorOf(status: number, headers: Headers, text: string): ApiError {
  const body = readErrorObject(text)
  const retryAfter = headers.get('retry-after') ?? ''
  const details: ApiErrorDetails = {
    status,
    code: body?.code ?? 'no_error_object',
    errors: body?.errors ?? {},
    retryAfter: /^\d+$/.test(retryAfter) ? Number(retryAfter) : null,
    requestId: headers.get('x-request-id'),
  }
  const Class = CLASSES[details.code] ?? ApiError
  return new Class(body?.message ?? 'The server answered without saying what is wrong.', details)
}

function readErrorObject(text: string): ErrorObject | null {
  try {
    const body: Partial<ErrorObject> | null = JSON.parse(text)
    const isOne = typeof body?.code === 'string' && typeof body.message === 'string'
    return isOne
      ? { status: 'error', code: body.code!, message: body.message!, errors: body.errors ?? {} }
      : null
  } catch {
    return null
  }
}
