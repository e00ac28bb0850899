import { type Request, type RequestHandler, Router } from 'express'
import { timeZoneNamed } from '../../../search/query/calendar.ts'
import {
  type Alert,
  ASKED_FOR,
  answerOwner,
  endAlert,
  type LinkPurpose,
  loadAlertSecrets,
  putAlert,
  readAddress,
} from '../../../shared/plans/alerts.ts'
import { type KeptSearch, listSearches } from '../../../shared/plans/kept-searches.ts'
import type { Plan } from '../../../shared/plans/keys.ts'
import { type Pool, readValue } from '../../../shared/postgres/pool.ts'
import { refuseStranger } from '../access/access.ts'
import { lockAddress } from '../access/lock.ts'
import type { Permits } from '../access/permits.ts'
import { ApiError } from '../contract/errors.ts'
import { createProblems } from '../contract/query-string.ts'
import { readMembers } from '../http/body.ts'
import type { Handler } from './feeds.ts'
import { newOf, readPlace } from './new.ts'

/** An alert as the owner of its key sees it. */
export function alertObject({
  to,
  when,
  zone,
  confirmedAt,
  rests,
  failure,
  deliveredAt,
  createdAt,
}: Alert) {
  return {
    to,
    when,
    time_zone: zone,
    state: rests !== null ? 'rests' : confirmedAt === null ? 'asked' : 'on',
    reason: rests ?? failure,
    created_at: createdAt.toISOString(),
    delivered_at: deliveredAt?.toISOString() ?? null,
  }
}

/**
 * `PUT /explore/searches/<id>/alert`: where the search reports new articles, and when. Only this
 * answer contains the secret of a webhook's signatures.
 */
export const answerAlert: Handler = async ({ pool, config, key, id }, request, response) => {
  const { to, when, time_zone: zone = 'UTC' } = readMembers(request, ['to', 'when', 'time_zone'])
  const kept = (await listSearches(pool, key.id)).find(one => one.id === id)
  if (kept === undefined) throw noSearch()
  const problems = createProblems()
  const address = await readAddress(to ?? '', config)
  if ('why' in address) problems.add('to', address.why)
  if (when !== 'at once' && !/^([01]\d|2[0-3]):[0-5]\d$/.test(when ?? '')) {
    problems.add('when', 'Write "at once", or a time as "08:00".')
  }
  if (timeZoneNamed(zone) === null)
    problems.add('time_zone', 'Write the IANA name of a zone, as Europe/Brussels.')
  checkSearch(kept, problems, key.plan)
  problems.refuse()
  // An empty value was refused above.
  const terms = { to: '', ...address, when: when ?? '', zone }
  const alert = await putAlert(pool, key.id, id, terms, await readPlace(pool))
  if (alert === null) throw noSearch()
  const secrets = await loadAlertSecrets(pool)
  const secret = alert.to.startsWith('mailto:') ? {} : { secret: secrets.signing(alert.id) }
  response
    .status(alert.isNew ? 201 : 200)
    .json({ status: 'ok', data: { ...alertObject(alert), ...secret } })
}

function checkSearch(
  { search }: KeptSearch,
  problems: ReturnType<typeof createProblems>,
  plan: Plan,
) {
  try {
    newOf(search, { seq: 0n, at: new Date(0) }, plan)
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'invalid_request') throw error
    problems.add('search', error.message)
  }
}

export const answerEndAlert: Handler = async ({ pool, key, id }, _request, response) => {
  if (!(await listSearches(pool, key.id)).some(one => one.id === id)) throw noSearch()
  await endAlert(pool, key.id, id)
  response.status(204).end()
}

export const noSearch = (): ApiError =>
  new ApiError('not_found', {
    message: 'This key keeps no such search; see GET /explore/searches.',
  })

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
    await answerOwner(pool, purpose, alert)
    const confirmed = 'select confirmed_at from search_alerts where alert_id = $1'
    const isNow = (await readValue<Date>(pool, confirmed, [alert.id])) !== null
    return isNow
      ? 'Thank you. From now on this address is told what is new.'
      : `This link was good for ${ASKED_FOR / 3_600_000} hours; have the alert set again.`
  })
  const act = by(async (_purpose, alert) => {
    await answerOwner(pool, 'unsubscribe', alert)
    return 'This address is told no more of this search.'
  })
  router.get(LINK, show)
  router.post(/^\/unsubscribe\/[\w-]{59}$/, act)
  return router
}

const page = (text: string) =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Alert</title><p>${text}</p></html>`
