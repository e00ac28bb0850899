import type { Request, RequestHandler } from 'express'
import { ApiError, invalid } from '#services/api/contract/errors'
import { createProblems, rawQueryOf, readQueryString } from '#services/api/contract/query-string'
import { isRecord } from '#shared/encoding/is-record'
import { parseJson } from '#shared/encoding/json'

/**
 * ms in which a body has to arrive. The server's own limit for a request is longer, and ends the
 * connection without an answer.
 */
const BODY_TIMEOUT = 10_000

/**
 * Middleware that reads the uncompressed body of a POST up to a limit. It runs after the key is
 * checked and the request is counted in its minute, so strangers' bodies are never read.
 * `express.raw` would read a body that is too long to its end before it refuses it.
 */
export const readBody =
  (most: number): RequestHandler =>
  async (request, response, next) => {
    if (Number(request.headers['content-length'] ?? 0) > most) throw tooLarge(most)
    const isPlain = [undefined, '', 'identity'].includes(
      request.headers['content-encoding']?.toLowerCase(),
    )
    if (!request.is('application/json') || !isPlain) throw new ApiError('unsupported_body')
    if (request.headers.expect?.toLowerCase() === '100-continue') response.writeContinue()
    request.body = await receive(request, most)
    next()
  }

function receive(request: Request, most: number): Promise<Buffer> {
  const parts: Buffer[] = []
  let length = 0
  const received = Promise.withResolvers<Buffer>()
  // The server ignores what still arrives of the body, and the connection ends with the answer.
  const refuse = (error: ApiError) => {
    request.off('data', take).resume()
    received.reject(error)
  }
  const take = (part: Buffer) => {
    length += part.length
    if (length > most) refuse(tooLarge(most))
    else parts.push(part)
  }
  const late = setTimeout(
    () => refuse(new ApiError('body_too_slow', { headers: { Connection: 'close' } })),
    BODY_TIMEOUT,
  )
  request.on('data', take)
  request.once('end', () => received.resolve(Buffer.concat(parts)))
  // The client closed the connection before the end of the body, so it reads no answer.
  request.once('close', () => received.reject(unreadable()))
  return received.promise.finally(() => clearTimeout(late))
}

/** A member of a body that is no text. */
export interface OtherMember<T> {
  name: string
  /** @returns null: the value is not valid */
  read(value: unknown): T | null
  /** The sentence that tells a client what to write. */
  sentence: string
}

/**
 * The members of the body. Each is a text, except the `other` one. Unlike `JSON.parse`, this
 * function refuses a name that stands twice, because either value may be meant.
 * @throws ApiError `invalid_request`
 */
export function readMembers<Name extends string, Other = never>(
  request: Request,
  names: readonly Name[],
  other?: OtherMember<Other>,
): Partial<Record<Name, string>> & { other?: Other } {
  const text = decode(request.body)
  const value = parse(text)
  const problems = createProblems()
  const members: Partial<Record<Name, string>> & { other?: Other } = {}
  for (const [name, member] of Object.entries(value)) {
    const known = names.find(candidate => candidate === name)
    if (other?.name === name) {
      const read = other.read(member)
      if (read === null) problems.add(name, other.sentence)
      else members.other = read
    } else if (!known) {
      const allowed = other === undefined ? names : [...names, other.name]
      problems.add(name, `There is no such member; the body may have ${allowed.join(' and ')}.`)
    } else if (typeof member !== 'string') problems.add(name, 'Write it as a text.')
    else Object.assign(members, { [known]: member })
  }
  if (!problems.any && namesIn(text) > countNames(value))
    problems.add('body', 'Give each member only once.')
  problems.refuse()
  return members
}

/** Counts the names of an object, and of all objects in it. */
const countNames = (value: unknown): number =>
  isRecord(value)
    ? Object.values(value).reduce((sum: number, one) => sum + 1 + countNames(one), 0)
    : 0

function decode(body: unknown): string {
  if (!Buffer.isBuffer(body)) throw unreadable()
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch {
    throw unreadable()
  }
}

function parse(text: string): object {
  const value = parseJson(text)
  if (isRecord(value)) return value
  throw unreadable()
}

/** Counts the names in a JSON text, at all depths. */
const namesIn = (text: string): number =>
  [...text.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?/g)].filter(([, colon]) => colon).length

const unreadable = () =>
  invalid('body', 'Send a JSON object in UTF-8, as {"search": "q=brug&country=NL"}.')

const tooLarge = (most: number) =>
  new ApiError('body_too_large', {
    message: `The body may have ${most} bytes.`,
    // The server does not read the remaining body, so the connection must end.
    headers: { Connection: 'close' },
  })

/**
 * @throws ApiError `invalid_request` with `sentence` for each parameter, when the address has any
 */
export function refuseParameters(request: Pick<Request, 'originalUrl'>, sentence: string): void {
  const problems = createProblems()
  for (const { name } of readQueryString(rawQueryOf(request.originalUrl)))
    problems.add(name, sentence)
  problems.refuse()
}
