import { randomBytes } from 'node:crypto'
import { type Client, columnsOf, type Pool, type Queryable } from '#shared/postgres/pool'
import { QUESTION } from './alerts/messages.ts'
import {
  adoptFeeds,
  type Check,
  changeKept,
  type FeedWithToken,
  insertFeed,
  listFeeds,
  listFeedsWithTokens,
  makeRoomForSearch,
  type SearchFeed,
} from './feeds.ts'

/** The fields of a kept search that its owner chooses. */
interface Described {
  name: string
  /** A query string in the one spelling of its search. */
  search: string
}

/** A search that a key keeps, with its feed. */
export interface KeptSearch extends Described {
  id: string
  /** Its place in the list of its key, counted from 0. Some places may be empty. */
  position: number
  createdAt: Date
  feed: SearchFeed | null
}

/**
 * The page where people see a search. Unlike the API, the page looks in titles and texts by
 * default. So the address says `search_in=title` where the search relies on the API's default.
 *
 * @param id of the kept search, so that the page knows which one was opened
 */
export function pageOf(publicUrl: string, search: string, id?: string): string {
  const parameters = new URLSearchParams(search)
  const looksEverywhere = ['semantic', 'expression'].includes(parameters.get('search') ?? '')
  const isSaid = parameters.has('search_in') || looksEverywhere || !parameters.has('q')
  const parts = [search, isSaid ? '' : 'search_in=title', id === undefined ? '' : `kept=${id}`]
  const query = parts.filter(part => part !== '').join('&')
  return `${publicUrl}/${query === '' ? '' : `?${query}`}`
}

const COLUMNS = 'search_id as id, name, search, position, created_at as "createdAt"'

/** The kept searches of a key in their order. Index: kept_searches_key */
export async function listSearches(db: Queryable, keyId: string): Promise<KeptSearch[]> {
  const feeds = await listFeeds(db, keyId)
  if (feeds.some(({ searchId }) => searchId === null)) {
    await adoptFeeds(db, keyId)
    return listSearches(db, keyId)
  }
  const { rows } = await db.query<Omit<KeptSearch, 'feed'>>(
    `select ${COLUMNS} from kept_searches where key_id = $1 order by position, created_at, search_id`,
    [keyId],
  )
  return rows.map(row => ({
    ...row,
    feed: feeds.find(({ searchId }) => searchId === row.id) ?? null,
  }))
}

/** A kept search of a key; null: the key has no such search. */
export async function findSearch(
  db: Queryable,
  keyId: string,
  id: string,
): Promise<KeptSearch | null> {
  return (await listSearches(db, keyId)).find(one => one.id === id) ?? null
}

// $1 id, $2 key, $3 name, $4 search.
const KEEP = `
  insert into kept_searches (search_id, key_id, name, search, position)
  select $1, $2, $3, $4, coalesce(max(position), -1) + 1 from kept_searches where key_id = $2 returning ${COLUMNS}`

/**
 * Keeps a search at the end of the list. Null when the key does not exist or was revoked.
 *
 * @param check throws where the search may not be kept, while the key changes nothing else
 * @throws DeskRefusal
 */
export function keepSearch(
  pool: Pool,
  keyId: string,
  { name, search }: Described,
  check?: Check,
): Promise<KeptSearch | null> {
  return changeKept(pool, keyId, async client => {
    await check?.(client)
    await listSearches(client, keyId)
    await makeRoomForSearch(client, keyId)
    const values = [`search_${randomBytes(8).toString('hex')}`, keyId, name, search]
    const { rows } = await client.query<Omit<KeptSearch, 'feed'>>(KEEP, values)
    return { ...rows[0]!, feed: null }
  })
}

// An alert that rested because of its search goes on. An alert that rests after failures does not.
// What is not delivered yet answers the search before, so it is withdrawn. The alert keeps its
// place, from which the new search finds everything. The alert is locked first, as in all
// transactions that change it. $1 searches.
const NEW_QUESTION = `
  with own as (select alert_id from search_alerts where search_id = any ($1) order by alert_id for update),
  goes as (
    update search_alerts a set due_at = case when told_when = 'at once' then now() else due_at end,
           rests = case when failing_since is null and confirmed_at is not null then null else rests end
      from own where a.alert_id = own.alert_id)
  delete from alert_messages m using own
   where m.alert_id = own.alert_id and m.kind = 'articles' and m.delivered_at is null`

/** Notes that a set of outlets has changed, which these searches name. */
export async function noteSetChanged(client: Client, ids: string[]): Promise<void> {
  const note =
    'update kept_searches set sets_changed_at = clock_timestamp() where search_id = any ($1)'
  await client.query(note, [ids])
  await client.query(NEW_QUESTION, [ids])
}

// What alerts ask. They are locked first, as in all transactions that change them. $1 searches.
const ASKED = `
  select a.alert_id as id, ${QUESTION} as question from search_alerts a join kept_searches s using (search_id)
    join api_keys k on k.id = a.key_id where a.search_id = any ($1) order by a.alert_id for update of a`

