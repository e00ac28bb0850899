import { createHmac } from 'node:crypto'
import { isIP } from 'node:net'
import type { buildConnector } from 'undici'
import { lookupAmong } from '#shared/addresses'
import type { Config } from '#shared/config/config'
import { isOwn, notPublic, PUBLIC } from '#shared/desk/alerts/address'
import { lookupApart } from '#shared/desk/alerts/names'
import { readRetryAfter } from '#shared/resilience/retry-after'
import { SENT_WITHIN } from './retries.ts'

/** A message did not arrive. `message` is a sentence that the owner of the alert may read. */
export class NotDelivered extends Error {
  override name = 'NotDelivered'
  /** ms for which the receiver wants no other message; null: it did not say. */
  readonly retryAfter: number | null
  /** The receiver is gone for good, so the alert rests at once. */
  readonly isGone: boolean
  /** No answer came: the host takes a place for long, or cannot be reached. */
  readonly isUnreachable: boolean

  constructor(
    why: string,
    {
      retryAfter = null,
      isGone = false,
      isUnreachable = false,
    }: Partial<Pick<NotDelivered, 'retryAfter' | 'isGone' | 'isUnreachable'>> = {},
  ) {
    super(why)
    this.retryAfter = retryAfter
    this.isGone = isGone
    this.isUnreachable = isUnreachable
  }
}

/** Posts messages to receivers. */
export interface Webhooks {
  /** @throws NotDelivered */
  send(to: string, message: { id: string; body: string; secret: string }): Promise<void>
  close(): Promise<void>
}

/**
 * Posts messages to receivers, signed by the Standard Webhooks specification. It follows no
 * redirect, and connects only to public addresses, unless ALERT_HOSTS names the host.
 */
export function openWebhooks(config: Pick<Config, 'ALERT_HOSTS'>): Webhooks {
  let opened: ReturnType<typeof openAgents> | undefined
  return {
    async send(to: string, message: { id: string; body: string; secret: string }): Promise<void> {
      const timestamp = String(Math.floor(Date.now() / 1_000))
      const headers = {
        'content-type': 'application/json',
        'user-agent': 'Perscope',
        'webhook-id': message.id,
        'webhook-timestamp': timestamp,
        'webhook-signature': signatureOf(message, timestamp),
      }
      opened ??= openAgents()
      const { own, others, request } = await opened
      const dispatcher = isOwn(new URL(to), config) ? own : others
      const signal = AbortSignal.timeout(SENT_WITHIN)
      const sent = { method: 'POST' as const, headers, body: message.body, dispatcher, signal }
      const answer = await request(to, sent).catch((error: unknown) => {
        const why = signal.aborted
          ? `It did not answer within ${SENT_WITHIN / 1_000} s.`
          : reasonOf(error)
        throw new NotDelivered(why, { isUnreachable: true })
      })
      // The text of the answer is not needed.
      await answer.body.dump({ limit: 65_536 }).catch(() => {})
      refuseAnswer(answer.statusCode, name => String(answer.headers[name] ?? ''))
    },
    close: async (): Promise<void> => {
      const agents = await opened
      await Promise.all([agents?.own.destroy(), agents?.others.destroy()])
    },
  }
}

/** Loads undici with the first message, because many notifiers send none. */
async function openAgents() {
  const { Agent, buildConnector, request } = await import('undici')
  const options = {
    connect: { timeout: SENT_WITHIN },
    headersTimeout: SENT_WITHIN,
    bodyTimeout: SENT_WITHIN,
  }
  const others = new Agent({ ...options, connect: guarded(buildConnector) })
  return { own: new Agent(options), others, request }
}

/**
 * Takes every answer but 2xx as a failure. 410 says that the receiver is gone (Standard Webhooks);
 * 429 and 503 may say when it wants the next message (RFC 9110 §10.2.3).
 *
 * @throws NotDelivered
 */
function refuseAnswer(status: number, header: (name: string) => string): void {
  if (status >= 200 && status <= 299) return
  if (status === 410)
    throw new NotDelivered('It answered 410: it is gone for good.', { isGone: true })
  const asks = status === 429 || status === 503
  const retryAfter = asks ? readRetryAfter(header('retry-after'), header('date')) : null
  throw new NotDelivered(`It answered ${status}.`, { retryAfter })
}

/** `v1,` and HMAC-SHA256 of id, time and body, with the bytes of the secret. */
function signatureOf(
  { id, body, secret }: { id: string; body: string; secret: string },
  timestamp: string,
): string {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
}

/**
 * Checks the address of each connection, because the name may have got another address since the
 * alert was made.
 */
function guarded(build: typeof buildConnector): buildConnector.connector {
  const isPublic = (address: string) => PUBLIC.isPublic(address)
  const refused = (host: string) => new NotDelivered(notPublic(host))
  const connect = build({
    timeout: SENT_WITHIN,
    lookup: lookupAmong(isPublic, refused, lookupApart),
  })
  return (options, callback) => {
    const host = options.hostname.replace(/^\[|\]$/g, '')
    if (isIP(host) !== 0 && !isPublic(host)) callback(refused(host), null)
    else connect(options, callback)
  }
}

/**
 * Why no answer came. It names only the kind of failure, because details could reveal parts of our
 * network.
 */
function reasonOf(error: unknown): string {
  if (error instanceof NotDelivered) return error.message
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'Its host has no address.'
  if (/CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO/.test(code)) return 'Its certificate is not in order.'
  return 'It cannot be reached.'
}
