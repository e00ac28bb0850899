import { timeZoneNamed } from '#search/query/calendar'
import { createNamePermits } from '#services/api/access/permits'
import { ApiError } from '#services/api/contract/errors'
import { createProblems, type Problems } from '#services/api/contract/query-string'
import { type OtherMember, readMembers } from '#services/api/http/body'
import { LANGUAGES, type Language } from '#shared/articles/article'
import { readAddress } from '#shared/desk/alerts/address'
import { type Alert, endAlert, putAlert } from '#shared/desk/alerts/alerts'
import { addressesOf } from '#shared/desk/alerts/names'
import { UNWANTED } from '#shared/desk/alerts/refusals'
import { loadAlertSecrets } from '#shared/desk/alerts/secrets'
import { isWhen } from '#shared/desk/alerts/times'
import { withSets } from '#shared/desk/outlet-sets'
import { findSearch, type KeptSearch } from '#shared/desk/searches'
import type { Plan } from '#shared/plans/keys'
import { type Handler, noSearch } from './handler.ts'
import { newOf } from './place.ts'

/** An alert as the owner of its key sees it. */
export interface AlertObject {
  to: string
  when: string
  time_zone: string
  language: Language
  published_within_days: number | null
  state: 'rests' | 'asked' | 'on'
  reason: string | null
  created_at: string
  delivered_at: string | null
}

export function alertObject({
  to,
  when,
  zone,
  language,
  withinDays = null,
  confirmedAt,
  rests,
  failure,
  deliveredAt,
  createdAt,
}: Alert): AlertObject {
  return {
    to,
    when,
    time_zone: zone,
    language,
    published_within_days: withinDays,
    state: rests !== null ? 'rests' : confirmedAt === null ? 'asked' : 'on',
    reason: rests === UNWANTED ? STAYS_UNWANTED : (rests ?? failure),
    created_at: createdAt.toISOString(),
    delivered_at: deliveredAt?.toISOString() ?? null,
  }
}

/** Setting such an alert again changes nothing. */
const STAYS_UNWANTED =
  'The owner of the address has ended such mail, and so gets none of any new search. Only the owner can change that, by the link of the mail: its page has the button “I may be asked again”.'

const MOST_DAYS = 3_650
/** `within` null: all articles. */
const DAYS: OtherMember<{ within: number | null }> = {
  name: 'published_within_days',
  read(value) {
    const isDays =
      typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= MOST_DAYS
    return value === null || isDays ? { within: isDays ? value : null } : null
  },
  sentence: `Write a whole number from 1 to ${MOST_DAYS}, or null for all articles.`,
}

/** For the whole process. */
const NAMES = createNamePermits()

/**
 * `PUT /explore/searches/<id>/alert`: where the search reports new articles, and when. Only this
 * answer contains the secret of a webhook's signatures.
 */
export const answerAlert: Handler = async (
  { pool, config, key, id, searches },
  request,
  response,
) => {
  const members = readMembers(request, ['to', 'when', 'time_zone', 'language'], DAYS)
  const { other: days, to, when = '', time_zone: zone = 'UTC', language: written = 'en' } = members
  const kept = await findSearch(pool, key.id, id)
  if (kept === null) throw noSearch()
  const problems = createProblems()
  const lookUp = (host: string) => NAMES.take(key.id, () => addressesOf(host), searches.leaves)
  const address = await readAddress(to ?? '', config, lookUp)
  if ('why' in address) problems.add('to', address.why)
  if (!isWhen(when))
    problems.add('when', 'Write "at once", a time as "08:00", or a day too, as "monday 08:00".')
  if (timeZoneNamed(zone) === null)
    problems.add('time_zone', 'Write the IANA name of a zone, as Europe/Brussels.')
  const language = LANGUAGES.find(one => one === written)
  if (language === undefined) problems.add('language', `Write one of ${LANGUAGES.join(', ')}.`)
  const search = await withSets(pool, key.id, kept.search)
  checkSearch({ search }, problems, key.plan)
  problems.refuse()
  // What is wrong was refused above.
  const terms = {
    to: '',
    ...address,
    when,
    zone,
    language: language ?? 'en',
    withinDays: days?.within ?? null,
  }
  const alert = await putAlert(pool, key.id, id, terms)
  if (alert === null) throw noSearch()
  const secrets = await loadAlertSecrets(pool)
  const secret = alert.to.startsWith('mailto:') ? {} : { secret: secrets.signing(alert.id) }
  response
    .status(alert.isNew ? 201 : 200)
    .json({ status: 'ok', data: { ...alertObject(alert), ...secret } })
}

function checkSearch({ search }: Pick<KeptSearch, 'search'>, problems: Problems, plan: Plan) {
  try {
    newOf(search, { seq: 0n, at: new Date(0) }, plan)
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'invalid_request') throw error
    problems.add('search', error.sentence)
  }
}

export const answerEndAlert: Handler = async ({ pool, key, id }, _request, response) => {
  if ((await findSearch(pool, key.id, id)) === null) throw noSearch()
  await endAlert(pool, key.id, id)
  response.status(204).end()
}
