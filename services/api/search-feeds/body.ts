import type { Request, RequestHandler } from 'express'
import { ApiError } from '../contract/errors.ts'
import { createProblems } from '../contract/query-string.ts'

/** ms; shorter than the server's own limit for a request, which sends no word. */
const BODY_TIMEOUT = 10_000

const NOT_AN_OBJECT = 'Send a JSON object in UTF-8, as {"search": "q=brug&country=NL"}.'

/**
 * Middleware that reads the body of a POST, up to its limit, uncompressed. It stands behind the key
 * and the minute: nobody else's body is read. `express.raw` would read a body beyond the limit to
 * its end before it says so, and wait for that end.
 */
export const readBody: RequestHandler = async (request, response, next) => {
  if (Number(request.headers['content-length'] ?? 0) > FEED_LIMITS.body) throw tooLarge()
  const isPlain = [undefined, '', 'identity'].includes(request.headers['content-encoding']?.toLowerCase())
  if (!request.is('application/json') || !isPlain) throw new ApiError('unsupported_body')
  if (request.headers.expect?.toLowerCase() === '100-continue') response.writeContinue()
  request.body = await receive(request)
  next()
}

function receive(request: Request): Promise<Buffer> {
  const parts: Buffer[] = []
  let length = 0
  const received = Promise.withResolvers<Buffer>()
  // What still comes is dropped, and the connection ends with the answer.
  const refuse = (error: ApiError) => {
    request.off('data', take).resume()
    received.reject(error)
  }
  const take = (part: Buffer) => {
    length += part.length
    if (length > FEED_LIMITS.body) refuse(tooLarge())
    else parts.push(part)
  }
  const late = setTimeout(
    () => refuse(new ApiError('body_too_slow', { headers: { Connection: 'close' } })),
    BODY_TIMEOUT,
  )
  request.on('data', take)
  request.once('end', () => received.resolve(Buffer.concat(parts)))
  // Cut short: nobody is left to be answered.
  request.once('close', () => received.reject(unreadable()))
  return received.promise.finally(() => clearTimeout(late))
}

/**
 * The members of the body, each a text. Unlike `JSON.parse`, it takes no name twice: which of two
 * values was meant nobody knows.
 * @throws ApiError `invalid_request`
 */
export function readMembers<Name extends string>(
  request: Request,
  names: readonly Name[],
): Partial<Record<Name, string>> {
  const text = decode(request.body)
  const value = parse(text)
  const problems = createProblems()
  const members: Partial<Record<Name, string>> = {}
  for (const [name, member] of Object.entries(value)) {
    const known = names.find(candidate => candidate === name)
    if (!known) problems.add(name, `There is no such member; the body may have ${names.join(' and ')}.`)
    else if (typeof member !== 'string') problems.add(name, 'Write it as a text.')
    else members[known] = member
  }
  if (!problems.any && namesIn(text) > Object.keys(members).length) {
    problems.add('body', 'Give each member only once.')
  }
  if (problems.any) throw new ApiError('invalid_request', { errors: problems.toObject() })
  return members
}

function decode(body: unknown): string {
  if (!Buffer.isBuffer(body)) throw unreadable()
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch {
    throw unreadable()
  }
}

function parse(text: string): object {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  } catch {
    // Said below.
  }
  throw unreadable()
}

/** How many names stand in an object whose values are all texts. */
const namesIn = (text: string): number =>
  [...text.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?/g)].filter(([, colon]) => colon).length

const unreadable = () => new ApiError('invalid_request', { errors: { body: [NOT_AN_OBJECT] } })

const tooLarge = () =>
  new ApiError('body_too_large', {
    message: `The body may have ${FEED_LIMITS.body} bytes.`,
    // What is still to come is not read.
    headers: { Connection: 'close' },
  })

/** Limits of what describes a feed. */
export const FEED_LIMITS = {
  /** Code points. */
  title: 191,
  /**
   * Characters of a query string: the longest values of all parameters, percent-encoded, take
   * 7,500.
   */
  search: 8_192,
  /** Bytes of a request's body: both of the above in JSON. */
  body: 16_384,
} as const
