import { type Request, type RequestHandler, Router } from 'express'
import {
  ASKED_FOR,
  agree,
  askedBy,
  invitedName,
  refuse,
} from '../../../shared/desk/alerts/consent.ts'
import { type AlertSecrets, loadAlertSecrets } from '../../../shared/desk/alerts/secrets.ts'
import type { Pool } from '../../../shared/postgres/pool.ts'
import { refuseStranger } from '../access/access.ts'
import { lockAddress } from '../access/lock.ts'
import type { Permits } from '../access/permits.ts'

const CONFIRM = /^\/confirm\/([\w-]{75})$/
/** Links of invitations of versions before migration 0040, which agreed to all alerts to come. */
const FORMER_CONFIRM = /^\/confirm\/([\w-]{59})$/
const UNSUBSCRIBE = /^\/unsubscribe\/([\w-]{59})$/

/**
 * The pages behind the links of mails, for owners of addresses who have no key. A GET shows what a
 * link does, and only the POST of its button does it, because programs open the links of mails in
 * advance. Mail programs also unsubscribe by a POST (RFC 8058).
 */
export function linkPages(pool: Pool, strangers: Permits): Router {
  const router = Router({ strict: true, caseSensitive: true })
  /** @param answer the page; null: the token is forged, or its alert is gone */
  const by =
    (
      link: RegExp,
      answer: (token: string, secrets: AlertSecrets) => Promise<string | null>,
    ): RequestHandler =>
    async (request: Request, response) => {
      const [, token = ''] = link.exec(request.path) ?? []
      const address = lockAddress(request.ip, request.socket.remoteAddress)
      const work = async () => answer(token, await loadAlertSecrets(pool))
      const text = await strangers.take(`link ${address}`, work).catch(refuseStranger)
      response.set({ 'Cache-Control': 'no-store', 'X-Robots-Tag': 'noindex, nofollow' })
      response.set(
        'Content-Security-Policy',
        "default-src 'none';form-action 'self';frame-ancestors 'none'",
      )
      response
        .status(text === null ? 404 : 200)
        .type('html')
        .send(page(text ?? 'This link leads to nothing any more.'))
    }
  const showAsked = by(CONFIRM, async (token, secrets) => {
    const askId = secrets.openAgreeing(token)
    if (askId === null) return null
    const names = await askedBy(pool, askId)
    if (names.length === 0) return USED
    const list = names.map(name => `<li>${escaped(invitedName(name))}</li>`).join('')
    return `Somebody wants this address to be told what is new to:<ul>${list}</ul>${button('Tell me what is new')}`
  })
  const agreeTo = by(CONFIRM, async (token, secrets) => {
    const askId = secrets.openAgreeing(token)
    if (askId === null) return null
    return (await agree(pool, askId))
      ? 'Thank you. From now on this address is told what is new.'
      : USED
  })
  const showEnd = by(UNSUBSCRIBE, async (token, secrets) =>
    (await secrets.openEnding(token)) === null ? null : button('No more mail of this search'),
  )
  const end = by(UNSUBSCRIBE, async (token, secrets) => {
    const alert = await secrets.openEnding(token)
    if (alert === null) return null
    await refuse(pool, alert.id)
    return 'This address is told no more of this search.'
  })
  router.get(
    FORMER_CONFIRM,
    by(FORMER_CONFIRM, async () => FORMER),
  )
  router.route(CONFIRM).get(showAsked).post(agreeTo)
  router.route(UNSUBSCRIBE).get(showEnd).post(end)
  return router
}

const FORMER =
  'This link has ended with an update of the service. A newer mail asks you again; if none comes, have the alert set again.'

const USED = `This link was good once, for ${ASKED_FOR / 3_600_000} hours; have the alert set again.`

const button = (text: string) => `<form method="post"><button>${text}</button></form>`

const escaped = (text: string) => text.replace(/[&<>"']/g, sign => `&#${sign.charCodeAt(0)};`)

const page = (text: string) =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Alert</title><p>${text}</p></html>`
