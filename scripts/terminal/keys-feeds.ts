import { tokenInAddress } from '../../services/api/feeds/feed-address.ts'
import {
  feedOfToken,
  listFeeds,
  revokeAllFeeds,
  revokeFeed,
  type SearchFeed,
} from '../../shared/desk/feeds.ts'
import { type KeptSearch, listSearches } from '../../shared/desk/searches.ts'
import { printableLine } from '../../shared/log/printable.ts'
import { type ApiKey, listKeys } from '../../shared/plans/keys.ts'
import type { Pool } from '../../shared/postgres/pool.ts'
import { type CommandContext, UsageError } from '../../shared/process/command.ts'

/** The usage of the verbs for the kept searches and feeds of a key. */
export const FEED_USAGE: string[] = [
  'searches KEY [--json]',
  'feed list KEY [--json]',
  'feed revoke FEED',
  'feed revoke KEY --all',
]

/**
 * `npm run keys -- feed …`: the feeds of a key, which is named by its id or its name. To revoke a
 * feed, name its id, or its address if the id is unknown.
 */
export async function runFeed(
  { positionals, options, print, say }: CommandContext,
  pool: Pool,
): Promise<void> {
  const [, verb = '', named, surplus] = positionals
  if (surplus !== undefined) throw new UsageError(`"${surplus}" is one word too many; see --help.`)
  switch (verb) {
    case 'list': {
      const feeds = await listFeeds(pool, (await keyNamed(pool, named, `feed ${verb}`)).id)
      return print(options.json === true ? JSON.stringify(feeds.map(described)) : feedTable(feeds))
    }
    case 'revoke': {
      if (options.all !== true)
        return say(`Revoked ${await revoke(pool, named)}; its readers are told so from now on.`)
      const key = await keyNamed(pool, named, `feed ${verb}`)
      const feeds = await revokeAllFeeds(pool, key.id)
      return say(`Revoked ${feeds} of ${key.name}; their readers are told so from now on.`)
    }
    default:
      throw new UsageError('Write feed list or feed revoke; see --help.')
  }
}

/** `npm run keys -- searches KEY`: the kept searches of a key. */
export async function runSearches(
  { positionals, options, print }: CommandContext,
  pool: Pool,
): Promise<void> {
  const [, named, surplus] = positionals
  if (surplus !== undefined) throw new UsageError(`"${surplus}" is one word too many; see --help.`)
  const kept = await listSearches(pool, (await keyNamed(pool, named, 'searches')).id)
  const plain = ({ createdAt, feed, ...one }: KeptSearch) => ({
    ...one,
    created_at: createdAt.toISOString(),
    feed: feed?.id ?? null,
  })
  if (options.json === true) return print(JSON.stringify(kept.map(plain)))
  const line = ({ id, name, search, feed }: KeptSearch) =>
    `${id}  ${printableLine(name)}\n  ${printableLine(search) || 'everything'}${feed === null ? '' : `  feed ${feed.id}`}`
  print(kept.length === 0 ? 'It keeps no search.' : kept.map(line).join('\n'))
}

/** Revokes a feed and returns its id. */
async function revoke(pool: Pool, named: string | undefined): Promise<string> {
  if (named === undefined)
    throw new UsageError('Name the feed by its id or address: npm run keys -- feed revoke FEED.')
  const token = tokenInAddress(named)
  const id = token === null ? named : await feedOfToken(pool, token)
  if (id === null || !(await revokeFeed(pool, id)))
    throw new Error(`There is no such feed; feed list KEY shows the ids.`)
  return id
}

/** The valid key that has this id or name. */
async function keyNamed(pool: Pool, named: string | undefined, verb: string): Promise<ApiKey> {
  if (named === undefined)
    throw new UsageError(`Name the key by its id or name: npm run keys -- ${verb} KEY.`)
  const inForce = (await listKeys(pool)).filter(key => key.revokedAt === null)
  const found = inForce.filter(key => key.id === named)
  const candidates = found.length > 0 ? found : inForce.filter(key => key.name === named)
  if (candidates.length > 1) {
    const ids = candidates.map(({ id }) => id).join(', ')
    throw new UsageError(`Several keys have the name "${named}"; write the id: ${ids}.`)
  }
  if (!candidates[0]) throw new Error(`There is no key "${named}" in force; list shows the keys.`)
  return candidates[0]
}

/** The fields of a feed that the command prints, without its address. */
const described = (feed: SearchFeed): Record<string, unknown> => ({
  id: feed.id,
  key: feed.keyId,
  title: feed.title,
  search: feed.search,
  created_at: feed.createdAt.toISOString(),
  last_used_at: feed.lastUsedAt?.toISOString() ?? null,
  requests: feed.requests,
})

/** Feeds for people: two lines each. */
function feedTable(feeds: SearchFeed[]): string {
  if (feeds.length === 0) return 'No feeds; the explorer and `POST /explore/feeds` make them.'
  return feeds
    .flatMap(feed => [
      `${feed.id}  ${printableLine(feed.title)}`,
      `  ${printableLine(feed.search) || 'everything'}  made ${minute(feed.createdAt)}, ${use(feed)}`,
    ])
    .join('\n')
}

const use = ({ requests, lastUsedAt }: SearchFeed): string =>
  lastUsedAt === null
    ? 'never used'
    : `${requests.toLocaleString('en')} × used, last ${minute(lastUsedAt)}`

const minute = (time: Date): string => `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`
