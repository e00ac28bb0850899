/** Why no usable answer came, in the form that the page shows. */
export interface Failure {
  kind: 'failure'
  /**
   * The API's code; `offline` when no answer came; `unreadable` when the answer could not be read.
   */
  code: string
  /** The API's message; empty when no answer came. */
  message: string
  /** Sentences by the name of the parameter. */
  errors: Record<string, string[]>
  /** Seconds that the API asks to wait; null when it does not say. */
  retryAfter: number | null
  /** The id of the request, which the page shows with a lasting error. */
  requestId: string
}

interface Answer<T> {
  kind: 'ok'
  value: T
  /** How many requests the plan allows in a month; null: no quota. */
  quota: number | null
  /** The share of the minute's requests that is left. */
  room: number
}

export type Outcome<T> = Answer<T> | Failure

export interface Asking {
  /** Absent: the key of the page. */
  key?: string
  signal?: AbortSignal | undefined
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  body?: unknown
}

/**
 * The key of this page's requests; null: the browser sends the password for which it asked when it
 * opened the page.
 */
let ownKey: string | null = null
export const pageKey = (): string | null => ownKey
export function setPageKey(key: string): void {
  ownKey = key
}

/**
 * ms that a request waits for its answer. Most take milliseconds, semantic search at most two
 * seconds.
 */
const TIMEOUT = 20_000

/**
 * Sends a request to the API, with the key in the header and never in the address.
 *
 * @param is whether the JSON has the expected form; the API of the same release sends the whole
 * form
 * @throws AbortError when `signal` aborts
 */
export async function ask<T>(
  path: string,
  is: (json: unknown) => json is T,
  asking: Asking = {},
): Promise<Outcome<T>> {
  const response = await exchange(path, asking)
  if (!(response instanceof Response)) return response
  const value = await readJson(response, asking.signal)
  if (!is(value))
    return { ...failure('unreadable'), requestId: response.headers.get('X-Request-Id') ?? '' }
  const count = (name: string) => numberOf(response.headers.get(name))
  const room = (count('X-RateLimit-Remaining') ?? 1) / (count('X-RateLimit-Limit') || 1)
  return { kind: 'ok', value, quota: count('X-Quota-Limit'), room }
}

/** Requests a file, whose content is not parsed. */
export async function askFile(path: string, asking: Asking = {}): Promise<Outcome<Blob>> {
  const response = await exchange(path, asking)
  return response instanceof Response
    ? { kind: 'ok', value: await response.blob(), quota: null, room: 1 }
    : response
}

/** A successful answer, whose body is not read yet; or the reason why there is none. */
async function exchange(path: string, asking: Asking): Promise<Response | Failure> {
  const key = asking.key ?? ownKey
  const response = await send(path, key, asking)
  if (response === null) return failure('offline')
  if (response.ok) return response
  const refused = refusal(response, await readJson(response, asking.signal))
  // The device forgets a key that is no longer valid. The tab still keeps it, and shows the
  // failure.
  if (refused.code === 'invalid_token' && key === localStorage.getItem(PLACE))
    localStorage.removeItem(PLACE)
  return refused
}

