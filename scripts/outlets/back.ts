import { mayBeIn, type Period, periodIn } from '#services/crawler/back-days'
import { countLedger, PLACE } from '#services/crawler/back-fill'
import { sitemapsOf } from '#services/crawler/fetch/robots'
import { readOwnership } from '#services/crawler/page'
import { counted } from '#shared/log/printable'
import { dayAgo } from '#shared/outlets/days'
import { type Pool, readRow, transaction } from '#shared/postgres/pool'
import { type CommandContext, textOf, UsageError } from '#shared/process/command'
import { dropPrivileges } from '#shared/process/privileges'
import { openTrial } from './trial.ts'

/** `back DOMAIN`: has the crawlers fetch what an outlet had before it was added. */
export async function back(context: CommandContext, pool: Pool, word: string): Promise<void> {
  const { options, say } = context
  const domain = word.toLowerCase()
  const outlet = await readRow<{ no: number }>(
    pool,
    'select outlet_no as no from outlets where domain = $1 and active',
    [domain],
  )
  if (outlet === undefined)
    throw new UsageError(`No outlet that is crawled has the domain ${domain}; "list" names them.`)
  if (options.stop === true) {
    const { rowCount } = await pool.query(STOP, [outlet.no])
    return say(
      rowCount === 1
        ? `The back-fill of ${domain} stops. "back ${domain} --from DAY" goes on.`
        : `No back-fill of ${domain} runs.`,
    )
  }
  const range = rangeOf(options)
  const seeds = await seedsOf(pool, outlet.no, domain)
  if (options['dry-run'] === true) return tryOut(context, seeds, range)
  await beginBackFill(pool, outlet.no, {
    ...range,
    newestFirst: options['newest-first'] === true,
    seeds,
  })
  say(
    `Crawlers read ${counted(seeds.length, 'robots.txt or sitemap', 'robots.txt and sitemaps')} of ${domain}, then its pages from ${range.from} to ${range.to}, at a fifth of the pace of its hosts. "list" shows how far they are.`,
  )
}

// $1 outlet
const STOP = "update back_fills set state = 'stopped' where outlet_no = $1 and state = 'running'"

function rangeOf(options: CommandContext['options']): Period {
  const day = (name: string, usual: string | undefined) => {
    const written = textOf(options, name) ?? usual
    if (written === undefined)
      throw new UsageError('Write --from with the first day, as --from 2019-01-01.')
    if (periodIn(written)?.from !== written)
      throw new UsageError(`--${name} is "${written}"; write a day as 2019-01-01.`)
    return written
  }
  const range = {
    from: day('from', undefined),
    to: day('to', dayAgo(1)),
  }
  if (range.from > range.to)
    throw new UsageError(`--from ${range.from} is after the last day, ${range.to}.`)
  return range
}

/** The documents that a back-fill begins with: each robots.txt, and sitemaps of the catalogue. */
async function seedsOf(pool: Pool, outletNo: number, domain: string): Promise<string[]> {
  const { rows } = await pool.query<{ url: string; kind: string }>(
    'select url, kind from feeds where outlet_no = $1 and active order by url',
    [outletNo],
  )
  const origins = new Set<string>()
  for (const { url } of rows) {
    const { of } = await readOwnership(pool, outletNo, new URL(url))
    if (of === 'outlet') origins.add(new URL(url).origin)
  }
  const isOwn = (origin: string) => new URL(origin).hostname.replace(/^www\./, '') === domain
  if (![...origins].some(isOwn)) origins.add(`https://${domain}`)
  const sitemaps = rows.filter(({ kind }) => kind === 'sitemap').map(({ url }) => url)
  return [...[...origins].map(origin => `${origin}/robots.txt`), ...sitemaps]
}

// $1 outlet
const BEFORE =
  'select newest_first as "newestFirst" from back_fills where outlet_no = $1 for no key update'

// $1 outlet, $2 first day, $3 last day, $4 newest first
const BEGIN = `
  insert into back_fills (outlet_no, from_day, to_day, newest_first) values ($1, $2, $3, $4)
  on conflict (outlet_no) do update set from_day = excluded.from_day, to_day = excluded.to_day, due_at = now(),
    newest_first = excluded.newest_first, state = 'running', moved_at = now(), why = null`

// $1 outlet. Documents are read again. They name again what is wanted of other days, and what no
// crawler asked for: the catalogue, the rules and the limits may have changed. Index: the unique
// key of pages.
const FORGET = `
  delete from back_addresses a using back_fills b
   where b.outlet_no = $1 and a.outlet_no = $1
     and (depth is not null or a.state = 'waiting' and day not between from_day and to_day
          or a.state = 'refused' and reason in ('foreign host', 'other outlet', 'limit', 'robots')
             and not exists (select from pages p where p.outlet_no = $1 and p.crawl_key = a.crawl_key))`

// $1 outlet, $2 whether the order changes. What was lost in these days is tried again, but for what
// its outlet has no more.
const AGAIN = `
  update back_addresses a set state = 'waiting', attempts = 0, waits = 0, due_at = now(), reason = null, place = ${PLACE}
    from back_fills b
   where b.outlet_no = $1 and a.outlet_no = $1 and entry is not null
     and (a.state = 'waiting' and $2
          or a.state = 'lost' and reason <> 'gone' and (day is null or day between from_day and to_day))`

// $1 outlet, $2 documents
const SEED = `
  insert into back_addresses (outlet_no, crawl_key, depth, place) select $1, url, 0, -2147483648 from unnest($2::text[]) as s (url)
  on conflict (outlet_no, crawl_key) do nothing`

/** Begins a back-fill, or one that ended or stopped again, perhaps with other days. */
export async function beginBackFill(
  pool: Pool,
  outletNo: number,
  { from, to, newestFirst, seeds }: Period & { newestFirst: boolean; seeds: string[] },
): Promise<void> {
  await transaction(pool, async client => {
    const before = await readRow<{ newestFirst: boolean }>(client, BEFORE, [outletNo])
    await client.query(BEGIN, [outletNo, from, to, newestFirst])
    await client.query(FORGET, [outletNo])
    await client.query(AGAIN, [outletNo, before?.newestFirst !== newestFirst])
    await client.query(SEED, [outletNo, seeds])
    await countLedger(client, outletNo)
  })
}

/** Says which sitemaps would be read. It asks for each robots.txt alone. */
async function tryOut(
  { config, print, say, signal }: CommandContext,
  seeds: string[],
  range: Period,
): Promise<void> {
  const problem = dropPrivileges()
  if (problem !== null) say(problem)
  const trial = openTrial(config, signal)
  const named = new Set<string>()
  for (const seed of seeds) {
    const isRobots = seed.endsWith('/robots.txt')
    const text = isRobots ? await trial.robotsText(new URL(seed)) : ''
    for (const url of isRobots ? sitemapsOf(text, seed).map(({ href }) => href) : [seed])
      named.add(url)
  }
  await trial.close()
  say(`Asked for ${seeds.filter(seed => seed.endsWith('/robots.txt')).join(', ')}.`)
  if (named.size === 0)
    return say(
      'No sitemap was found: the catalogue names none, and neither does a robots.txt, if it answered. Nothing was changed.',
    )
  const wanted = [...named].filter(url => mayBeIn(periodIn(url), range))
  for (const url of wanted) print(url)
  say(
    `${counted(wanted.length, 'sitemap')} of ${named.size} would be read, with the parts that may be of these days. Nothing was changed.`,
  )
}
