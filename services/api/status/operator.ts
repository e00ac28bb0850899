import { createHash, timingSafeEqual } from 'node:crypto'
import type { Request, RequestHandler } from 'express'
import { readCredentials } from '../access/access.ts'
import { type AddressLock, lockAddress } from '../access/lock.ts'
import { ApiError } from '../contract/errors.ts'

const REALM = 'Perscope operators'

/**
 * Lets in who sends the operator's key: as a Bearer token, or as the password of HTTP Basic (RFC
 * 7617), for which a browser asks by itself. A wrong one counts against its address as a wrong API
 * key does (decision 3); the right one works also from a locked address, and while the database is
 * away.
 */
export function requireOperator(key: string, lock: AddressLock): RequestHandler {
  const expected = digest(key)
  return async (request, _response, next) => {
    const sent = readKey(request)
    if (sent.kind === 'key' && timingSafeEqual(digest(sent.key), expected)) return next()
    const address = lockAddress(request.ip, request.socket.remoteAddress)
    const asking = sent.kind === 'missing' ? lock.remaining(address) : lock.fail(address)
    // These pages tell what is wrong with the database: it must not be needed to be asked for the
    // key.
    const seconds = await asking.catch(() => null)
    if (seconds !== null) {
      throw new ApiError('too_many_failed_attempts', { headers: { 'Retry-After': String(seconds) } })
    }
    throw new ApiError(sent.kind === 'missing' ? 'missing_token' : 'invalid_token', {
      message:
        sent.kind === 'missing'
          ? 'This page is for operators: send OPERATOR_KEY as a Bearer token, or as the password of HTTP Basic with any name.'
          : 'This is not the key of the operators (OPERATOR_KEY).',
      headers: { 'WWW-Authenticate': `Basic realm="${REALM}", charset="UTF-8", Bearer realm="${REALM}"` },
    })
  }
}

type Sent = { kind: 'missing' } | { kind: 'malformed' } | { kind: 'key'; key: string }

function readKey(request: Request): Sent {
  const headers = request.headersDistinct.authorization ?? []
  const basic = headers.length === 1 ? /^basic +([A-Za-z0-9+/]+=*)$/i.exec(headers[0]?.trim() ?? '')?.[1] : undefined
  if (basic !== undefined) {
    const pair = Buffer.from(basic, 'base64').toString('utf8')
    const password = pair.slice(pair.indexOf(':') + 1)
    // A browser that is asked and given nothing sends an empty password.
    return password === '' ? { kind: 'missing' } : { kind: 'key', key: password }
  }
  const credentials = readCredentials(request)
  return credentials.kind === 'bearer' ? { kind: 'key', key: credentials.token } : credentials
}

/** Of equal length whatever is sent, so that they can be compared in constant time. */
const digest = (text: string) => createHash('sha256').update(text).digest()
