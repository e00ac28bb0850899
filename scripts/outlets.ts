import { open, readFile } from 'node:fs/promises'
import { type LearnedTemplate, readTemplates } from '#services/normaliser/template'
import { keptInWords, type OutletHealth } from '#shared/figures'
import { counted, printableLine } from '#shared/log/printable'
import { type BackFillFigures, backFillInWords, readBackFills } from '#shared/outlets/back-fills'
import type { SharedFeed } from '#shared/outlets/catalogue'
import { dayAgo } from '#shared/outlets/days'
import type { Pool } from '#shared/postgres/pool'
import { type CommandContext, runCommand, UsageError } from '#shared/process/command'
import { dropPrivileges } from '#shared/process/privileges'
import { type Budget, budgetsUsed, type OutletPages, outletHealthAndPages } from '#status/health'
import { ago, bytes, daysInWords, mannersInWords, sourcesOf, span, troublesOf } from '#status/words'
import { BACK_OPTIONS, ENTRY_OPTIONS } from './outlets/options.ts'
import { columns, outletsBar } from './terminal/terminal.ts'

const DEFAULT_CATALOGUE = 'infra/outlets/benelux.json'

const sharing = (url: string, domains: string[], own: string) =>
  `shares ${url} with ${domains.filter(domain => domain !== own).join(', ')}`

/** A verb loads its own modules alone: those of a crawl and of a normaliser take a while. */
const changes = () => import('./outlets/change.ts')

/** The verbs that take one file or one outlet. */
const OF_ONE: Partial<
  Record<string, (context: CommandContext, pool: Pool, word: string) => Promise<unknown>>
> = {
  sync: async (...given) => (await changes()).sync(...given),
  add: async (...given) => (await changes()).add(...given),
  back: async (...given) => (await import('./outlets/back.ts')).back(...given),
  report,
}

await runCommand(
  {
    name: 'outlets',
    words: true,
    about: 'The catalogue of outlets: changes it, lists the health of outlets, tries their feeds.',
    usage: [
      'sync FILE [--dry-run] [--yes]      makes FILE the whole catalogue',
      'add FILE [--dry-run]               adds the outlets of FILE, or makes them as FILE has them; all others stay',
      'add DOMAIN --country NL --languages nl --feed URL… [--name NAME] [--dry-run]',
      'add DOMAIN --feed URL…             gives an outlet that is there more feeds',
      'remove DOMAIN… [--dry-run]',
      'rename OLD NEW [--dry-run] [--json]  moves an outlet to another domain',
      'list [--json]',
      'back DOMAIN --from 2019-01-01 [--to DAY] [--newest-first] [--stop] [--dry-run]  fetches what an outlet had before',
      'rights [--json]                    what each value of RIGHTS_TDM stops, by outlet and signal',
      'rights DOMAIN [--apply]            bounds old articles by the signals that hold now',
      'report DOMAIN [--json]             a page for the publisher: what was asked and obeyed',
      `check [FILE] [--json] [--write FILE]  (default ${DEFAULT_CATALOGUE})`,
    ],
    options: {
      ...ENTRY_OPTIONS,
      ...BACK_OPTIONS,
      yes: {
        about:
          'sync: removes outlets without asking at a terminal (elsewhere it never asks); add: adds one that moved',
      },
      json: { about: 'prints one JSON object a line' },
      write: { value: 'FILE', about: 'check: writes the corrected catalogue' },
      apply: {
        about:
          'rights DOMAIN: bounds articles, and asks for pages again; without it only says what',
      },
      'dry-run': { about: 'says what would change, and changes nothing' },
    },
    beside: true,
  },
  async context => {
    const {
      options,
      positionals: [verb, first, ...rest],
    } = context
    if (verb === 'remove' && first !== undefined)
      return (await changes()).remove(context, context.openPool({ max: 2 }), [first, ...rest])
    if (verb === 'rename') {
      const { rename } = await import('./outlets/rename.ts')
      return rename(context, context.openPool({ max: 2 }), context.positionals.slice(1))
    }
    if (rest.length > 0) throw new UsageError('Name one file or outlet.')
    const ofOne = first === undefined ? undefined : OF_ONE[verb ?? '']
    if (ofOne !== undefined) {
      // The ledger of a back-fill may be long.
      const limit = verb === 'back' ? { statementTimeout: 0 } : {}
      return ofOne(context, context.openPool({ max: 2, ...limit }), first!)
    }
    if (verb === 'list' && first === undefined) return list(context, context.openPool({ max: 2 }))
    if (verb === 'rights') {
      const pool = context.openPool({ max: 2, statementTimeout: 0 })
      if (first === undefined && options.apply)
        throw new UsageError('Name the outlet: rights DOMAIN --apply.')
      const { applyRights, showStops } = await import('./outlets/rights.ts')
      return first === undefined
        ? showStops(context, pool)
        : applyRights(context, pool, first.toLowerCase())
    }
    if (verb === 'check') return check(context, first ?? DEFAULT_CATALOGUE)
    throw new UsageError(
      'Write sync FILE, add FILE, remove DOMAIN, rename OLD NEW, list, back DOMAIN, rights [DOMAIN], report DOMAIN, or check [FILE]; see --help.',
    )
  },
)

