import { createHmac, randomBytes } from 'node:crypto'
import { hashSecret } from '#shared/plans/keys'
import {
  type Client,
  countOf,
  loadSharedSecret,
  type Pool,
  type Queryable,
  readValue,
  transaction,
} from '#shared/postgres/pool'

/*
 * A feed's address is its only secret. A client that knows the address reads with the plan of the
 * key. The database stores only a hash of the token. When the owner wants to see the address, it is
 * computed again from a shared secret.
 */

/**
 * How many active feeds a key may have. The same number of revoked feeds is remembered, so that a
 * request can tell a revoked feed from an unknown one.
 */
export const MAX_FEEDS = 100

/** A search as a feed. It belongs to a key, and has a secret address. */
export interface SearchFeed {
  id: string
  keyId: string
  /** The kept search to which it belongs; null: a process of an older version has just made it. */
  searchId: string | null
  /**
   * Name and query string of that search, copied here so that a request for the feed reads one row.
   */
  title: string
  search: string
  createdAt: Date
  lastUsedAt: Date | null
  requests: number
}

/** A feed and the token in its address. */
export interface FeedWithToken {
  feed: SearchFeed
  token: string
}

const COLUMNS = `feed_id as id, key_id as "keyId", search_id as "searchId", title, search, created_at as "createdAt",
  last_used_at as "lastUsedAt", requests::float8 as requests`

/** How many searches a key may keep. Each feed belongs to one of them. */
export const MAX_SEARCHES = 200

type Refused = 'too_many_feeds' | 'too_many_searches' | 'too_many_citations' | 'invalid_request'

/** A change that a key may not make. `errorOf` answers with the code and the message. */
export class DeskRefusal extends Error {
  override name = 'DeskRefusal'
  readonly code: Refused

  /** @param code `invalid_request`: the name of a set of outlets is not possible */
  constructor(code: Refused, message: string) {
    super(message)
    this.code = code
  }
}

/**
 * Changes the kept searches, feeds or citations of a key. A lock makes such changes run one after
 * another, so that they stay within the limits. Null when the key does not exist or was revoked.
 */
export const changeKept = <T>(
  pool: Pool,
  keyId: string,
  work: (client: Client) => Promise<T>,
): Promise<T | null> =>
  transaction(pool, async client => {
    const { rowCount } = await client.query(
      'select from api_keys where id = $1 and revoked_at is null for no key update',
      [keyId],
    )
    return rowCount === 0 ? null : work(client)
  })

/** Throws where a change may not be made. It runs while the key changes nothing else. */
export type Check = (client: Client) => Promise<void>

/**
 * Makes a feed, and the kept search to which it belongs. Null when the key does not exist or was
 * revoked.
 *
 * @throws DeskRefusal
 */
export const createFeed = (
  pool: Pool,
  keyId: string,
  { search, title }: { search: string; title: string },
  check?: Check,
): Promise<FeedWithToken | null> =>
  changeKept(pool, keyId, async client => {
    await check?.(client)
    await makeRoomForSearch(client, keyId)
    const { feed, token } = await insertFeed(client, keyId, { search, title, searchId: null })
    await adoptFeeds(client, keyId)
    return { feed: { ...feed, searchId: searchOfFeed(feed.id) }, token }
  })

/** Makes a feed. The caller is within `changeKept`. @throws DeskRefusal */
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

/**
 * Gives a kept search to each feed without one: to new feeds, and to those from before migration
 * 0037.
 */
export async function adoptFeeds(db: Queryable, keyId: string): Promise<void> {
  await db.query(ADOPT, [keyId])
}

// $1 key. Makes room for clients that make and end feeds without a look at the list of searches.
const MAKE_ROOM = `
delete from kept_searches where search_id in (
  select search_id from kept_searches k
   where key_id = $1 and of_feed
     and not exists (select from search_feeds f where f.search_id = k.search_id and f.revoked_at is null)
   order by created_at, search_id limit 1)`

/**
 * Makes room for a kept search. If the list is full, removes the oldest search that was made with a
 * feed and whose feed has ended.
 *
 * @throws DeskRefusal
 */
export async function makeRoomForSearch(client: Client, keyId: string): Promise<void> {
  const kept = await countOf(client, 'select count(*)::int from kept_searches where key_id = $1', [
    keyId,
  ])
  if (kept < MAX_SEARCHES) return
  const { rowCount } = await client.query(MAKE_ROOM, [keyId])
  if (rowCount === 0)
    throw new DeskRefusal(
      'too_many_searches',
      `A key may keep ${MAX_SEARCHES} searches; remove one first.`,
    )
}