// $1 searches, $2 what they are now, $3 their names, which have at most 191 characters.
const RESPELL = `
  with spelt as (
    select id, search, left(name, 191) as name from unnest($1::text[], $2::text[], $3::text[]) n (id, search, name)),
  feeds as (
    update search_feeds f set search = n.search, title = n.name from spelt n
     where f.search_id = n.id and revoked_at is null)
  update kept_searches s set search = n.search, name = n.name from spelt n where s.search_id = n.id`

// What waits or was found answers the question still, as long as it did. $1 alerts, $2 what each
// asked.
const SAME_QUESTION = `
  with asked as (
    select a.alert_id, b.question as before, ${QUESTION} as now from unnest($1::text[], $2::text[]) b (alert_id, question)
      join search_alerts a using (alert_id) join kept_searches s using (search_id) join api_keys k on k.id = a.key_id),
  finds as (
    update alert_finds f set question = now from asked where f.alert_id = asked.alert_id and f.question = before)
  update alert_messages m set question = now from asked
   where m.alert_id = asked.alert_id and m.delivered_at is null and m.question = before`

/** Notes that these searches name a set of outlets otherwise, and ask the same as before. */
export async function noteSetRenamed(
  client: Client,
  searches: Pick<KeptSearch, 'id' | 'name' | 'search'>[],
): Promise<void> {
  const ids = searches.map(({ id }) => id)
  const { rows: asked } = await client.query<{ id: string; question: string }>(ASKED, [ids])
  await client.query(RESPELL, columnsOf(searches, 'id', 'search', 'name'))
  await client.query(SAME_QUESTION, columnsOf(asked, 'id', 'question'))
}

/**
 * Changes the given fields of a kept search. The address of its feed stays the same. When the
 * search moves to a new place, the searches between the old and the new place move by one. Null
 * when the key has no such search.
 *
 * @param check as in `keepSearch`
 */
export function changeSearch(
  pool: Pool,
  keyId: string,
  id: string,
  given: Partial<Described & { position: number }>,
  check?: Check,
): Promise<KeptSearch | null> {
  return changeKept(pool, keyId, async client => {
    await check?.(client)
    const before = await findSearch(client, keyId, id)
    if (before === null) return null
    const { name, search, position } = { ...before, ...given }
    const [first, last, step] =
      position < before.position
        ? [position, before.position - 1, 1]
        : [before.position + 1, position, -1]
    await client.query(
      'update kept_searches set position = position + $4 where key_id = $1 and position between $2 and $3',
      [keyId, first, last, step],
    )
    await client.query(
      'update kept_searches set name = $2, search = $3, position = $4, of_feed = false where search_id = $1',
      [id, name, search, position],
    )
    if (search !== before.search) await client.query(NEW_QUESTION, [[id]])
    await client.query(
      'update search_feeds set title = $2, search = $3 where search_id = $1 and revoked_at is null',
      [id, name, search],
    )
    return findSearch(client, keyId, id)
  })
}

/** Ends the feed of a kept search; false when the key has no such search. */
export async function endFeedOf(db: Queryable, keyId: string, id: string): Promise<boolean> {
  await db.query(
    'update search_feeds set revoked_at = now() where search_id = $1 and key_id = $2 and revoked_at is null',
    [id, keyId],
  )
  return (await findSearch(db, keyId, id)) !== null
}

/**
 * Removes a kept search, and ends its feed and its alert; false when the key has no such search.
 */
export async function removeSearch(pool: Pool, keyId: string, id: string): Promise<boolean> {
  const removed = await changeKept(pool, keyId, async (client: Client) => {
    await endFeedOf(client, keyId, id)
    return client.query('delete from kept_searches where search_id = $1 and key_id = $2', [
      id,
      keyId,
    ])
  })
  return removed?.rowCount === 1
}

/**
 * Gives a kept search a feed, or finds its existing feed. Null when the key has no such search.
 *
 * @throws DeskRefusal
 */
export function giveFeed(
  pool: Pool,
  keyId: string,
  id: string,
): Promise<{ isNew: boolean; given: FeedWithToken } | null> {
  return changeKept(pool, keyId, async client => {
    const kept = await findSearch(client, keyId, id)
    if (kept === null) return null
    const given = (await listFeedsWithTokens(client, keyId)).find(
      ({ feed }) => feed.searchId === id,
    )
    if (given) return { isNew: false, given }
    // A feed that `listFeedsWithTokens` does not list has an address that nobody can compute, so it
    // ends.
    await endFeedOf(client, keyId, id)
    await client.query('update kept_searches set of_feed = false where search_id = $1', [id])
    return {
      isNew: true,
      given: await insertFeed(client, keyId, { ...kept, title: kept.name, searchId: id }),
    }
  })
}