/** Prints a page for a publisher: exact figures with `--json`, otherwise Markdown. */
async function report(
  { config, options, print }: CommandContext,
  pool: Pool,
  domain: string,
): Promise<void> {
  const { readReport, reportPage } = await import('./outlets/report.ts')
  const found = await readReport(pool, domain, config)
  if (found === null) throw new UsageError(`No outlet has the domain ${domain}; "list" names them.`)
  if (options.json) print(JSON.stringify(found))
  else for (const line of reportPage(found).split('\n')) print(line)
}

async function list({ config, options, print }: CommandContext, pool: Pool): Promise<void> {
  const { readSharedFeeds } = await import('./outlets/sync.ts')
  const [health, shared, templates, past] = await Promise.all([
    outletHealthAndPages(pool),
    readSharedFeeds(pool),
    readTemplates(pool),
    readBackFills(pool),
  ])
  const outlets = health.map(outlet => ({
    ...outlet,
    template: templates.get(outlet.domain) ?? null,
    back: past.find(({ domain }) => domain === outlet.domain) ?? null,
    sharedFeeds: shared.filter(({ domains }) => domains.includes(outlet.domain)),
  }))
  if (options.json) for (const outlet of outlets) print(JSON.stringify(outlet))
  else print(healthTable(outlets, config, new Date()))
}

/** @returns the exit code: 1 when a listed feed cannot be read */
async function check(context: CommandContext, file: string): Promise<number> {
  const { config, options, print, say, signal } = context
  const { readOutlets, warnOfSharedFeeds } = await changes()
  const { checkOutlets, checkTable, droppedBefore, writeCatalogue } = await import(
    './outlets/check.ts'
  )
  const text = await readFile(file, 'utf8')
  const outlets = await readOutlets(context, file)
  // The file is opened while the process still has all its rights. Nothing is written before the
  // end of the check.
  const to = typeof options.write === 'string' ? await open(options.write, 'a') : null
  const problem = dropPrivileges()
  if (problem !== null) say(problem)
  const bar = outletsBar(options.json ? null : outlets.length)
  let done = 0
  const earlier = droppedBefore(
    text,
    outlets.map(({ domain }) => domain),
  )
  const checked = await checkOutlets(config, outlets, earlier, signal, {
    feed(result) {
      if (options.json) print(JSON.stringify(result))
      else
        bar.say(
          printableLine(
            `${result.ok ? 'ok  ' : 'FAIL'} ${result.domain} ${result.url} ${result.detail}`,
          ),
        )
    },
    outlet() {
      done += 1
      bar.update(done)
    },
  }).finally(() => bar.stop())
  if (signal.aborted) return 1
  if (!options.json) print(checkTable(checked))
  warnOfSharedFeeds(context, outlets)
  if (to !== null) {
    await writeCatalogue(to, text, checked.outlets, new Date().toISOString().slice(0, 10))
    await to.close()
    say(`Wrote ${options.write}.`)
  }
  return checked.feeds.every(({ ok, listed }) => ok || !listed) ? 0 : 1
}

/** An outlet with its pages and the feeds that it shares with others. */
type ListedOutlet = OutletHealth &
  OutletPages & {
    sharedFeeds: SharedFeed[]
    template: LearnedTemplate | null
    back: BackFillFigures | null
  }

