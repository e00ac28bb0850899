import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import {
  type Client,
  countOf,
  loadSharedSecret,
  type Pool,
  type Queryable,
  readRow,
  readValue,
  transaction,
} from '../postgres/pool.ts'
import { MONTH_OF_KEY, type QuotaMonth } from './counting.ts'
import { type FoundKey, foundKey, hashSecret, PLAN_COLUMNS, type PlanRow } from './keys.ts'

/*
 * A feed's address is its only secret: whoever has it reads with the plan of the key. The database
 * keeps a hash; the address is computed again from a shared secret whenever its owner asks.
 */

/**
 * Feeds of one key that are in force. As many revoked ones are remembered, to be told from unknown
 * ones.
 */
export const MAX_FEEDS = 100

/** A search as a feed: bound to a key, under a secret address of its own. */
export interface SearchFeed {
  id: string
  keyId: string
  /** The kept search on which it hangs; null: a process of an older version made it just now. */
  searchId: string | null
  /** Name and query string of that search, so that a request for the feed reads one row. */
  title: string
  search: string
  createdAt: Date
  lastUsedAt: Date | null
  requests: number
}

/** A feed with the token of its address. */
export interface FeedWithToken {
  feed: SearchFeed
  token: string
}

const COLUMNS = `feed_id as id, key_id as "keyId", search_id as "searchId", title, search, created_at as "createdAt",
  last_used_at as "lastUsedAt", requests::float8 as requests`

/** The key has as many feeds as it may have. */
export class TooManyFeeds extends Error {
  override name = 'TooManyFeeds'
}

/** Searches that a key may keep; each feed hangs on one. */
export const MAX_SEARCHES = 200

/** The key keeps as many searches as it may. */
export class TooManySearches extends Error {
  override name = 'TooManySearches'
}

/**
 * Changes what a key keeps, one change after another, so that none goes beyond a limit. Null when
 * there is no such key, or it was revoked.
 */
export const changeKept = <T>(pool: Pool, keyId: string, work: (client: Client) => Promise<T>): Promise<T | null> =>
  transaction(pool, async client => {
    const { rowCount } = await client.query(
      'select from api_keys where id = $1 and revoked_at is null for no key update',
      [keyId],
    )
    return rowCount === 0 ? null : work(client)
  })

/**
 * Makes a feed, and the kept search on which it hangs. Null when there is no such key, or it was
 * revoked.
 * @throws TooManyFeeds, TooManySearches
 */
export const createFeed = (
  pool: Pool,
  keyId: string,
  { search, title }: { search: string; title: string },
): Promise<FeedWithToken | null> =>
  changeKept(pool, keyId, async client => {
    await makeRoomForSearch(client, keyId)
    const { feed, token } = await insertFeed(client, keyId, { search, title, searchId: null })
    await adoptFeeds(client, keyId)
    return { feed: { ...feed, searchId: searchOfFeed(feed.id) }, token }
  })

/** Makes a feed; called within `changeKept`. @throws TooManyFeeds */
export async function insertFeed(
  client: Client,
  keyId: string,
  { search, title, searchId }: Pick<SearchFeed, 'search' | 'title' | 'searchId'>,
): Promise<FeedWithToken> {
  await makeRoom(client, keyId)
  const tokenOf = await loadTokenMaker(client)
  const source = { feedId: `feed_${randomBytes(8).toString('hex')}`, keyId, nonce: makeNonce() }
  const token = tokenOf(source)
  const { rows } = await client.query<SearchFeed>(
    `insert into search_feeds (feed_id, key_id, token_hash, nonce, search, title, search_id)
     values ($1, $2, $3, $4, $5, $6, $7) returning ${COLUMNS}`,
    [source.feedId, keyId, hashSecret(token), source.nonce, search, title, searchId],
  )
  return { feed: rows[0]!, token }
}

const searchOfFeed = (feedId: string) => `search_${feedId.slice('feed_'.length)}`