/** @throws DeskRefusal */
async function makeRoom(client: Client, keyId: string): Promise<void> {
  const inForce = 'select count(*)::int from search_feeds where key_id = $1 and revoked_at is null'
  if ((await countOf(client, inForce, [keyId])) >= MAX_FEEDS)
    throw new DeskRefusal('too_many_feeds', `A key may have ${MAX_FEEDS} feeds; revoke one first.`)
  await client.query(
    `delete from search_feeds where feed_id in (
       select feed_id from search_feeds where key_id = $1 and revoked_at is not null
       order by revoked_at desc, feed_id offset $2)`,
    [keyId, MAX_FEEDS],
  )
}

/** The active feeds of a key, the oldest first. Index: search_feeds_key */
export async function listFeeds(db: Queryable, keyId: string): Promise<SearchFeed[]> {
  const { rows } = await db.query<SearchFeed>(
    `select ${COLUMNS} from search_feeds where key_id = $1 and revoked_at is null order by created_at, feed_id`,
    [keyId],
  )
  return rows
}

/**
 * The active feeds with their tokens, which are computed again. Leaves out feeds that were made
 * with another secret. The addresses of such feeds still work, but nobody can compute them.
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
 * Ends a feed. A feed that is already revoked stays as it is.
 *
 * @param keyId only a feed of this key is ended; null: of any key
 * @returns false: there is no such feed
 */
export async function revokeFeed(
  db: Queryable,
  feedId: string,
  keyId: string | null = null,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `update search_feeds set revoked_at = coalesce(revoked_at, now())
     where feed_id = $1 and ($2::text is null or key_id = $2)`,
    [feedId, keyId],
  )
  return rowCount === 1
}

/** Ends all active feeds of a key. Returns how many there were. */
export async function revokeAllFeeds(db: Queryable, keyId: string): Promise<number> {
  const { rowCount } = await db.query(
    'update search_feeds set revoked_at = now() where key_id = $1 and revoked_at is null',
    [keyId],
  )
  return rowCount ?? 0
}

/** The id of the feed with this token, even if the feed was revoked. */
export const feedOfToken = (db: Queryable, token: string): Promise<string | null> =>
  readValue(db, 'select feed_id from search_feeds where token_hash = $1', [hashSecret(token)])

/** Prefix of all tokens. Scanners find tokens in logs and commits by this prefix. */
const PREFIX = 'psf_'

/**
 * Makes the tokens of feeds. While the secret stays the same, the same source gives the same token.
 */
type TokenMaker = (source: { feedId: string; keyId: string; nonce: Buffer }) => string

/** 256 random bits. */
const makeNonce = (): Buffer => randomBytes(32)

/**
 * Tokens are HMAC-SHA-256 of their source: 256 bits, 47 characters. So the table needs only hashes,
 * and the owner of the key can still see the address again.
 */
const loadTokenMaker = async (db: Queryable): Promise<TokenMaker> =>
  tokenMaker(await loadSharedSecret(db, 'feeds'))

const tokenMaker =
  (secret: Buffer): TokenMaker =>
  ({ feedId, keyId, nonce }) =>
    PREFIX +
    createHmac('sha256', secret).update(`${feedId} ${keyId} `).update(nonce).digest('base64url')

/** The feeds in force whose address cannot be told again: their secret or their hash is another. */
export async function feedsWithoutAddress(db: Queryable): Promise<string[]> {
  const secret = await readValue<Buffer>(db, "select value from secrets where name = 'feeds'")
  const { rows } = await db.query<Parameters<TokenMaker>[0] & { hash: Buffer }>(
    `select feed_id as "feedId", key_id as "keyId", nonce, token_hash as hash
       from search_feeds where revoked_at is null order by feed_id`,
  )
  // A lost secret is named by itself.
  const tokenOf = tokenMaker(secret ?? Buffer.alloc(0))
  const others = rows.filter(feed => !hashSecret(tokenOf(feed)).equals(feed.hash))
  return secret === null ? [] : others.map(({ feedId }) => feedId)
}

/** Whether a text has the form of a token. Other texts need no look into the database. */
export const looksLikeToken = (text: string): boolean => /^psf_[\w-]{43}$/.test(text)

/**
 * The token in a text, which is a token alone or an address of ours; null: the text has no token.
 */
export const tokenInAddress = (text: string): string | null =>
  /(?:^|\/feeds\/)(psf_[\w-]{43})(?:\.(?:rss|atom|json))?$/.exec(text)?.[1] ?? null

/** A feed for its owner, without its address. */
export interface FeedObject {
  id: string
  title: string
  search: string
  created_at: string
  last_used_at: string | null
  requests: number
}

export function feedObject(feed: SearchFeed): FeedObject {
  return {
    id: feed.id,
    title: feed.title,
    search: feed.search,
    created_at: feed.createdAt.toISOString(),
    last_used_at: feed.lastUsedAt?.toISOString() ?? null,
    requests: feed.requests,
  }
}
