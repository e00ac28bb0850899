import { createHmac, timingSafeEqual } from 'node:crypto'
import { loadSharedSecret, type Queryable, readRow } from '../../postgres/pool.ts'
import { ALERT_COLUMNS, type Alert } from './alerts.ts'
import type { LinkPurpose } from './consent.ts'

/**
 * The secrets of alerts. All are computed from one secret that all processes share, so the database
 * stores none of them.
 */
export interface AlertSecrets {
  /** The secret that signs the webhooks of an alert (Standard Webhooks: `whsec_` and base64). */
  signing(alertId: string): string
  /** The token of a link, for one address. */
  token(purpose: LinkPurpose, alert: Pick<Alert, 'id' | 'to'>): string
  /** Finds the alert of a token; null: no alert has this token. */
  open(purpose: LinkPurpose, token: string): Promise<Alert | null>
}

export async function loadAlertSecrets(db: Queryable): Promise<AlertSecrets> {
  const secret = await loadSharedSecret(db, 'alerts')
  const made = (...parts: string[]) =>
    createHmac('sha256', secret).update(JSON.stringify(parts)).digest()
  const tokenOf = (purpose: LinkPurpose, { id, to }: Pick<Alert, 'id' | 'to'>): string =>
    `${id.slice('alert_'.length)}${made(purpose, id, to).toString('base64url')}`
  return {
    signing: (alertId: string): string => `whsec_${made('sign', alertId).toString('base64')}`,
    token: tokenOf,
    async open(purpose: LinkPurpose, token: string): Promise<Alert | null> {
      const id = `alert_${token.slice(0, 16)}`
      const alert = await readRow<Alert>(
        db,
        `select ${ALERT_COLUMNS} from search_alerts where alert_id = $1`,
        [id],
      )
      if (alert === undefined) return null
      // This compares texts, because the last letter of base64url has bits without meaning, and
      // decoding would ignore them.
      const given = Buffer.from(token)
      const own = Buffer.from(tokenOf(purpose, alert))
      return given.length === own.length && timingSafeEqual(given, own) ? alert : null
    },
  }
}