// $1 key. Index: search_feeds_key
const ADOPT = `
with own as (
  select feed_id, 'search_' || substr(feed_id, 6) as id, title, search, created_at from search_feeds
   where key_id = $1 and revoked_at is null and search_id is null),
made as (
  insert into kept_searches (search_id, key_id, name, search, position, created_at, of_feed)
  select id, $1, title, search, row_number() over (order by created_at, feed_id) +
           (select coalesce(max(position), -1) from kept_searches where key_id = $1), created_at, true
    from own on conflict do nothing)
update search_feeds f set search_id = own.id from own where f.feed_id = own.feed_id`

/** Gives a kept search to feeds without one: new feeds, and those from before migration 0037. */
export const adoptFeeds = (db: Queryable, keyId: string) => db.query(ADOPT, [keyId])

// $1 key. Makes room for clients that only make and end feeds, and never see the list of searches.
const MAKE_ROOM = `
delete from kept_searches where search_id in (
  select search_id from kept_searches k
   where key_id = $1 and of_feed
     and not exists (select from search_feeds f where f.search_id = k.search_id and f.revoked_at is null)
   order by created_at, search_id limit 1)`

/**
 * Removes the oldest search that was made with a feed, when this feed has ended.
 * @throws TooManySearches
 */
export async function makeRoomForSearch(client: Client, keyId: string): Promise<void> {
  const kept = await countOf(client, 'select count(*)::int from kept_searches where key_id = $1', [keyId])
  if (kept < MAX_SEARCHES) return
  const { rowCount } = await client.query(MAKE_ROOM, [keyId])
  if (rowCount === 0) throw new TooManySearches(`A key may keep ${MAX_SEARCHES} searches; remove one first.`)
}

/** @throws TooManyFeeds */
async function makeRoom(client: Client, keyId: string): Promise<void> {
  const inForce = 'select count(*)::int from search_feeds where key_id = $1 and revoked_at is null'
  if ((await countOf(client, inForce, [keyId])) >= MAX_FEEDS)
    throw new TooManyFeeds(`A key may have ${MAX_FEEDS} feeds; revoke one first.`)
  await client.query(
    `delete from search_feeds where feed_id in (
       select feed_id from search_feeds where key_id = $1 and revoked_at is not null
       order by revoked_at desc, feed_id offset $2)`,
    [keyId, MAX_FEEDS],
  )
}

/** The feeds of a key that are in force, oldest first. Index: search_feeds_key */
export async function listFeeds(db: Queryable, keyId: string): Promise<SearchFeed[]> {
  const { rows } = await db.query<SearchFeed>(
    `select ${COLUMNS} from search_feeds where key_id = $1 and revoked_at is null order by created_at, feed_id`,
    [keyId],
  )
  return rows
}

/**
 * The same feeds with their tokens, which are made again. A feed that was made with another secret
 * is left out: its address still works, but nobody knows it any more.
 */
export async function listFeedsWithTokens(db: Queryable, keyId: string): Promise<FeedWithToken[]> {
  const tokenOf = await loadTokenMaker(db)
  const { rows } = await db.query<SearchFeed & { token_hash: Buffer; nonce: Buffer }>(
    `select ${COLUMNS}, token_hash, nonce from search_feeds
     where key_id = $1 and revoked_at is null order by created_at, feed_id`,
    [keyId],
  )
  return rows.flatMap(({ token_hash, nonce, ...feed }) => {
    const token = tokenOf({ feedId: feed.id, keyId, nonce })
    return hashSecret(token).equals(token_hash) ? [{ feed, token }] : []
  })
}

/**
 * Ends a feed, of this key where one is named; false when there is no such feed. A revoked one
 * stays as it is.
 */
export async function revokeFeed(db: Queryable, feedId: string, keyId: string | null = null): Promise<boolean> {
  const { rowCount } = await db.query(
    `update search_feeds set revoked_at = coalesce(revoked_at, now())
     where feed_id = $1 and ($2::text is null or key_id = $2)`,
    [feedId, keyId],
  )
  return rowCount === 1
}

