import { ApiError } from '../../services/api/contract/errors.ts'
import { feedAddresses, tokenInAddress, writeOpml } from '../../services/api/feeds/feed-address.ts'
import { type NewFeed, readNewFeed } from '../../services/api/feeds/manage.ts'
import { publicUrlOf } from '../../services/api/http/address.ts'
import { printableLine, printableXml } from '../../shared/log/printable.ts'
import { type ApiKey, listKeys } from '../../shared/plans/keys.ts'
import {
  createFeed,
  feedOfToken,
  listFeeds,
  listFeedsWithTokens,
  revokeAllFeeds,
  revokeFeed,
  type SearchFeed,
} from '../../shared/plans/search-feeds.ts'
import type { Pool } from '../../shared/postgres/pool.ts'
import { type CommandContext, UsageError } from '../../shared/process/command.ts'

/** How the verbs on feeds are typed. */
export const FEED_USAGE = [
  'feed add KEY --search "q=brug&country=NL" [--title T]',
  'feed list KEY [--json]',
  'feed opml KEY > feeds.opml',
  'feed revoke FEED',
  'feed revoke KEY --all',
  'feeds KEY [--opml]',
]

/**
 * `npm run keys -- feed …`: the feeds of a key, which is named by its id or its name. A feed to be
 * revoked is named by its id, or by its address where only that is known.
 */
export async function runFeed(context: CommandContext, pool: Pool): Promise<void> {
  const [noun, ...words] = context.positionals
  // `feeds KEY` is short for the list, or the OPML, of its feeds.
  const short = noun === 'feeds' ? [context.options.opml === true ? 'opml' : 'list'] : []
  const [verb = '', named, surplus] = [...short, ...words]
  if (surplus !== undefined) throw new UsageError(`"${surplus}" is one word too many; see --help.`)
  switch (verb) {
    case 'add':
      return add(context, pool, await keyNamed(pool, named, verb))
    case 'list':
      return list(context, pool, await keyNamed(pool, named, verb))
    case 'opml':
      return printOpml(context, pool, await keyNamed(pool, named, verb))
    case 'revoke':
      return revoke(context, pool, named)
    default:
      throw new UsageError('Write feed add, feed list, feed opml or feed revoke; see --help.')
  }
}

async function add(context: CommandContext, pool: Pool, key: ApiKey): Promise<void> {
  const { config, print, say } = context
  const made = await createFeed(pool, key.id, readNew(context, key))
  if (!made) throw new Error(`The key ${key.id} was revoked a moment ago.`)
  const urls = feedAddresses(publicUrlOf(config), made.token)
  print(JSON.stringify({ ...described(made.feed), url: urls.rss, urls }))
  say(`Whoever knows the address reads the feed, at the cost of ${key.name}; treat it as a password.`)
  if (config.PUBLIC_URL === '') say('Readers on other machines need another address: set PUBLIC_URL as for the API.')
}

function readNew({ config, options }: CommandContext, key: ApiKey): NewFeed {
  const { search, title } = options
  if (typeof search !== 'string') throw new UsageError('Write --search "q=brug&country=NL"; --search "" is everything.')
  try {
    return readNewFeed(search, typeof title === 'string' ? title : null, key.plan, config.SERVICE_NAME)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const [name, sentences] = Object.entries(error.errors ?? {})[0] ?? ['--search', [error.message]]
    throw new UsageError(`${['search', 'title'].includes(name) ? `--${name}` : name}: ${sentences.join(' ')}`)
  }
}

async function list({ options, print }: CommandContext, pool: Pool, key: ApiKey): Promise<void> {
  const feeds = await listFeeds(pool, key.id)
  print(options.json === true ? JSON.stringify(feeds.map(described)) : feedTable(feeds))
}

async function printOpml({ config, print, say }: CommandContext, pool: Pool, key: ApiKey): Promise<void> {
  const [known, all] = [await listFeedsWithTokens(pool, key.id), await listFeeds(pool, key.id)]
  const { SERVICE_NAME: serviceName, FEED_NAMESPACE_URL: namespace } = config
  print(printableXml(writeOpml({ serviceName, publicUrl: publicUrlOf(config), namespace }, known).trimEnd()))
  const lost = all.length - known.length
  if (lost > 0)
    say(`Left out: ${lost} whose address nobody knows any more (another secret); revoke them, add them again.`)
}

async function revoke({ options, say }: CommandContext, pool: Pool, named: string | undefined): Promise<void> {
  if (options.all === true) {
    const key = await keyNamed(pool, named, 'revoke')
    return say(`Revoked ${await revokeAllFeeds(pool, key.id)} of ${key.name}; their readers are told so from now on.`)
  }
  if (named === undefined) throw new UsageError('Name the feed by its id or address: npm run keys -- feed revoke FEED.')
  const token = tokenInAddress(named)
  const id = token === null ? named : await feedOfToken(pool, token)
  if (id === null || !(await revokeFeed(pool, id)))
    throw new Error(`There is no such feed; feed list KEY shows the ids.`)
  say(`Revoked ${id}; its readers are told so from now on.`)
}

/** The key in force of this id or name. */
async function keyNamed(pool: Pool, named: string | undefined, verb: string): Promise<ApiKey> {
  if (named === undefined) throw new UsageError(`Name the key by its id or name: npm run keys -- feed ${verb} KEY.`)
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

/** What is printed of a feed; its address only where it has just been made. */
function described(feed: SearchFeed): Record<string, unknown> {
  return {
    id: feed.id,
    key: feed.keyId,
    title: feed.title,
    search: feed.search,
    created_at: feed.createdAt.toISOString(),
    last_used_at: feed.lastUsedAt?.toISOString() ?? null,
    requests: feed.requests,
  }
}

/** Feeds for people: two lines each. */
function feedTable(feeds: SearchFeed[]): string {
  if (feeds.length === 0) return 'No feeds; `npm run keys -- feed add KEY --search "…"` makes one.'
  return feeds
    .flatMap(feed => [
      `${feed.id}  ${printableLine(feed.title)}`,
      `  ${printableLine(feed.search) || 'everything'}  made ${minute(feed.createdAt)}, ${use(feed)}`,
    ])
    .join('\n')
}

const use = ({ requests, lastUsedAt }: SearchFeed): string =>
  lastUsedAt === null ? 'never used' : `${requests.toLocaleString('en')} × used, last ${minute(lastUsedAt)}`

const minute = (time: Date): string => `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`
