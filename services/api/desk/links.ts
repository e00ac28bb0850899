import { type Request, type RequestHandler, Router } from 'express'
import type { Alert } from '../../../shared/desk/alerts/alerts.ts'
import { ASKED_FOR, answerOwner, type LinkPurpose } from '../../../shared/desk/alerts/consent.ts'
import { loadAlertSecrets } from '../../../shared/desk/alerts/secrets.ts'
import { type Pool, readValue } from '../../../shared/postgres/pool.ts'
import { refuseStranger } from '../access/access.ts'
import { lockAddress } from '../access/lock.ts'
import type { Permits } from '../access/permits.ts'

const LINK = /^\/(confirm|unsubscribe)\/([\w-]{59})$/

/**
 * The pages behind the links of mails, for owners of addresses who have no key. A GET of the link
 * to confirm confirms. To unsubscribe takes a POST, which mail programs send with one click (RFC
 * 8058). So a program that opens links in advance unsubscribes nobody.
 */
export function linkPages(pool: Pool, strangers: Permits): Router {
  const router = Router({ strict: true, caseSensitive: true })
  const by =
    (
      work: (purpose: LinkPurpose, alert: Alert, request: Request) => Promise<string>,
    ): RequestHandler =>
    async (request, response) => {
      const [, purpose, token = ''] = LINK.exec(request.path) ?? []
      const named = purpose === 'confirm' ? 'confirm' : 'unsubscribe'
      const address = lockAddress(request.ip, request.socket.remoteAddress)
      const open = async () => (await loadAlertSecrets(pool)).open(named, token)
      const alert = await strangers.take(`link ${address}`, open).catch(refuseStranger)
      const text =
        alert === null ? 'This link leads to nothing any more.' : await work(named, alert, request)
      response.set({ 'Cache-Control': 'no-store', 'X-Robots-Tag': 'noindex, nofollow' })
      response.set(
        'Content-Security-Policy',
        "default-src 'none';form-action 'self';frame-ancestors 'none'",
      )
      response
        .status(alert === null ? 404 : 200)
        .type('html')
        .send(page(text))
    }
  const show = by(async (purpose, alert, request) => {
    if (purpose === 'unsubscribe')
      return `<form method="post"><button>No more mail of this search</button></form>`
    if (request.method === 'HEAD') return ''
    await answerOwner(pool, purpose, alert.id)
    const confirmed = 'select confirmed_at from search_alerts where alert_id = $1'
    const isNow = (await readValue<Date>(pool, confirmed, [alert.id])) !== null
    return isNow
      ? 'Thank you. From now on this address is told what is new.'
      : `This link was good for ${ASKED_FOR / 3_600_000} hours; have the alert set again.`
  })
  const act = by(async (_purpose, alert) => {
    await answerOwner(pool, 'unsubscribe', alert.id)
    return 'This address is told no more of this search.'
  })
  router.get(LINK, show)
  router.post(/^\/unsubscribe\/[\w-]{59}$/, act)
  return router
}

const page = (text: string) =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Alert</title><p>${text}</p></html>`
