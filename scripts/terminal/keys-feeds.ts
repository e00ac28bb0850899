import {
  feedObject,
  feedOfToken,
  listFeeds,
  revokeAllFeeds,
  revokeFeed,
  type SearchFeed,
  tokenInAddress,
} from '#shared/desk/feeds'
import { countKey, type DeletedKey, deleteKey, exportKey } from '#shared/desk/of-key'
import { type KeptSearch, listSearches } from '#shared/desk/searches'
import { counted, printableLine } from '#shared/log/printable'
import { type ApiKey, listKeys } from '#shared/plans/keys'
import type { Pool } from '#shared/postgres/pool'
import { type CommandContext, refuseWord, UsageError } from '#shared/process/command'
import { confirm } from './terminal.ts'

/** The usage of the verbs for what a key keeps. */
export const FEED_USAGE: string[] = [
  'export KEY',
  'delete KEY [--dry-run] [--yes] [--json]',
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
  refuseWord(surplus)
  switch (verb) {
    case 'list': {
      const feeds = await listFeeds(pool, (await keyNamed(pool, named, `feed ${verb}`)).id)
      return print(options.json ? JSON.stringify(feeds.map(described)) : feedTable(feeds))
    }
    case 'revoke': {
      if (!options.all)
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
  refuseWord(surplus)
  const kept = await listSearches(pool, (await keyNamed(pool, named, 'searches')).id)
  const plain = ({ createdAt, feed, ...one }: KeptSearch) => ({
    ...one,
    created_at: createdAt.toISOString(),
    feed: feed?.id ?? null,
  })
  if (options.json) return print(JSON.stringify(kept.map(plain)))
  const line = ({ id, name, search, feed }: KeptSearch) =>
    `${id}  ${printableLine(name)}\n  ${printableLine(search) || 'everything'}${feed === null ? '' : `  feed ${feed.id}`}`
  print(kept.length === 0 ? 'It keeps no search.' : kept.map(line).join('\n'))
}

/** `npm run keys -- export KEY`: all that is kept of a key, revoked ones too, without secrets. */
export async function runExport({ positionals, print }: CommandContext, pool: Pool): Promise<void> {
  const [, named, surplus] = positionals
  refuseWord(surplus)
  const { id } = await keyNamed(pool, named, 'export', 'all')
  print(JSON.stringify(await exportKey(pool, id), null, 2))
}

/** What a row of each table is, for people. */
const KINDS: Record<string, [one: string, many: string]> = {
  alert_finds: ['find of an alert', 'finds of alerts'],
  alert_messages: ['message of an alert', 'messages of alerts'],
  search_alerts: ['alert', 'alerts'],
  alert_asks: ['mail that asked or was refused', 'mails that asked or were refused'],
  refusals: ['refusal of mail', 'refusals of mail'],
  search_feeds: ['feed', 'feeds'],
  kept_searches: ['kept search', 'kept searches'],
  outlet_sets: ['set of outlets', 'sets of outlets'],
  citations: ['citation', 'citations'],
  rate_windows: ['counter of a minute', 'counters of minutes'],
  quota_months: ['counter of a month', 'counters of months'],
  api_keys: ['key', 'keys'],
}

const listOf = (counts: Record<string, number>): string =>
  Object.entries(counts)
    .map(([table, count]) => counted(count, ...(KINDS[table] ?? [table, table])))
    .join(', ') || 'nothing'

/** `npm run keys -- delete KEY`: deletes a key, revoked ones too, with all that it keeps. */
export async function runDelete(
  { positionals, options, print, say, signal }: CommandContext,
  pool: Pool,
): Promise<void> {
  const [, named, surplus] = positionals
  refuseWord(surplus)
  const { id, name } = await keyNamed(pool, named, 'delete', 'all')
  const dryRun = options['dry-run'] === true
  const tell = ({ deleted, stays }: DeletedKey, verb: string) => {
    if (options.json) print(JSON.stringify({ key: id, name, dry_run: dryRun, deleted, stays }))
    say(printableLine(`${verb} ${id} (${name}): ${listOf(deleted)}. What stays: ${listOf(stays)}.`))
  }
  const before = await countKey(pool, id)
  if (dryRun) return tell(before, 'Would delete')
  const question = `Delete ${id} (${name}) for good, with ${listOf(before.deleted)}?`
  if (!options.yes && !(await confirm(question, signal)))
    throw new UsageError(printableLine(`${question} Nothing was changed; add --yes to go on.`))
  const counts = await deleteKey(pool, id)
  if (counts === null) throw new Error(`There is no key ${id} any more.`)
  tell(counts, 'Deleted')
  say('Backups of before have it until they are deleted.')
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

/**
 * The key that has this id or name.
 *
 * @param among whether revoked ones count, or do where none in force has it
 */
export async function keyNamed(
  pool: Pool,
  named: string | undefined,
  verb: string,
  among: 'in force' | 'in force first' | 'all' = 'in force',
): Promise<ApiKey> {
  if (named === undefined)
    throw new UsageError(`Name the key by its id or name: npm run keys -- ${verb} KEY.`)
  const keys = (await listKeys(pool)).filter(key => among !== 'in force' || key.revokedAt === null)
  const found = keys.filter(key => key.id === named)
  const same = found.length > 0 ? found : keys.filter(key => key.name === named)
  const first = among === 'in force first' ? same.filter(key => key.revokedAt === null) : []
  const candidates = first.length > 0 ? first : same
  if (candidates.length > 1) {
    const ids = candidates.map(({ id }) => id).join(', ')
    throw new UsageError(`Several keys have the name "${named}"; write the id: ${ids}.`)
  }
  if (!candidates[0]) {
    const kind = among === 'in force' ? ' in force' : ''
    throw new Error(`There is no key "${named}"${kind}; list shows the keys.`)
  }
  return candidates[0]
}

/** The fields of a feed that the command prints, without its address. */
const described = (feed: SearchFeed) => ({ ...feedObject(feed), key: feed.keyId })

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
