import { COSTS } from '#services/api/access/costs'
import { noSetNamed, type Searches } from '#services/api/articles/find'
import { ApiError, invalid } from '#services/api/contract/errors'
import { LIMITS } from '#services/api/contract/parameters'
import { readSearch } from '#services/api/contract/request'
import { type OtherMember, readMembers } from '#services/api/http/body'
import type { Check } from '#shared/desk/feeds'
import {
  listSets,
  namesIn,
  type OutletSet,
  putSet,
  removeSet,
  renameSet,
  usersOf,
  withSets,
} from '#shared/desk/outlet-sets'
import type { Plan } from '#shared/plans/keys'
import { coveredBy } from '#shared/plans/reach'
import type { Handler, OwnerRoutes } from './handler.ts'

/*
 * Sets of outlets: `PUT /explore/outlet-sets/<name>` names some domains, and `outlets=<name>` then
 * means them. A set has no id, because its name is what searches write. A new name is written in
 * all kept searches at once.
 */

/** The most letters of a name. It begins with a letter or digit, or as `'s-Hertogenbosch` does. */
const MOST_OF_NAME = 60
const NAME = new RegExp(
  `^(?=['’]?[\\p{L}\\p{N}])[\\p{L}\\p{M}\\p{N} '’_()+-]{1,${MOST_OF_NAME}}$`,
  'u',
)
const SAID_NAME = `Write a name of at most ${MOST_OF_NAME} letters, digits, blanks and the signs ' ’ - _ + ( ), which begins with a letter or digit.`

const answerList: Handler = async ({ pool, key, searches }, _request, response) => {
  const sets = await listSets(pool, key.id)
  await searches.pay(sets.reduce((sum, one) => sum + one.domains.length, 0) / COSTS.domains)
  const data = await setObjects(sets, searches, key.plan)
  response.json({ status: 'ok', data })
}

const DOMAINS: OtherMember<string[]> = {
  name: 'domains',
  read: value =>
    Array.isArray(value) &&
    value.length > 0 &&
    value.length <= LIMITS.outlets &&
    value.every((one): one is string => typeof one === 'string' && one.includes('.'))
      ? value
      : null,
  sentence: `Write a list of 1 to ${LIMITS.outlets} domains, as ["nrc.nl", "standaard.be"].`,
}

const answerPut: Handler = async ({ pool, key, searches }, request, response) => {
  const name = nameIn(request.path)
  const { name: to, other: written } = readMembers(request, ['name'], DOMAINS)
  if (to !== undefined && written !== undefined)
    throw invalid('name', 'Give domains or another name, not both.')
  const newName = to === undefined ? null : readName(to)
  const domains = newName === null ? readDomains(written) : []
  // The searches that name the set ask another question from now on, and their alerts look anew;
  // or each is written with the other name.
  const users = (await usersOf(pool, key.id, name)).length
  await searches.pay(users / COSTS.searches + domains.length / COSTS.domains)
  if (newName !== null) {
    const renamed = await renameSet(pool, key.id, name, newName)
    if (renamed === null) throw noSet()
    const [data] = await setObjects([renamed], searches, key.plan)
    response.json({ status: 'ok', data })
    return
  }
  const set = { name, domains }
  const put = await putSet(pool, key.id, set)
  // The key was revoked while the request ran.
  if (put === null) throw new ApiError('invalid_token')
  const [data] = await setObjects([set], searches, key.plan)
  response.status(put.isNew ? 201 : 200).json({ status: 'ok', data })
}

/** Reads domains by the same rules as in a search, and in the same spelling. */
function readDomains(written: string[] | undefined): string[] {
  if (written === undefined) throw invalid('domains', DOMAINS.sentence)
  const search = String(new URLSearchParams({ outlets: written.join(',') }))
  return readSearch(search, 'feed').outlets ?? []
}

const noSet = () =>
  new ApiError('not_found', {
    message: 'This key has no such set of outlets; see GET /explore/outlet-sets.',
  })

const answerRemove: Handler = async ({ pool, key }, request, response) => {
  if (!(await removeSet(pool, key.id, nameIn(request.path)))) throw noSet()
  response.status(204).end()
}

/** @throws ApiError when the path holds no name */
function nameIn(path: string): string {
  let name = ''
  try {
    name = decodeURIComponent(path.split('/')[3] ?? '')
  } catch {
    // A broken percent-encoding is no name.
  }
  return readName(name)
}

/** @throws ApiError when the text is no name */
function readName(text: string): string {
  const name = text.normalize('NFC').trim()
  if (!NAME.test(name)) throw invalid('name', SAID_NAME)
  return name
}

/**
 * A kept search names its sets, and follows their changes. So they must exist while it is written:
 * the check throws an `ApiError` for a set that the key does not have.
 */
export const knownSets =
  (keyId: string, search: string | undefined): Check =>
  async client => {
    const [name] = namesIn(await withSets(client, keyId, search ?? ''))
    if (name !== undefined) throw invalid('search', noSetNamed(name))
  }

/** How many outlets with a text in their domain are looked at. */
const LOOKED_AT = 10

/** Sets for their owner, with the names of their outlets. */
async function setObjects(
  sets: OutletSet[],
  { index, withPermit }: Pick<Searches, 'index' | 'withPermit'>,
  plan: Plan,
) {
  const nameOf = async (domain: string): Promise<string | null | undefined> => {
    const found = await index.suggest('outlet', domain, coveredBy(plan), LOOKED_AT)
    const outlets = found.flatMap(one => (one.field === 'outlet' ? [one.outlet] : []))
    return outlets.find(one => one.domain?.toLowerCase() === domain)?.name
  }
  return withPermit(async pace => {
    const objects = []
    for (const { name, domains } of sets) {
      const outlets: { name: string | null; domain: string }[] = []
      const unknown: string[] = []
      for (const domain of domains) {
        if (pace.isDue()) await pace.rest()
        const found = await nameOf(domain)
        if (found === undefined) unknown.push(domain)
        outlets.push({ name: found ?? null, domain })
      }
      objects.push({ name, domains, outlets, unknown })
    }
    return objects
  })
}

/** The operations on sets of outlets: list, make or change, remove. */
export const OUTLET_SET_ROUTES: OwnerRoutes = [
  ['/explore/outlet-sets', { get: answerList }],
  [/^\/explore\/outlet-sets\/[^/]+$/, { put: [answerPut], delete: answerRemove }],
]
