import { ceilMs, parseInstant } from '#services/api/contract/instants'
import { COUNTRIES, type Country } from '#shared/articles/article'
import { listFeeds } from '#shared/desk/feeds'
import {
  type ApiKey,
  createKey,
  type HistoryStart,
  type ListedKey,
  listKeys,
  type Plan,
  revokeKey,
  rotateKey,
  updateKey,
} from '#shared/plans/keys'
import { countOf, type Pool } from '#shared/postgres/pool'
import {
  type CommandContext,
  refuseWord,
  runCommand,
  textOf,
  UsageError,
  wholeNumber,
} from '#shared/process/command'
import {
  FEED_USAGE,
  keyNamed,
  runDelete,
  runExport,
  runFeed,
  runSearches,
} from './terminal/keys-feeds.ts'

const MAX_RATE = 1_000_000
const MAX_QUOTA = 2_000_000_000
const MAX_DAYS = 36_500

const NAMED = 'select count(*)::int from api_keys where name = $1 and revoked_at is null'

await runCommand(
  {
    name: 'keys',
    words: true,
    about:
      'Issues and ends API keys, and shows and ends what they keep: searches, and feeds that readers read at their cost. Keys are stored hashed: the key itself is printed once, by create and rotate. `export` hands out all that is kept of a key, `delete` removes it. KEY is the id of a key, or its name. Prints JSON.',
    usage: [
      'create --name N --countries NL,BE --history-start 2024-01-01 --rate 60 [--quota 10000]',
      'create --name N --countries NL --history-days 365 --rate 60',
      'list',
      'update KEY [--name N] [--countries NL,BE] [--history-days 30] [--rate 100] [--quota 5000 | --no-quota]',
      'rotate KEY',
      'revoke KEY',
      ...FEED_USAGE,
    ],
    options: {
      name: { about: 'whose key it is', value: 'N' },
      countries: { value: 'VALUE', about: 'NL, BE, LU, comma-separated' },
      'history-start': { about: 'first day, or time, of the history', value: 'DATE' },
      'history-days': {
        about: 'days of history instead; the window moves every midnight UTC',
        value: 'N',
      },
      rate: { about: 'requests per minute', value: 'N' },
      quota: { about: 'requests per calendar month (UTC)', value: 'N' },
      'no-quota': { about: 'with update: takes the quota away' },
      all: { about: 'with feed revoke: all feeds of the key' },
      'dry-run': { about: 'with delete: says what would go, and changes nothing' },
      yes: { about: 'with delete: does not ask' },
      json: { about: 'with searches, feed list or delete: prints JSON' },
    },
    needs: ['DATABASE_URL'],
  },
  context => run(context, context.openPool({ max: 1 })),
)

async function run(context: CommandContext, pool: Pool): Promise<void> {
  const { positionals, print, say } = context
  const [verb = '', id, surplus] = positionals
  if (verb === 'feed') return runFeed(context, pool)
  if (verb === 'searches') return runSearches(context, pool)
  if (verb === 'export') return runExport(context, pool)
  if (verb === 'delete') return runDelete(context, pool)
  refuseWord(surplus ?? (['create', 'list'].includes(verb) ? id : undefined))
  const named = async (among?: 'in force first') => (await keyNamed(pool, id, verb, among)).id
  const found = <T>(result: T | null): T => {
    if (result === null) throw new Error(`There is no key "${id}" in force any more.`)
    return result
  }
  switch (verb) {
    case 'create': {
      const { name, plan } = readNew(context)
      const { key, secret } = await createKey(pool, name, plan)
      print(JSON.stringify(described(key, secret)))
      say(`Issued ${key.id} for ${key.name}. The key is shown this once; keep it.`)
      if ((await countOf(pool, NAMED, [name])) > 1)
        say('Another key in force has this name, too: write ids in commands.')
      return
    }
    case 'list': {
      const keys = await listKeys(pool)
      print(
        `[${keys.map(key => `\n${JSON.stringify(listed(key))}`).join(',')}${keys.length > 0 ? '\n' : ''}]`,
      )
      return
    }
    case 'update': {
      const change = readChange(context)
      if (change.name === undefined && Object.keys(change.plan).length === 0)
        throw new UsageError('Say what to change, as --rate 100; see --help.')
      print(JSON.stringify(described(found(await updateKey(pool, await named(), change)))))
      return say('Changed; every API process follows at once.')
    }
    case 'rotate': {
      const { key, secret } = found(await rotateKey(pool, await named()))
      print(JSON.stringify(described(key, secret)))
      say('The old key has ended. The new one is shown this once; keep it.')
      const feeds = await listFeeds(pool, key.id)
      if (feeds.length > 0) {
        say(
          `Its feeds (${feeds.length}) keep their addresses; if the key had leaked: npm run keys -- feed revoke ${key.id} --all.`,
        )
      }
      return
    }
    case 'revoke': {
      print(JSON.stringify(described(found(await revokeKey(pool, await named('in force first'))))))
      return say('Revoked; every API process refuses it, and its feeds, from now on.')
    }
    default:
      throw new UsageError(
        'Write create, list, update, rotate, revoke, export, delete, searches or feed; see --help.',
      )
  }
}

