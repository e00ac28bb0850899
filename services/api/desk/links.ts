import { hash } from 'node:crypto'
import { type Request, type RequestHandler, Router } from 'express'
import { refuseStranger } from '#services/api/access/access'
import { lockAddress } from '#services/api/access/lock'
import type { Permits } from '#services/api/access/permits'
import {
  ASKED_FOR,
  type AskedAbout,
  agree,
  askedBy,
  invitedName,
  invitedSearch,
} from '#shared/desk/alerts/consent'
import { foreign, letterOf, STYLE_SOURCE } from '#shared/desk/alerts/look'
import { refuse, refusedByLink, takeBack, UNWANTED } from '#shared/desk/alerts/refusals'
import { type AlertSecrets, loadAlertSecrets } from '#shared/desk/alerts/secrets'
import { type AlertSpeech, alertSpeech } from '#shared/desk/alerts/words'
import type { Pool } from '#shared/postgres/pool'

const CONFIRM = /^\/confirm\/([\w-]{75})$/
/** Links of invitations of versions before migration 0040, which agreed to all alerts to come. */
const FORMER_CONFIRM = /^\/confirm\/([\w-]{59})$/
const UNSUBSCRIBE = /^\/unsubscribe\/((?:[0-9a-f]{16}){1,20}[\w-]{43})$/

/** A request for the page of a link. */
interface Asked {
  token: string
  secrets: AlertSecrets
  speech: AlertSpeech
  /** The query string of the next request of this page, without the alert. */
  said: string
  /** The only alert that shall end; null: all of the link. */
  alert: string | null
  /** `nothing`: no mail from here; `asking`: the refusal is taken back. Null: no mail of alerts. */
  wants: string | null
  /** The digest of what a page of consent showed. */
  shown: string | null
}

/**
 * The pages behind the links of mails, for owners of addresses who have no key. A GET shows what a
 * link does, and only the POST of its button does it, because programs open the links of mails in
 * advance. Mail programs also unsubscribe by a POST (RFC 8058).
 */
export function linkPages(pool: Pool, strangers: Permits, serviceName: string): Router {
  const router = Router({ strict: true, caseSensitive: true })
  /** @param answer the page in HTML; null: the token is forged, or its alerts are gone */
  const by =
    (link: RegExp, answer: (asked: Asked) => Promise<string | null>): RequestHandler =>
    async (request: Request, response) => {
      const [, token = ''] = link.exec(request.path) ?? []
      const parameters = new URLSearchParams(request.originalUrl.split('?')[1])
      const speech = alertSpeech(parameters.get('language'))
      const { language, words } = speech
      const said = `language=${language}`
      const asked = {
        token,
        speech,
        said,
        alert: parameters.get('alert'),
        wants: parameters.get('wants'),
        shown: parameters.get('shown'),
      }
      const address = lockAddress(request)
      const work = async () => answer({ ...asked, secrets: await loadAlertSecrets(pool) })
      const html = await strangers.take(`link ${address}`, work).catch(refuseStranger)
      response.set({ 'Cache-Control': 'no-store', 'X-Robots-Tag': 'noindex, nofollow' })
      response.set(
        'Content-Security-Policy',
        `default-src 'none';style-src ${STYLE_SOURCE};form-action 'self';frame-ancestors 'none'`,
      )
      const body = html ?? paragraph(words.nothing)
      response
        .status(html === null ? 404 : 200)
        .type('html')
        .send(letterOf(language, serviceName, words.alert, `<h1>${words.alert}</h1>${body}`))
    }
  const consent = (isPressed: boolean) =>
    by(CONFIRM, async ({ token, secrets, speech, said, shown }) => {
      const askId = secrets.openAgreeing(token)
      if (askId === null) return null
      const { words } = speech
      const digestOf = (asked: AskedAbout[]) => hash('sha256', askedList(asked, speech))
      // The search or its times may have changed since the page was shown.
      const { asked, isAgreed } = isPressed
        ? await agree(pool, askId, asked => shown === digestOf(asked))
        : { asked: await askedBy(pool, askId), isAgreed: false }
      if (asked.length === 0) return used(speech)
      const list = askedList(asked, speech)
      if (isAgreed)
        return `${paragraph(words.agreed)}${list}<p class="links"><a href="/searches">${words.settings}</a></p>`
      return [
        // The button of a page of a former version does not say what the page showed.
        isPressed && shown !== null && paragraph(words.changed),
        paragraph(words.asked),
        list,
        button(words.agree, `${said}&amp;shown=${digestOf(asked)}`),
      ]
        .filter(Boolean)
        .join('')
    })
  const showEnd = by(UNSUBSCRIBE, asked => endingPage(pool, asked))
  const end = by(UNSUBSCRIBE, async asked => {
    const { token, secrets, alert, wants } = asked
    const isTakenBack = wants === 'asking' && (await takeBack(pool, token))
    if (wants !== 'asking')
      for (const { id } of await secrets.openEnding(token))
        if (alert === null || id === alert) await refuse(pool, id, token, wants === 'nothing')
    return endingPage(pool, asked, isTakenBack)
  })
  router.get(
    FORMER_CONFIRM,
    by(FORMER_CONFIRM, async ({ speech }) => paragraph(speech.words.former)),
  )
  router.route(CONFIRM).get(consent(false)).post(consent(true))
  router.route(UNSUBSCRIBE).get(showEnd).post(end)
  return router
}

