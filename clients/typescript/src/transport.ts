import { errorOf, NoAnswerError } from './errors.ts'
import { type Limits, readLimits } from './limits.ts'
import { sleep, waitAfter } from './wait.ts'

export interface ClientOptions {
  /** Address of the API, as `https://news.example`. */
  url: string
  key: string
  /** Longest one attempt may take, in ms; 30,000 by default. */
  timeout?: number | undefined
  /**
   * How often a request is repeated that may do better later: the minute is used up, 5xx, no
   * answer. 5 by default.
   */
  retries?: number | undefined
  /** A longer wait than this, in ms, is not begun: the error is thrown. 120,000 by default. */
  longestWait?: number | undefined
  /** Ends requests and waits. */
  signal?: AbortSignal | undefined
  /** Told before each wait. */
  onWait?(ms: number, reason: unknown): void
}

/** An answer of 200 or, to a request with an ETag, 304. */
export interface Answer {
  status: number
  etag: string | null
  text: string
}

export type Value = string | number | boolean | Date | readonly string[] | null | undefined
export type Query = object

/** Far more than a page of 100 articles takes. */
const LONGEST_ANSWER = 32 * 1024 * 1024

/** Sends requests with the key, repeats them by the contract, and keeps the counters. */
export interface Transport {
  limits(): Limits | null
  /** @throws ApiError, NoAnswerError, or the signal's reason */
  ask(path: string, query: Query, etag?: string | null): Promise<Answer>
}

export function createTransport(options: ClientOptions): Transport {
  const base = options.url.replace(/\/+$/, '')
  const { timeout = 30_000, retries = 5, longestWait = 120_000, signal } = options
  let limits: Limits | null = null

  async function once(address: string, etag: string | null): Promise<Answer> {
    const headers = { Authorization: `Bearer ${options.key}`, ...(etag === null ? {} : { 'If-None-Match': etag }) }
    const limit = AbortSignal.timeout(timeout)
    try {
      const response = await fetch(address, {
        headers,
        cache: 'no-store',
        signal: signal ? AbortSignal.any([limit, signal]) : limit,
      })
      const text = await readText(response)
      limits = readLimits(response.headers) ?? limits
      if (response.ok || response.status === 304) {
        return { status: response.status, etag: response.headers.get('etag'), text }
      }
      throw errorOf(response.status, response.headers, text)
    } catch (error) {
      if (signal?.aborted) throw signal.reason
      if (limit.aborted) throw new NoAnswerError(`${base} did not answer within ${timeout} ms.`, { cause: error })
      // fetch throws a TypeError when nothing answers, or when an answer breaks off.
      if (error instanceof TypeError) throw new NoAnswerError(`${base} cannot be reached.`, { cause: error })
      throw error
    }
  }

  return {
    limits: () => limits,
    async ask(path, query, etag = null) {
      const address = `${base}${path}${queryString(query)}`
      for (let attempt = 0; ; attempt++) {
        try {
          return await once(address, etag)
        } catch (error) {
          const wait = attempt < retries ? waitAfter(error, attempt) : null
          if (wait === null || wait > longestWait) throw error
          options.onWait?.(wait, error)
          await sleep(wait, signal)
        }
      }
    },
  }
}

/** Lists are joined by commas; what is null or undefined is left out. */
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
      throw new NoAnswerError(`The answer is longer than ${LONGEST_ANSWER} bytes; is this the address of the API?`)
    }
    text += decoder.decode(value, { stream: true })
  }
}