/** The printed form of a key. It has `key` only when the key has just been made. */
function described(key: ApiKey, secret?: string): Record<string, unknown> {
  const { plan } = key
  return {
    id: key.id,
    key: secret,
    name: key.name,
    countries: plan.countries,
    history:
      plan.history.kind === 'fixed'
        ? { start: plan.history.at.toISOString() }
        : { days: plan.history.days },
    rate: plan.rate,
    quota: plan.quota,
    created_at: key.createdAt.toISOString(),
    revoked_at: key.revokedAt?.toISOString() ?? null,
  }
}

/** A line of `list`. */
function listed(key: ListedKey): Record<string, unknown> {
  return {
    ...described(key),
    last_used_at: key.lastUsedAt?.toISOString() ?? null,
    used_this_month: key.usedThisMonth,
    citations: key.citations,
    cited_articles: key.citedArticles,
  }
}

function readNew(context: CommandContext): { name: string; plan: Plan } {
  const { name, plan } = readChange(context)
  const { countries, history, rate, quota } = plan
  if (name === undefined || !countries || !history || rate === undefined)
    throw new UsageError(
      'A key needs --name, --countries, --history-start or --history-days, and --rate; see --help.',
    )
  return { name, plan: { countries, history, rate, quota: quota ?? null } }
}

function readChange({ options }: CommandContext): { name?: string; plan: Partial<Plan> } {
  const name = textOf(options, 'name')
  if (name === '') throw new UsageError('--name is empty; write whose key it is.')
  const countries = readCountries(textOf(options, 'countries'))
  const history = readHistory(
    textOf(options, 'history-start'),
    wholeNumber('history-days', options['history-days'], MAX_DAYS, 0),
  )
  const rate = wholeNumber('rate', options.rate, MAX_RATE)
  const quota = wholeNumber('quota', options.quota, MAX_QUOTA, 0)
  if (quota !== null && options['no-quota'])
    throw new UsageError('Write --quota or --no-quota, not both.')
  return {
    ...(name === undefined ? {} : { name }),
    plan: {
      ...(countries ? { countries } : {}),
      ...(history ? { history } : {}),
      ...(rate === null ? {} : { rate }),
      ...(options['no-quota'] ? { quota: null } : quota === null ? {} : { quota }),
    },
  }
}

function readCountries(text: string | undefined): Country[] | null {
  if (text === undefined) return null
  const written = text.split(',').map(name => name.trim().toUpperCase())
  const strange = written.find(name => !COUNTRIES.some(country => country === name))
  if (strange !== undefined)
    throw new UsageError(`--countries names "${strange}"; write of ${COUNTRIES.join(', ')}.`)
  return COUNTRIES.filter(country => written.includes(country))
}

function readHistory(start: string | undefined, days: number | null): HistoryStart | null {
  if (start !== undefined && days !== null)
    throw new UsageError('Write --history-start or --history-days, not both.')
  if (days !== null) return { kind: 'rolling', days }
  if (start === undefined) return null
  const instant = parseInstant(start)
  if (!instant)
    throw new UsageError(`--history-start is "${start}"; write a day such as 2024-01-01.`)
  return { kind: 'fixed', at: new Date(ceilMs(instant)) }
}