/** What has ended, what can end, and what the owner of the address may take back. */
async function endingPage(
  pool: Pool,
  { token, secrets, speech, said }: Asked,
  isTakenBack = false,
): Promise<string | null> {
  const { words } = speech
  const alerts = await secrets.openEnding(token)
  const refused = await refusedByLink(pool, token)
  if (alerts.length === 0 && refused === null && !isTakenBack) return null
  const ended = alerts.filter(({ rests }) => rests === UNWANTED)
  const left = alerts.filter(({ rests }) => rests !== UNWANTED)
  const forms = left.map(
    ({ id, name }) => `<li>${nameOf({ name })}${button(words.end, `${said}&amp;alert=${id}`)}</li>`,
  )
  const all = `${said}&amp;wants=nothing`
  return [
    ended.length > 0 && `${paragraph(words.ended)}${listOf(ended.map(nameOf))}`,
    left.length > 0 && `${paragraph(words.stop)}<ul>${forms.join('')}</ul>`,
    left.length > 1 && button(words.endAll, said),
    refused !== 'all' && !isTakenBack && paragraph(words.barred),
    refused === 'all' && paragraph(words.refusedAll),
    refused !== 'all' && alerts.length > 0 && button(words.refuseAll, all, ' class="other"'),
    refused !== null && button(words.takeBack, `${said}&amp;wants=asking`),
    isTakenBack && paragraph(words.askable),
  ]
    .filter(Boolean)
    .join('')
}

const used = ({ words, say }: AlertSpeech) => paragraph(say(words.used, ASKED_FOR / 3_600_000))

/** The name of a search, as a stranger may see it. */
const nameOf = ({ name }: { name: string }) => foreign(invitedName(name))
const listOf = (items: string[]) => `<ul>${items.map(item => `<li>${item}</li>`).join('')}</ul>`

/** Searches, what they look for, and when each writes. */
const askedList = (asked: AskedAbout[], { times }: AlertSpeech) =>
  listOf(asked.map(one => [...invitedSearch(one), times(one)].map(foreign).join(' · ')))

const paragraph = (text: string) => `<p>${text}</p>`

/**
 * @param said the query string of the POST, in HTML
 * @param look of a button that does more than the mail was about
 */
const button = (text: string, said: string, look = '') =>
  `<form method="post" action="?${said}"><button${look}>${text}</button></form>`
