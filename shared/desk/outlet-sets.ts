import type { Pool, Queryable } from '#shared/postgres/pool'
import { changeKept, DeskRefusal } from './feeds.ts'
import { noteSetChanged, noteSetRenamed } from './searches.ts'

/** A set of outlets that belongs to a key. Searches name it in place of domains. */
export interface OutletSet {
  name: string
  /** Exact domains, in small letters, in order. */
  domains: string[]
}

/** How many sets a key may have. */
const MAX_SETS = 100

const COLUMNS = 'name, domains'
/** A name of a set as it is compared. */
export const foldedSet = (name: string): string => name.toLowerCase()

/** The sets of a key by name. Index: the primary key. */
export async function listSets(db: Queryable, keyId: string): Promise<OutletSet[]> {
  const statement = `select ${COLUMNS} from outlet_sets where key_id = $1 order by folded`
  return (await db.query<OutletSet>(statement, [keyId])).rows
}

/**
 * Makes a set, or gives the set of this name other outlets. Null when the key does not exist or was
 * revoked.
 *
 * @throws DeskRefusal
 */
export function putSet(
  pool: Pool,
  keyId: string,
  { name, domains }: OutletSet,
): Promise<{ isNew: boolean } | null> {
  return changeKept(pool, keyId, async client => {
    const known = await listSets(client, keyId)
    const before = known.find(one => foldedSet(one.name) === foldedSet(name))
    if (before === undefined && known.length >= MAX_SETS)
      throw new DeskRefusal(
        'too_many_searches',
        `A key may have ${MAX_SETS} sets of outlets, and this one has.`,
      )
    await client.query(
      `insert into outlet_sets (key_id, folded, name, domains) values ($1, $2, $3, $4)
       on conflict (key_id, folded) do update set name = excluded.name, domains = excluded.domains`,
      [keyId, foldedSet(name), name, domains],
    )
    if (String(before?.domains) !== String(domains)) {
      const users = await usersOf(client, keyId, name)
      await noteSetChanged(
        client,
        users.map(({ id }) => id),
      )
    }
    return { isNew: before === undefined }
  })
}

/**
 * Gives a set another name, also in the searches that name it, which still ask the same. Null when
 * the key has no such set.
 *
 * @throws DeskRefusal when another set of the key has the name
 */
export function renameSet(
  pool: Pool,
  keyId: string,
  name: string,
  to: string,
): Promise<OutletSet | null> {
  return changeKept(pool, keyId, async client => {
    const before = foldedSet(name)
    const after = foldedSet(to)
    const known = new Map((await listSets(client, keyId)).map(one => [foldedSet(one.name), one]))
    const set = known.get(before)
    if (set === undefined) return null
    if (after !== before && known.has(after))
      throw new DeskRefusal(
        'invalid_request',
        `This key has another set named "${to}"; choose another name.`,
      )
    await client.query(
      'update outlet_sets set folded = $3, name = $4 where key_id = $1 and folded = $2',
      [keyId, before, after, to],
    )
    const names = new Map([[before, [after]]])
    const users = await usersOf(client, keyId, before)
    await noteSetRenamed(
      client,
      users.map(one => ({
        id: one.id,
        name: nameAfter(one.name, before, to),
        search: replaced(one.search, names),
      })),
    )
    return { ...set, name: to }
  })
}

/**
 * The name of a kept search after a set has got another. The page proposes names such as `water ·
 * Set of outlets: Dailies`, in its language (`sets.one` of `web/words`). A part of this form
 * follows the set; one such as `Author: Dailies` does not.
 *
 * @param before as it is compared
 */
function nameAfter(name: string, before: string, to: string): string {
  const [first, ...parts] = name.split(' · ')
  const inPart = (part: string) => {
    const label = SET_LABEL.exec(part)?.[0] ?? ''
    return label !== '' && foldedSet(part.slice(label.length)) === before ? label + to : part
  }
  return [first, ...parts.map(inPart)].join(' · ')
}

const SET_LABEL =
  /^(?:Groep van media|Groupe de médias|Gruppe von Medien|Grupp vu Medien|Set of outlets)\s?: /

/** The kept searches of a key that name a set. */
export async function usersOf(
  db: Queryable,
  keyId: string,
  name: string,
): Promise<{ id: string; name: string; search: string }[]> {
  const kept = await db.query<{ id: string; name: string; search: string }>(
    'select search_id as id, name, search from kept_searches where key_id = $1',
    [keyId],
  )
  return kept.rows.filter(({ search }) => namesIn(search).includes(foldedSet(name)))
}

/**
 * Removes a set; false when the key has no such set.
 *
 * @throws DeskRefusal when a kept search names the set
 */
export async function removeSet(pool: Pool, keyId: string, name: string): Promise<boolean> {
  const removed = await changeKept(pool, keyId, async client => {
    const [user] = await usersOf(client, keyId, name)
    if (user !== undefined)
      throw new DeskRefusal(
        'invalid_request',
        `The kept search "${user.name}" names this set; change it first.`,
      )
    const { rowCount } = await client.query(
      'delete from outlet_sets where key_id = $1 and folded = $2',
      [keyId, foldedSet(name)],
    )
    return rowCount === 1
  })
  return removed === true
}

/** Whether an entry of `outlets` is the name of a set: domains have a dot, and names have none. */
export const isSetName = (entry: string): boolean => !entry.includes('.')

/** A decoded part of a query string that holds outlets. */
const OUTLETS = /^outlets(?:\[\])?=(.*)$/is

/** The names of sets in a query string, in small letters. */
export const namesIn = (query: string): string[] => query.split('&').flatMap(namesInPart)

function namesInPart(part: string): string[] {
  return entriesOf(part)
    .filter(entry => entry !== '' && isSetName(entry))
    .map(foldedSet)
}

/** Whether a part may name outlets before it is decoded. Each request is looked through. */
const MAY_NAME = /^[o%]/i

function entriesOf(part: string): string[] {
  if (!MAY_NAME.test(part)) return []
  try {
    const [, written = ''] = OUTLETS.exec(decodeURIComponent(part.replaceAll('+', ' '))) ?? []
    return written.split(',').map(entry => entry.normalize('NFC').trim())
  } catch {
    return [] // the reader of query strings refuses it
  }
}

/** A query string, in its one spelling, with others in place of some of the names of its sets. */
function replaced(query: string, names: ReadonlyMap<string, string[]>): string {
  const inPart = (part: string) => {
    if (namesInPart(part).length === 0) return part
    const entries = entriesOf(part).flatMap(entry => names.get(foldedSet(entry)) ?? [entry])
    return String(new URLSearchParams({ outlets: [...new Set(entries)].sort().join(',') }))
  }
  return query.split('&').map(inPart).join('&')
}

/**
 * A query string with the domains of its sets in place of their names, as they are now. A name that
 * the key does not have stays, and is refused where the search is planned. Index: the primary key.
 */
export async function withSets(db: Queryable, keyId: string, query: string): Promise<string> {
  return (await allWithSets(db, keyId, [query]))[0]!
}

/** Does the same as `withSets` for many query strings, with one statement. */
export async function allWithSets(
  db: Queryable,
  keyId: string,
  queries: string[],
): Promise<string[]> {
  const names = queries.flatMap(namesIn)
  if (names.length === 0) return queries
  const statement = `select ${COLUMNS} from outlet_sets where key_id = $1 and folded = any ($2)`
  const { rows } = await db.query<OutletSet>(statement, [keyId, names])
  const sets = new Map(rows.map(({ name, domains }) => [foldedSet(name), domains]))
  return queries.map(query => replaced(query, sets))
}
