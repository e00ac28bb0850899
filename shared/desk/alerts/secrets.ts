import { createHmac, timingSafeEqual } from 'node:crypto'
import { loadSharedSecret, type Queryable } from '#shared/postgres/pool'
import type { Alert } from './alerts.ts'

/**
 * The secrets of alerts. All are computed from one secret that all processes share, so the database
 * stores none of them.
 */
export interface AlertSecrets {
  /** The secret that signs the webhooks of an alert (Standard Webhooks: `whsec_` and base64). */
  signing(alertId: string): string
  /** The token of the link that ends alerts of one address. It works for ever. */
  ending(alerts: readonly Pick<Alert, 'id' | 'to'>[]): string
  /**
   * Finds the alerts of such a token that are left, with the names of their searches; empty: none
   * has this token.
   */
  openEnding(token: string): Promise<EndingAlert[]>
  /** The token of the link that agrees to what one mail asked. */
  agreeing(askId: string): string
  /** The id of the mail with this token; null: the token is forged. */
  openAgreeing(token: string): string | null
}

/** An alert that a link ends, with the name of its search. */
export type EndingAlert = Pick<Alert, 'id' | 'to' | 'rests'> & { name: string }

/** Before each id of an alert, which tokens leave out. */
const PREFIX = 'alert_'
/** Letters of a digest in base64url. */
const DIGEST = 43

// $1 ids. Index: unique alert_id
const ENDING = `
  select a.alert_id as id, a.told_to as to, a.rests, s.name from search_alerts a join kept_searches s using (search_id)
   where a.alert_id = any ($1) order by array_position($1, a.alert_id)`

export async function loadAlertSecrets(db: Queryable): Promise<AlertSecrets> {
  const secret = await loadSharedSecret(db, 'alerts')
  const made = (...parts: string[]) =>
    createHmac('sha256', secret).update(JSON.stringify(parts)).digest()
  const ending = (alerts: readonly Pick<Alert, 'id' | 'to'>[]): string => {
    const ids = alerts.map(({ id }) => id)
    const digest = made('unsubscribe', ...ids, alerts[0]?.to ?? '').toString('base64url')
    return `${ids.map(id => id.slice(PREFIX.length)).join('')}${digest}`
  }
  const agreeing = (askId: string): string =>
    `${askId.slice('msg_'.length)}${made('agree', askId).toString('base64url')}`
  return {
    signing: (alertId: string): string => `whsec_${made('sign', alertId).toString('base64')}`,
    ending,
    async openEnding(token: string): Promise<EndingAlert[]> {
      const ids = (token.slice(0, -DIGEST).match(/.{16}/g) ?? []).map(id => `${PREFIX}${id}`)
      const { rows } = await db.query<EndingAlert>(ENDING, [ids])
      // An alert that has got another address since is not of this token.
      return rows.filter(({ to }) => isSame(token, ending(ids.map(id => ({ id, to })))))
    },
    agreeing,
    openAgreeing(token: string): string | null {
      const id = `msg_${token.slice(0, 32)}`
      return isSame(token, agreeing(id)) ? id : null
    },
  }
}

/**
 * Compares texts, because the last letter of base64url has bits without meaning, and decoding would
 * ignore them.
 */
function isSame(token: string, own: string): boolean {
  const bytes = Buffer.from(token)
  const owned = Buffer.from(own)
  return bytes.length === owned.length && timingSafeEqual(bytes, owned)
}
