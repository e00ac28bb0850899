import { readFile } from 'node:fs/promises'
import { printableLine } from '../shared/log/printable.ts'
import { readCatalogue } from '../shared/outlets/catalogue.ts'
import { outletHealthAndPages } from '../shared/outlets/health.ts'
import type { Outlet } from '../shared/outlets/outlet.ts'
import { syncOutlets } from '../shared/outlets/sync.ts'
import { createPool } from '../shared/postgres/pool.ts'
import { type CommandContext, missingSetting, runCommand, UsageError } from '../shared/process/command.ts'
import { dropRights } from '../shared/process/rights.ts'
import { checkFeeds, checkTable } from './outlets/check.ts'
import { healthTable } from './outlets/table.ts'

const DEFAULT_CATALOGUE = 'infra/outlets/benelux.json'

await runCommand(
  {
    name: 'outlets',
    about: 'The catalogue of outlets: loads a file into the database, lists the health of outlets, tries their feeds.',
    usage: ['sync FILE [--dry-run]', 'list [--json]', `check [FILE] [--json]   (default ${DEFAULT_CATALOGUE})`],
    options: {
      json: { type: 'boolean', about: 'prints one JSON object a line' },
      'dry-run': { type: 'boolean', about: 'sync: says what would change, and changes nothing' },
    },
    beside: true,
  },
  async context => {
    const [verb, file, ...rest] = context.positionals
    if (rest.length > 0) throw new UsageError('Name one file.')
    if (verb === 'sync' && file !== undefined) return sync(context, file)
    if (verb === 'list' && file === undefined) return list(context)
    if (verb === 'check') return check(context, file ?? DEFAULT_CATALOGUE)
    throw new UsageError('Write sync FILE, list, or check [FILE]; see --help.')
  },
)

async function sync(context: CommandContext, file: string): Promise<void> {
  const outlets = await readFileOf(context, file)
  const dryRun = context.options['dry-run'] === true
  await withPool(context, async pool => {
    const { added, changed, removed, unchanged, feeds } = await syncOutlets(pool, outlets, { dryRun })
    for (const [what, domains] of [
      ['added', added],
      ['changed', changed],
      ['no longer crawled', removed],
    ] as const) {
      if (domains.length > 0)
        context.say(`${what}: ${domains.slice(0, 20).join(', ')}${domains.length > 20 ? ' …' : ''}`)
    }
    context.say(
      `${dryRun ? 'Would be: ' : ''}${added.length} outlets added, ${changed.length} changed, ${removed.length} removed, ${unchanged} as they were; ${feeds.added} feeds added, ${feeds.removed} removed.`,
    )
  })
}

async function list(context: CommandContext): Promise<void> {
  await withPool(context, async pool => {
    const health = await outletHealthAndPages(pool)
    if (context.options.json === true) for (const outlet of health) context.print(JSON.stringify(outlet))
    else context.print(healthTable(health, context.config, new Date()))
  })
}

/** Exit code 1 when a feed cannot be read. */
async function check(context: CommandContext, file: string): Promise<number> {
  const outlets = await readFileOf(context, file)
  const problem = dropRights()
  if (problem !== null) context.say(problem)
  const results = await checkFeeds(context.config, outlets, context.signal, result => {
    if (context.options.json === true) context.print(JSON.stringify(result))
    else context.say(printableLine(`${result.ok ? 'ok  ' : 'FAIL'} ${result.domain} ${result.url} ${result.detail}`))
  })
  if (context.options.json !== true) context.print(checkTable(results))
  return results.every(({ ok }) => ok) ? 0 : 1
}

async function readFileOf(context: CommandContext, file: string): Promise<Outlet[]> {
  const { outlets, notes } = readCatalogue(await readFile(file, 'utf8'))
  for (const note of notes) context.say(note)
  return outlets
}

async function withPool(context: CommandContext, work: (pool: ReturnType<typeof createPool>) => Promise<void>) {
  if (context.config.DATABASE_URL === '') throw missingSetting('DATABASE_URL', context.config)
  const pool = createPool(context.config.DATABASE_URL, 'outlets', () => {}, { max: 2 })
  try {
    await work(pool)
  } finally {
    await pool.end()
  }
}
