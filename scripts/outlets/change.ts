import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { confirm } from '#scripts/terminal/terminal'
import { firstDomain } from '#search/removals'
import { TIME_ZONES } from '#shared/articles/article'
import { counted } from '#shared/log/printable'
import {
  type Catalogue,
  domainOf,
  feedsOf,
  type Outlet,
  readCatalogue,
  sharedFeedSentence,
  sharedFeeds,
} from '#shared/outlets/catalogue'
import { type Pool, type Queryable, readRow } from '#shared/postgres/pool'
import { type CommandContext, textOf, UsageError } from '#shared/process/command'
import { ENTRY_OPTIONS } from './options.ts'
import { refuseMoved } from './rename.ts'
import { type Synced, syncOutlets } from './sync.ts'

/** The most names of a list that are printed. */
const NAMES = 20

/**
 * Makes a file the whole catalogue. On a terminal, outlets that the file lacks are removed only
 * with `--yes` or a person's consent. Without a terminal no consent is needed, and the report names
 * the removed outlets.
 */
export async function sync(context: CommandContext, pool: Pool, file: string): Promise<void> {
  const outlets = await readOutlets(context, file)
  const dryRun = context.options['dry-run'] === true
  const { removed } = await syncOutlets(pool, outlets, { dryRun: true })
  if (removed.length > 0 && !dryRun) await consent(context, file, removed)
  // Only the outlets that were shown are removed, even if the catalogue has changed meanwhile.
  report(context, await syncOutlets(pool, outlets, { dryRun, remove: removed }), dryRun)
  if (outlets.length === 0 && removed.length > 0)
    context.say(
      `${file} names no outlet, so nothing ${dryRun ? 'would be' : 'is'} crawled any more; articles stay. To undo it, sync the former catalogue again.`,
    )
}

/**
 * Adds the outlets of a file, or the one that the options describe; all others stay. An outlet that
 * is there becomes as the file has it. Options give it more feeds, and change only what they name.
 */
export async function add(
  context: CommandContext,
  pool: Pool,
  fileOrDomain: string,
): Promise<void> {
  const described = hasEntry(context.options)
  if (!described && !existsSync(fileOrDomain)) {
    throw new UsageError(
      `There is no file ${fileOrDomain}; to add that outlet, write --country, --languages and --feed.`,
    )
  }
  const entry = async (db: Queryable): Promise<Catalogue> => {
    const present = await readRow<Outlet>(db, PRESENT, [domainOf(fileOrDomain)])
    return readEntry(fileOrDomain, context.options, present)
  }
  const outlets = described
    ? tell(context, await entry(pool))
    : await readOutlets(context, fileOrDomain)
  const { added } = await syncOutlets(pool, outlets, { dryRun: true, remove: [] })
  await refuseMoved(
    context,
    pool,
    outlets.filter(({ domain }) => added.includes(domain)),
  )
  const dryRun = context.options['dry-run'] === true
  // Another command may have given the outlet feeds meanwhile. They stay.
  const given = described ? async (client: Queryable) => (await entry(client)).outlets : outlets
  report(context, await syncOutlets(pool, given, { dryRun, remove: [] }), dryRun)
}

/** Removes outlets from the catalogue; their articles stay. */
export async function remove(
  context: CommandContext,
  pool: Pool,
  written: string[],
): Promise<void> {
  const domains = written.map(domainOf)
  const { kept } = await syncOutlets(pool, [], { dryRun: true, remove: [] })
  const unknown = domains.find(domain => !kept.includes(domain))
  if (unknown !== undefined)
    throw new UsageError(`No outlet ${unknown} is crawled; list shows those that are.`)
  const dryRun = context.options['dry-run'] === true
  report(context, await syncOutlets(pool, [], { dryRun, remove: domains }), dryRun)
}

/** Reads a catalogue and prints a sentence for each correction. */
export const readOutlets = async (context: CommandContext, file: string): Promise<Outlet[]> =>
  tell(context, readCatalogue(await readFile(file, 'utf8'), file))