/**
 * Health for people: for each outlet a line of a table that fits 80 columns, and below it what has
 * no room there, those in trouble first.
 */
function healthTable(outlets: ListedOutlet[], budget: Budget, now: Date): string {
  if (outlets.length === 0)
    return 'No outlets; `npm run outlets -- add FILE` adds those of a catalogue.'
  const rank = { failing: 0, blocked: 1, silent: 2, healthy: 3 }
  const sorted = [...outlets].sort(
    (a, b) => rank[a.health] - rank[b.health] || (a.domain < b.domain ? -1 : 1),
  )
  const rows = sorted.map(outlet => rowOf(outlet, now))
  const table = [
    Object.keys(rows[0]!),
    ...rows.map(row => Object.values(row).map(cell => printableLine(`${cell}`))),
  ]
  const [head = '', ...lines] = columns(table).split('\n')
  const width = process.stdout.columns ?? Infinity
  const below = (outlet: ListedOutlet) =>
    Object.entries(detailsOf(outlet, budget, now))
      .filter(([, said]) => said !== '' && said !== '–')
      .map(([name, said]) => wrapped(printableLine(`${name}: ${said}`), width))
  return [head, ...sorted.flatMap((outlet, at) => [lines[at]!, ...below(outlet)])].join('\n')
}

/** A paragraph below a line of a table. */
function wrapped(text: string, width: number): string {
  const lines: string[] = []
  let line = ' '
  for (const word of text.split(' ')) {
    if (line.trim() !== '' && line.length + 1 + word.length > width) {
      lines.push(line)
      line = '   '
    }
    line += ` ${word}`
  }
  return [...lines, line].join('\n')
}

function since(time: Date | null, now: Date): string {
  return time === null ? 'never' : ago(time, now.getTime())
}

/** The cells of a line, by the heading of their column. */
function rowOf(outlet: ListedOutlet, now: Date): Record<string, string | number> {
  return {
    health: outlet.health,
    domain: outlet.domain,
    '': outlet.country,
    feeds: `${outlet.feeds - outlet.failingFeeds}/${outlet.feeds}`,
    read: since(outlet.lastSuccess, now),
    new: since(outlet.lastNew, now),
    done: outlet.pages.done,
    waiting: outlet.pages.waiting,
  }
}

/** What stands below a line; empty or –: nothing. */
function detailsOf(outlet: ListedOutlet, budget: Budget, now: Date): Record<string, string> {
  const { today, rhythm, hosts } = outlet
  const spent = [
    counted(today.pages, 'page'),
    bytes(today.bytes),
    counted(today.hosts, 'new host'),
    rhythm !== null && `something new every ${span(rhythm / 1_000)}`,
  ]
  return {
    trouble: troubles(outlet, budget, now).join('; '),
    hosts: hosts.join(' '),
    today: spent.filter(Boolean).join(', '),
    'we have': daysInWords(outlet, now.getTime()).join('; '),
    'asked today': mannersInWords(outlet.days.find(({ day }) => day === dayAgo(0))),
    'read from': mainSources(outlet),
    past: outlet.back === null ? '' : backFillInWords(outlet.back),
  }
}

function troubles(outlet: ListedOutlet, budget: Budget, now: Date): string[] {
  return [
    ...(outlet.kept === null ? [] : [keptInWords(outlet.kept)]),
    ...troublesOf(outlet, now.getTime()),
    ...outlet.sharedFeeds.map(({ url, domains }) => sharing(url, domains, outlet.domain)),
    ...budgetTroubles(outlet, budget),
  ]
}

function mainSources(outlet: ListedOutlet): string {
  const { template } = outlet
  const learned =
    template === null ? '' : `${counted(template.boilerplate, 'line')} of boilerplate left out`
  return [sourcesOf(outlet), learned].filter(Boolean).join(', ') || '–'
}

/** Budgets that the outlet has used up today. Its pages wait for the next day. */
function budgetTroubles(outlet: ListedOutlet, budget: Budget): string[] {
  const used = budgetsUsed(outlet, budget)
  const spent = (['pages', 'bytes'] as const).filter(name => used[name] >= 1)
  return spent.length === 0
    ? []
    : [
        `today's ${spent.join(' and ')} are spent, ${counted(outlet.pages.waiting, 'page waits', 'pages wait')}`,
      ]
}
