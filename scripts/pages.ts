import { counted } from '#shared/log/printable'
import type { Pool } from '#shared/postgres/pool'
import {
  type CommandContext,
  refuseWord,
  runCommand,
  UsageError,
  wholeNumber,
} from '#shared/process/command'
import { namedIn, plainId, readLeft, sayLeft } from './terminal/done.ts'
import {
  countPages,
  findTriable,
  listPages,
  PAGE_STATES,
  type PageChoice,
  pagesTable,
  retryPages,
} from './terminal/pages.ts'

const LIMIT = 100
const LONGEST = 100_000

await runCommand(
  {
    name: 'pages',
    words: true,
    about: [
      'Lists the pages that are not done with: those that wait for the crawler or the normaliser, and those that failed for',
      'good. Each comes with its next try and the reason of its last attempt. `list --refused` lists those that are not',
      'indexed: gone, forbidden by robots.txt, in another language. `retry` has failed and refused pages, and pages that wait',
      'for a later try, tried now; hosts keep their pace. Exit code: 1 when a named page is not tried.',
    ].join('\n'),
    usage: [
      'list [--state waiting | --refused] [--outlet DOMAIN] [--limit 100] [--json]',
      'retry ID… [--dry-run] [--json]',
      'retry --outlet DOMAIN | --state failed | --refused | --all [--dry-run] [--json]',
    ],
    options: {
      state: { value: PAGE_STATES.join('|'), about: 'only pages of this state' },
      outlet: { value: 'DOMAIN', about: 'only pages of this outlet' },
      limit: { value: 'N', about: `list: at most N pages (default ${LIMIT})` },
      refused: { about: 'only refused pages; without it they are tried again by their ids alone' },
      all: { about: 'retry: every open page that may be tried again' },
      json: {
        about:
          'list: one JSON object a line; retry: {"action", "count", "dry_run"}, with named ids also "ids", "left"',
      },
      'dry-run': { about: 'retry: says how many, and changes nothing' },
    },
    needs: ['DATABASE_URL'],
  },
  async context => {
    const [verb, ...ids] = context.positionals
    if (verb !== 'list' && verb !== 'retry')
      throw new UsageError('Write list or retry; see --help.')
    if (verb === 'list') refuseWord(ids[0])
    const choice = choiceOf(context, ids)
    return (verb === 'list' ? list : retry)(context, context.openPool({ max: 1 }), choice)
  },
)

async function list(
  { options, print, say }: CommandContext,
  pool: Pool,
  choice: PageChoice,
): Promise<void> {
  const limit = wholeNumber('limit', options.limit, LONGEST) ?? LIMIT
  const pages = await listPages(pool, choice, limit)
  if (options.json) for (const page of pages) print(JSON.stringify(page))
  else if (pages.length > 0) print(pagesTable(pages, new Date()))
  const count = pages.length < limit ? pages.length : await countPages(pool, choice)
  const kind = choice.state === 'refused' ? 'refused' : 'open'
  if (count === 0) say(`No page is ${kind}.`)
  else if (count > pages.length)
    say(`${pages.length} of ${counted(count, `${kind} page`)}; --limit shows more.`)
  else say(`${counted(count, `${kind} page`)}.`)
}

async function retry(
  { options, print, say }: CommandContext,
  pool: Pool,
  choice: PageChoice,
): Promise<number> {
  if (choice.numbers === null && choice.outlet === null && choice.state === null && !options.all)
    throw new UsageError('Name ids as list prints them, --outlet, --state, or --all.')
  const dryRun = options['dry-run'] === true
  const done = await (dryRun ? findTriable(pool, choice) : retryPages(pool, choice))
  const { count, ids } = done
  const named = choice.numbers?.map(number => `page:${number}`) ?? []
  const left = await readLeft(pool, named, done)
  if (options.json)
    print(
      JSON.stringify({
        action: 'retry',
        count,
        dry_run: dryRun,
        ...(ids !== null && { ids, left }),
      }),
    )
  else {
    const of = left.length > 0 ? `, of ${named.length}` : ''
    say(`${dryRun ? 'Would try' : 'Tries'} ${counted(count, 'page')} now${of}${namedIn(done)}.`)
    sayLeft(left, say)
  }
  return left.length > 0 ? 1 : 0
}

function choiceOf({ options }: CommandContext, ids: string[]): PageChoice {
  const written = options.refused ? (options.state ?? 'refused') : options.state
  const state = PAGE_STATES.find(known => known === written) ?? null
  if (written !== undefined && state === null)
    throw new UsageError(`--state is one of ${PAGE_STATES.join(', ')}.`)
  const wrong = ids.find(id => !/^page:\d{1,18}$/.test(id))
  if (wrong !== undefined)
    throw new UsageError(`"${wrong}" is no id of a page; they look like page:12.`)
  return {
    outlet:
      typeof options.outlet === 'string'
        ? options.outlet.toLowerCase().replace(/^www\./, '')
        : null,
    state,
    numbers:
      ids.length > 0 ? [...new Set(ids.map(plainId))].map(id => id.slice('page:'.length)) : null,
  }
}