/** null: no answer came. */
async function send(
  path: string,
  key: string | null,
  { signal, method = 'GET', body }: Asking,
): Promise<Response | null> {
  const headers = new Headers(key === null ? {} : { Authorization: `Bearer ${key}` })
  if (body !== undefined) headers.set('Content-Type', 'application/json')
  const late = AbortSignal.timeout(TIMEOUT)
  try {
    return await fetch(path, {
      method,
      headers,
      cache: 'no-store',
      credentials: key === null ? 'same-origin' : 'omit',
      signal: signal === undefined ? late : AbortSignal.any([signal, late]),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  } catch (error) {
    if (signal?.aborted) throw error
    return null
  }
}

async function readJson(response: Response, signal: AbortSignal | undefined): Promise<unknown> {
  try {
    return await response.json()
  } catch (error) {
    if (signal?.aborted) throw error
    return null
  }
}

function refusal(response: Response, json: unknown): Failure {
  const retryAfter = numberOf(response.headers.get('Retry-After'))
  const requestId = response.headers.get('X-Request-Id') ?? ''
  if (!isRecord(json) || typeof json.code !== 'string')
    return { ...failure('unreadable'), retryAfter, requestId }
  return {
    ...failure('unreadable'),
    code: json.code,
    message: typeof json.message === 'string' ? json.message : '',
    errors: readErrors(json.errors),
    retryAfter,
    requestId,
  }
}

/** The failure in a sentence for operators. */
export function sentenceOf({ code, message }: Failure): string {
  return code === 'offline'
    ? 'The API does not answer.'
    : message || 'The answer of the API cannot be read.'
}

function readErrors(value: unknown): Record<string, string[]> {
  if (!isRecord(value)) return {}
  const isText = (one: unknown): one is string => typeof one === 'string'
  return Object.fromEntries(
    Object.entries(value).map(([name, list]) => [
      name,
      Array.isArray(list) ? list.filter(isText) : [],
    ]),
  )
}

function failure(code: string): Failure {
  return { kind: 'failure', code, message: '', errors: {}, retryAfter: null, requestId: '' }
}

const numberOf = (text: string | null) =>
  text === null || !/^\d+$/.test(text) ? null : Number(text)

/** Whether an answer has a list with this name. */
export const hasList = (json: unknown, name: string): boolean =>
  isRecord(json) && Array.isArray(json[name])

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Whether the `data` of an answer is a list, or an object. */
export const isListOf = <T>(json: unknown): json is { data: T[] } => hasList(json, 'data')
export const isOneOf = <T>(json: unknown): json is { data: T } =>
  isRecord(json) && isRecord(json.data)

/** An address that is safe in a link: a page of the web, and no script. */
export const safeAddress = (url: string): string | null => (/^https?:\/\//i.test(url) ? url : null)

const PLACE = 'perscope.key'
/** Where a tab keeps the reader's place in results. It ends with the key. */
export const READING_PLACE = 'perscope.place'

/** The key in a text; null: the text has no key. */
export const keyIn = (text: string): string | null => /\bpsk_[\w-]{16,}/.exec(text)?.[0] ?? null

/**
 * Removes a key from the address, where a link (`/#key=psk_…`) or a search has it. The fragment is
 * never sent to a server. The key leaves the address at once, so that no shared or stored address
 * contains it. A tab without a key stores it, only for this tab.
 *
 * @returns a key that differs from the tab's own key: the reader must choose between them
 */
export function takeKeyFromAddress(): string | null {
  const fragment = new URLSearchParams(location.hash.slice(1)).get('key')?.trim()
  const parameters = new URLSearchParams(location.search)
  const written = [...parameters].filter(([name, value]) => keyIn(`${name} ${value}`) !== null)
  const key = fragment || keyIn(written.flat().join(' '))
  if (!key) return null
  for (const [name] of written) parameters.delete(name)
  const query = written.length > 0 ? String(parameters) : location.search.slice(1)
  history.replaceState(history.state, '', location.pathname + (query === '' ? '' : `?${query}`))
  if (knownKey() === '') rememberKey(key)
  return knownKey() === key ? null : key
}

export const knownKey = (): string =>
  sessionStorage.getItem(PLACE) ?? localStorage.getItem(PLACE) ?? ''

/**
 * @param onDevice true: all tabs have the key until it is forgotten or refused. False, or a page
 * without https: only this tab has it
 */
export function rememberKey(key: string, onDevice = false): void {
  forgetKey(onDevice)
  const place = onDevice && isSecureContext ? localStorage : sessionStorage
  place.setItem(PLACE, key)
}

/** @param onDevice whether the device forgets the key, too */
export function forgetKey(onDevice = true): void {
  for (const place of [PLACE, READING_PLACE]) sessionStorage.removeItem(place)
  if (onDevice) localStorage.removeItem(PLACE)
}
