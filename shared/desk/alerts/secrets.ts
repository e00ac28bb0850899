import { createHmac, timingSafeEqual } from 'node:crypto'
import { loadSharedSecret, type Queryable, readRow } from '../../postgres/pool.ts'
import { ALERT_COLUMNS, type Alert } from './alerts.ts'

/**
 * The secrets of alerts. All are computed from one secret that all processes share, so the database
 * stores none of them.
 */
export interface AlertSecrets {
  /** The secret that signs the webhooks of an alert (Standard Webhooks: `whsec_` and base64). */
  signing(alertId: string): string
  /** The token of the link that ends an alert, for one address. It works for ever. */
  ending(alert: Pick<Alert, 'id' | 'to'>): string
  /** Finds the alert of such a token; null: no alert has this token. */
  openEnding(token: string): Promise<Alert | null>
  /** The token of the link that agrees to what one mail asked. */
  agreeing(askId: string): string
  /** The id of the mail with this token; null: the token is forged. */
  openAgreeing(token: string): string | null
}

export async function loadAlertSecrets(db: Queryable): Promise<AlertSecrets> {
  const secret = await loadSharedSecret(db, 'alerts')
  const made = (...parts: string[]) =>
    createHmac('sha256', secret).update(JSON.stringify(parts)).digest()
  const ending = ({ id, to }: Pick<Alert, 'id' | 'to'>): string =>
    `${id.slice('alert_'.length)}${made('unsubscribe', id, to).toString('base64url')}`
  const agreeing = (askId: string): string =>
    `${askId.slice('msg_'.length)}${made('agree', askId).toString('base64url')}`
  return {
    signing: (alertId: string): string => `whsec_${made('sign', alertId).toString('base64')}`,
    ending,
    async openEnding(token: string): Promise<Alert | null> {
      const id = `alert_${token.slice(0, 16)}`
      const alert = await readRow<Alert>(
        db,
        `select ${ALERT_COLUMNS} from search_alerts where alert_id = $1`,
        [id],
      )
      return alert !== undefined && isSame(token, ending(alert)) ? alert : null
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