/** Ends all feeds of a key that are in force. Returns how many there were. */
export async function revokeAllFeeds(db: Queryable, keyId: string): Promise<number> {
  const { rowCount } = await db.query(
    'update search_feeds set revoked_at = now() where key_id = $1 and revoked_at is null',
    [keyId],
  )
  return rowCount ?? 0
}

/** The id of the feed with this token, revoked ones too. */
export const feedOfToken = (db: Queryable, token: string): Promise<string | null> =>
  readValue(db, 'select feed_id from search_feeds where token_hash = $1', [hashSecret(token)])

/**
 * What an address leads to: a feed with its key, or an ended feed. A feed also ends when its key is
 * revoked.
 */
type FoundFeed = { ended: true } | { ended: false; id: string; title: string; search: string; access: FoundKey }

// One statement reads feed, key, month and what is read beside them, because every request waits
// for it. $1 token_hash. Index: search_feeds_token_hash_key
const FIND = ({ columns, tables }: Beside) => `
  select f.*, k.*, m.*, ${columns} from (
    select feed_id, key_id, token_hash, title, search, revoked_at as feed_revoked_at from search_feeds where token_hash = $1) f
  join lateral (select ${PLAN_COLUMNS}, revoked_at from api_keys where id = f.key_id) k on true
  left join lateral (${MONTH_OF_KEY}) m on k.quota is not null, ${tables}`

/** What the same statement reads as well: columns of tables of one row. */
interface Beside {
  columns: string
  tables: string
}

interface FoundRow extends PlanRow, QuotaMonth {
  revoked_at: Date | null
  feed_id: string
  token_hash: Buffer
  title: string
  search: string
  feed_revoked_at: Date | null
}

/** The feed of the token of an address, with what was read beside it; null when it is unknown. */
export async function findFeed<State>(
  db: Queryable,
  token: string,
  beside: Beside,
): Promise<(FoundFeed & { beside: State }) | null> {
  const hash = hashSecret(token)
  const row = await readRow<FoundRow & State>(db, { name: 'find-feed', text: FIND(beside), values: [hash] })
  if (!row || !timingSafeEqual(row.token_hash, hash)) return null
  if (row.feed_revoked_at !== null || row.revoked_at !== null) return { ended: true, beside: row }
  return { ended: false, id: row.feed_id, title: row.title, search: row.search, access: foundKey(row), beside: row }
}

// Nobody waits for the disk: a crash of the server may forget the requests of the last second.
const COUNT = `
with lazily as materialized (select set_config('synchronous_commit', 'off', true))
update search_feeds set requests = requests + 1, last_used_at = now() from lazily where feed_id = $1`

/** Counts a request for a feed. */
export async function countRequest(db: Queryable, feedId: string): Promise<void> {
  await db.query({ name: 'count-feed', text: COUNT, values: [feedId] })
}

/** Prefix of all tokens: scanners recognise a token in a log or a commit by it. */
const PREFIX = 'psf_'

/**
 * Makes the tokens of feeds: the same source gives the same token for as long as the secret stays.
 */
type TokenMaker = (source: { feedId: string; keyId: string; nonce: Buffer }) => string

/** 256 random bits. */
const makeNonce = (): Buffer => randomBytes(32)

/**
 * Tokens are HMAC-SHA-256 of their source, 256 bits, 47 characters. So their table holds hashes
 * only, and an address can still be shown to the key's owner again.
 */
async function loadTokenMaker(db: Queryable): Promise<TokenMaker> {
  const secret = await loadSharedSecret(db, 'feeds')
  return ({ feedId, keyId, nonce }) =>
    PREFIX + createHmac('sha256', secret).update(`${feedId} ${keyId} `).update(nonce).digest('base64url')
}

/** Whether a text has the form of a token. Other texts need no look into the database. */
export const looksLikeToken = (text: string): boolean => /^psf_[\w-]{43}$/.test(text)