/** Warns of feeds that several outlets of a catalogue name. */
export function warnOfSharedFeeds({ say }: CommandContext, outlets: Outlet[]): void {
  for (const shared of sharedFeeds(feedsOf(outlets))) say(sharedFeedSentence(shared))
}

function tell({ say }: CommandContext, { outlets, notes }: Catalogue): Outlet[] {
  for (const note of notes) say(note)
  return outlets
}

/** @throws UsageError when the person at the terminal disagrees */
async function consent(
  { options, signal }: CommandContext,
  file: string,
  removed: string[],
): Promise<void> {
  if (options.yes) return
  const sentence = `${file} does not name ${counted(removed.length, 'outlet')} that ${removed.length === 1 ? 'is' : 'are'} crawled now: ${named(removed)}.`
  const answer = await confirm(
    `${sentence} Stop crawling ${removed.length === 1 ? 'it' : 'them'}?`,
    signal,
  )
  if (answer === false)
    throw new UsageError('Nothing was changed. To keep these outlets, use add FILE instead.')
}

const named = (domains: string[]) =>
  `${domains.slice(0, NAMES).join(', ')}${domains.length > NAMES ? ' …' : ''}`

function report({ say }: CommandContext, synced: Synced, dryRun: boolean): void {
  const { added, changed, removed, kept, unchanged, feeds, dropped, shared, moved } = synced
  for (const [from, to] of moved)
    say(`${from} has moved to ${to}; its entry counts as that of ${to}.`)
  for (const [label, domains] of [
    ['added', added],
    ['changed', changed],
    ['no longer crawled', removed],
    ['feeds no longer read', dropped],
  ] as const) {
    if (domains.length > 0) say(`${label}: ${named(domains)}`)
  }
  const stayed = unchanged + kept.length
  say(
    `${dryRun ? 'Would be: ' : ''}${counted(added.length, 'outlet')} added, ${changed.length} changed, ${removed.length} removed, ${stayed} as ${stayed === 1 ? 'it was' : 'they were'}; ${counted(feeds.added, 'feed')} added, ${feeds.removed} removed.`,
  )
  for (const one of shared) say(sharedFeedSentence(one))
}

const urlsOf = (kind: string) => `
  array(select url from feeds f where f.outlet_no = o.outlet_no and f.active and kind = '${kind}' order by feed_no)`
// $1 domain, present or former
const PRESENT = `
  select name, domain, hosts, country, languages, time_zone as "timeZone", licence,
         ${urlsOf('feed')} as feeds, ${urlsOf('sitemap')} as sitemaps
    from outlets o where active and ${firstDomain('o.domain')} = ${firstDomain('$1::text')}`

/** Whether options describe an outlet. */
const hasEntry = (options: CommandContext['options']): boolean =>
  Object.keys(ENTRY_OPTIONS).some(name => options[name] !== undefined)

/**
 * The outlet that options describe, checked like the file of a catalogue. A file can have more
 * fields.
 *
 * @throws UsageError or CatalogueError
 */
function readEntry(
  domain: string,
  options: CommandContext['options'],
  present: Outlet | null = null,
): Catalogue {
  const country = textOf(options, 'country')?.toUpperCase() ?? present?.country
  const languages = textOf(options, 'languages')?.toLowerCase().split(',') ?? present?.languages
  const feeds = Array.isArray(options.feed) ? options.feed : present && []
  if (country === undefined || languages === undefined || feeds === null)
    throw new UsageError('An outlet needs --country, --languages and --feed; see --help.')
  const zone = Object.entries(TIME_ZONES).find(([code]) => code === country)?.[1]
  const outlet = {
    ...present,
    name: textOf(options, 'name') ?? present?.name ?? domain,
    domain,
    country,
    languages: languages.map(code => code.trim()),
    timeZone: (country === present?.country ? present.timeZone : zone) ?? TIME_ZONES.NL,
    feeds: [...(present?.feeds ?? []), ...feeds],
    licence: present?.licence ?? undefined,
  }
  return readCatalogue(JSON.stringify({ outlets: [outlet] }))
}
