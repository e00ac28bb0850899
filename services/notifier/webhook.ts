import { createHmac } from 'node:crypto'
import { isIP } from 'node:net'
import { Agent, buildConnector, request } from 'undici'
import { lookupAmong } from '../../shared/addresses.ts'
import type { Config } from '../../shared/config/config.ts'
import { isOwn, PUBLIC } from '../../shared/desk/alerts/address.ts'

/** ms in which a receiver must answer. */
const ANSWERS = 10_000

/** A message did not arrive. `message` is a sentence that the owner of the alert may read. */
export class NotDelivered extends Error {
  override name = 'NotDelivered'
}

/**
 * Posts messages to receivers, signed by the Standard Webhooks specification. It follows no
 * redirect, and connects only to public addresses, unless ALERT_HOSTS names the host.
 */
export function openWebhooks(config: Pick<Config, 'ALERT_HOSTS' | 'CRAWL_USER_AGENT'>) {
  const options = {
    connect: { timeout: ANSWERS },
    headersTimeout: ANSWERS,
    bodyTimeout: ANSWERS,
    connections: 4,
  }
  const own = new Agent(options)
  const strangers = new Agent({ ...options, connect: guarded() })
  return {
    /** @throws NotDelivered */
    async send(to: string, message: { id: string; body: string; secret: string }): Promise<void> {
      const timestamp = String(Math.floor(Date.now() / 1_000))
      const headers = {
        'content-type': 'application/json',
        'user-agent': 'Perscope',
        'webhook-id': message.id,
        'webhook-timestamp': timestamp,
        'webhook-signature': signatureOf(message, timestamp),
      }
      const dispatcher = isOwn(new URL(to), config) ? own : strangers
      const signal = AbortSignal.timeout(ANSWERS)
      const sent = { method: 'POST' as const, headers, body: message.body, dispatcher, signal }
      const answer = await request(to, sent).catch((error: unknown) => {
        throw new NotDelivered(
          signal.aborted ? `It did not answer within ${ANSWERS / 1_000} s.` : reasonOf(error),
        )
      })
      // The text of the answer is not needed.
      await answer.body.dump({ limit: 65_536 }).catch(() => {})
      if (answer.statusCode < 200 || answer.statusCode > 299)
        throw new NotDelivered(`It answered ${answer.statusCode}.`)
    },
    close: async (): Promise<void> => {
      await Promise.all([own.destroy(), strangers.destroy()])
    },
  }
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
function guarded(): buildConnector.connector {
  const isPublic = (address: string) => PUBLIC.isPublic(address)
  const refused = (host: string) => new NotDelivered(`The host ${host} has no public address.`)
  const connect = buildConnector({ timeout: ANSWERS, lookup: lookupAmong(isPublic, refused) })
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
