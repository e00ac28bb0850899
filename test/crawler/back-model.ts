import { setTimeout as pause } from 'node:timers/promises'
import fc from 'fast-check'
import type { Test } from 'tap'
import { beginBackFill } from '#scripts/outlets/back'
import { rename } from '#scripts/outlets/rename'
import { syncOutlets } from '#scripts/outlets/sync'
import type { Period } from '#services/crawler/back-days'
import { countBackDays, goBack } from '#services/crawler/back-fill'
import { createCrawl } from '#services/crawler/crawl'
import { type FeedParser, openFeedParser } from '#services/crawler/feeds/parsing/parser'
import { addressKey } from '#shared/articles/address'
import { readConfig } from '#shared/config/config'
import { createLogger } from '#shared/log/logger'
import { LEDGER_DAYS } from '#shared/outlets/back-fills'
import { createPool, isTransient, type Pool } from '#shared/postgres/pool'
import { removeArticles } from '#shared/removals/remove'
import { createTestDatabase, PATIENT, type TestDatabase } from '#test/database'
import { until } from '#test/fleet'
import { type Meeting, meetings } from '#test/search/histories'
import { newArticle, openTestWriter } from '#test/search/short-articles'
import { openDoor, type Passage } from '#test/standbys/door'
import { html, outletOf, sitemapIndex } from './crawl.ts'
import { type Handler, redirect, reply, type Site, startSite } from './site.ts'

/*
 * Random histories of a back-fill. Crawlers, commands, the catalogue, a normaliser and removals
 * work on one ledger. Each is behind a door that holds, cuts or ends it between two statements, and
 * Postgres may lose its last transactions. After each step the ledger, its sums and the pages must
 * agree, and no page is asked for more often than the troubles excuse. In the end all is settled.
 */

/** Who works on a ledger at the same time. */
interface Actor {
  kind: 'crawler' | 'back' | 'leave' | 'return' | 'move' | 'judge' | 'remove'
  /** Of RANGES. */
  range: number
  newestFirst: boolean
  page: number
  /** Addresses that a crawler tries. */
  turns: number
  meetings: Meeting[]
}

const KINDS: Actor['kind'][] = ['crawler', 'crawler', 'crawler', 'back', 'back', 'judge']
const RANGES: [Period, ...Period[]] = [
  { from: '2019-01-01', to: '2021-12-31' },
  { from: '2020-01-01', to: '2020-12-31' },
  { from: '2020-07-01', to: '2021-06-30' },
]
const PAGES = 18

/** @param acts that may meet an actor */
function ledgers(acts: Meeting['act'][]): fc.Arbitrary<Actor[][]> {
  const actor = fc.record(
    {
      kind: fc.constantFrom<Actor['kind'][]>(...KINDS, 'leave', 'return', 'move', 'remove'),
      range: fc.nat(RANGES.length - 1),
      newestFirst: fc.boolean(),
      page: fc.nat(PAGES - 1),
      turns: fc.integer({ min: 2, max: 16 }),
      // More troubles would lose pages, as tries that end processes do.
      meetings: meetings(acts).map(all => all.slice(0, 1)),
    },
    { noNullPrototype: true },
  )
  const step = fc.array(actor, { minLength: 1, maxLength: 4 })
  return fc.array(step, { minLength: 1, maxLength: 3 })
}

/** What becomes of a page in the ledger, and how often it is asked for without troubles. */
interface Expected {
  url: string
  path: string
  key: string
  day: string | null
  end: string
  asks: number
}

interface World {
  database: TestDatabase
  pool: Pool
  parser: FeedParser
  sites: [Site, Site]
  pages: Expected[]
  /** Tries that were ended or cut, and begun back-fills: each excuses one more request. */
  troubles: number
  begins: number
  /** Articles that may have been taken out, with the keys of their pages. */
  doomed: Map<string, string>
  /** Takes the last transactions of Postgres back. */
  crash: (() => Promise<void>) | null
}

/** A page of a kind: those that are gone, fail, move, are forbidden, or have no day. */
function growPage({ sites }: Pick<World, 'sites'>, at: number): Expected {
  const site = sites[at % 2]!
  const day = at % 9 === 8 ? null : `${2019 + (at % 3)}-0${1 + (at % 9)}-15`
  const dated = day === null ? '' : `/${day.replaceAll('-', '/')}`
  const path = `${at % 9 === 4 ? '/prive' : ''}${dated}/bericht-${at}`
  let failures = 0
  const flaky: Handler = (_request, response) => {
    failures += 1
    return failures > 1 ? html('wankel') : response.writeHead(503).end()
  }
  const kinds: Record<number, [Handler, string, number]> = {
    0: [reply(404), 'lost: gone', 1],
    1: [reply(500), 'lost: server error', 5],
    2: [flaky, 'fetched', 2],
    3: [reply(403), 'refused: forbidden', 1],
    4: [() => html('verboden'), 'refused: robots', 0],
    5: [redirect(`/nieuw/${at}`, 301), 'fetched', 1],
  }
  const [answer, end, asks] = kinds[at % 9] ?? [() => html(`bericht ${at}`), 'fetched', 1]
  site.on(path, answer)
  site.on(`/nieuw/${at}`, html('verhuisd'))
  const url = site.origin + path
  return { url, path, key: addressKey(url), day, end, asks }
}

async function openWorld(parser: FeedParser, crash: World['crash']): Promise<World> {
  const database = await createTestDatabase()
  const sites: World['sites'] = [await startSite('127.0.0.76'), await startSite('127.0.0.77')]
  const pages = Array.from({ length: PAGES }, (_, at) => growPage({ sites }, at))
  const [first, second] = sites
  for (const site of sites)
    site.on('/robots.txt', `User-agent: *\nDisallow: /prive/\nSitemap: ${first.origin}/kaart.xml\n`)
  first.on('/kaart.xml', sitemapIndex(`${first.origin}/een.xml`, `${second.origin}/twee.xml`))
  const named = (from: number, to: number) =>
    `<urlset>${pages
      .slice(from, to)
      .map(({ url }) => `<url><loc>${url}</loc></url>`)
      .join('')}</urlset>`
  first.on('/een.xml', named(0, 12))
  second.on('/twee.xml', named(8, PAGES))
  const pool = createPool(database.url, 'model', () => {}, PATIENT)
  const world = {
    database,
    pool,
    parser,
    sites,
    pages,
    troubles: 0,
    begins: 0,
    doomed: new Map<string, string>(),
    crash,
  }
  await sync(world, pool, true)
  await begin(world, pool, { range: 0, newestFirst: false })
  // No crash takes the beginning back.
  if (crash !== null) await database.query('checkpoint')
  return world
}

/** The outlet is in the catalogue, under its present domain, or it is not. */
async function sync({ sites }: World, pool: Pool, isIn: boolean): Promise<void> {
  const { rows } = await pool.query<{ domain: string }>('select domain from outlets')
  const hosts = sites.map(({ origin }) => new URL(origin).hostname)
  const outlet = outletOf(rows[0]?.domain ?? 'x.example', [`${sites[0].origin}/feed.xml`], {
    hosts,
  })
  await syncOutlets(pool, isIn ? [outlet] : [])
  // Nothing new is due: the past waits for no feed.
  await pool.query("update feeds set next_poll_at = 'infinity'")
}

async function begin(
  world: World,
  pool: Pool,
  { range, newestFirst }: Pick<Actor, 'range' | 'newestFirst'>,
): Promise<void> {
  const { rows } = await pool.query<{ no: number }>(
    'select outlet_no as no from outlets where active',
  )
  world.begins += 1
  const seeds = [`${world.sites[0].origin}/robots.txt`]
  if (rows[0] !== undefined)
    await beginBackFill(pool, rows[0].no, { ...RANGES[range]!, newestFirst, seeds })
}

const CONFIG = readConfig({
  CRAWL_ALLOW_PRIVATE: '127.0.0.0/8',
  CRAWL_HOST_DELAY: '1ms',
  CRAWL_RETRY_MIN: '1ms',
  CRAWL_TIMEOUT: '5s',
})
const NEVER = new AbortController().signal
const LOG = createLogger('model', process.env.LOG_LEVEL ?? 'silent')

/** Tries addresses until so many turns are over, or it is killed. */
async function crawl({ parser }: World, pool: Pool, turns: number, isDead: () => boolean) {
  // A normaliser finds stored pages also when nobody notifies it.
  const queues = { async add() {} }
  const parts = { config: CONFIG, pool, queues, log: LOG, stopping: NEVER, ending: NEVER }
  const crawler = createCrawl({ ...parts, parser })
  try {
    for (let turn = 0, idle = 0; turn < turns && idle < 20 && !isDead(); ) {
      const went = await goBack(crawler).catch(unlessAway)
      turn += went ? 1 : 0
      idle += went ? 0 : 1
      await pause(went ? 1 : 6)
    }
  } finally {
    crawler.leases.close()
  }
}

const ACTS: Record<
  Actor['kind'],
  (world: World, pool: Pool, actor: Actor, isDead: () => boolean) => Promise<unknown>
> = {
  crawler: (world, pool, { turns }, isDead) => crawl(world, pool, turns, isDead),
  back: begin,
  leave: (world, pool) => sync(world, pool, false),
  return: (world, pool) => sync(world, pool, true),
  move: (_world, pool) => {
    const context = {
      config: CONFIG,
      positionals: [],
      options: {},
      openPool: () => pool,
      signal: NEVER,
      say() {},
      print() {},
    }
    return rename(context, pool, ['x.example', 'y.example'])
  },
  /** What the normaliser makes of pages. */
  judge: (_world, pool, { page }) =>
    pool.query(
      `update pages set state = case page_no % 3 when 0 then 'refused' when 1 then 'failed' else 'done' end, reason = 'model'
        where state = 'stored' and page_no % 5 = $1`,
      [page % 5],
    ),
  /** An article of the past was there, and is taken out for good. */
  async remove(world, pool, { page }) {
    const { key, url } = world.pages[page]!
    const { rows } = await pool.query<{ domain: string }>('select domain from outlets')
    const outlet = { name: 'Model', domain: rows[0]!.domain }
    const { writer, indexer } = openTestWriter(pool)
    try {
      const [written] = await writer.write([newArticle(page, { url, addresses: [key], outlet })])
      const id = written!.id
      world.doomed.set(id, key)
      const found = await pool.query<{ seq: bigint; id: string }>(
        'select seq, id from articles where id = $1',
        [id],
      )
      await removeArticles(pool, found.rows, 'model')
    } finally {
      await indexer.close()
    }
  },
}

const isGone = (error: unknown): false => unlessAway(error) ?? false

function unlessAway(error: unknown): undefined {
  if (!isTransient(error)) throw error
}

/** Lets an actor do its work behind a door. Who loses the connection is not tried again. */
async function act(world: World, actor: Actor): Promise<void> {
  let isDead = false
  const due = new Map(actor.meetings.map(one => [one.at, one]))
  const meet = async ({ act, ms }: Meeting): Promise<Passage> => {
    if (act === 'hold') await pause(ms)
    else world.troubles += 1
    const end = () => {
      isDead = true
      door.shut()
    }
    if (act === 'kill') end()
    if (act === 'murder') setTimeout(end, ms)
    if (act === 'restart') await world.crash?.()
    return act === 'cut' ? 'cut' : act === 'lose' || act === 'murder' ? 'lose' : 'pass'
  }
  const door = await openDoor(
    () => new URL(world.database.url),
    statement => {
      const meeting = due.get(statement)
      return meeting === undefined ? 'pass' : meet(meeting)
    },
  )
  const pool = createPool(door.to(world.database.url), 'model actor', () => {}, { max: 4 })
  try {
    await ACTS[actor.kind](world, pool, actor, () => isDead)
  } catch (error) {
    // Also an outlet that has moved, and a page whose article is gone.
    if (!isTransient(error) && !/has moved|No outlet/.test(String(error))) throw error
  } finally {
    await pool.end()
    await door.close()
  }
}

/** The claims and leases of the dead are over. */
const LATER = `
  with freed as (update hosts set leased_until = 'epoch', free_at = 'epoch', back_at = 'epoch')
  update back_fills set due_at = 'epoch'`

async function live(world: World, steps: Actor[][]): Promise<void> {
  for (const step of steps) {
    await Promise.all(step.map(actor => act(world, actor)))
    await until(() => world.pool.query(LATER).then(() => true, isGone), 20_000)
    await check(world)
  }
  await sync(world, world.pool, true)
  const last = steps.at(-1)![0]!
  await begin(world, world.pool, last)
  const isOpen = async () =>
    (await world.pool.query("select from back_fills where state = 'running'")).rowCount !== 0
  for (let time = 0; time < 200 && (await isOpen()); time += 1)
    await Promise.all([1, 2].map(() => crawl(world, world.pool, 50, () => false)))
  if (await isOpen()) throw new Error('the back-fill stays open')
  await check(world)
  await checkEnds(world, RANGES[last.range]!)
}

const DISAGREE = `
  select coalesce(b.crawl_key, p.crawl_key) as key, b.state as ledger, p.state as page
    from (select * from back_addresses where depth is null) b
    full join (select * from pages where named_by & 4 > 0) p using (outlet_no, crawl_key)
   where (p.page_no is not null) is distinct from (b.state = 'fetched' or b.reason is not distinct from 'model')
      or p.page_no is not null and b.state <> case p.state when 'refused' then 'refused' when 'failed' then 'lost' else 'fetched' end`

const SUMS = `
  select (select coalesce(sum(named), 0)::int from back_days) as summed,
         (select count(*)::int from back_addresses where depth is null) as named`

const MISCOUNTED = `
  select * from ((table back_days except all ${LEDGER_DAYS}) union all (${LEDGER_DAYS} except all table back_days)) d`

async function check(world: World): Promise<void> {
  const { pool } = world
  const { rows: disagreeing } = await pool.query(DISAGREE)
  if (disagreeing.length > 0) throw new Error(`ledger and pages: ${JSON.stringify(disagreeing)}`)
  const { summed, named } = (await pool.query(SUMS)).rows[0]
  // What was taken out leaves the sums with the next count.
  if (summed < named || (summed > named && world.doomed.size === 0))
    throw new Error(`the days name ${summed} of ${named} pages`)
  await pool.query("update back_fills set counted_at = 'epoch'")
  await countBackDays(pool)
  const { rows: miscounted } = await pool.query(MISCOUNTED)
  if (miscounted.length > 0) throw new Error(`miscounted: ${JSON.stringify(miscounted)}`)
  const excess = world.pages.map(({ path, asks, end }, at) => {
    const most = end === 'lost: server error' ? asks * world.begins : asks
    return Math.max(0, world.sites[at % 2]!.to(path).length - most)
  })
  // Who is ended had one page under way. All pages may be new again once transactions are lost.
  const over = world.crash === null ? sum(excess) : Math.max(...excess)
  if (over > world.troubles) throw new Error(`${over} more requests, ${world.troubles} troubles`)
}

const sum = (all: number[]) => all.reduce((a, b) => a + b, 0)

/** Each page of the days has its end in the ledger, unless there is, or was, an article of it. */
async function checkEnds({ pool, pages, doomed }: World, { from, to }: Period): Promise<void> {
  const { rows } = await pool.query<{ key: string; end: string }>(
    "select crawl_key as key, concat_ws(': ', state, reason) as end from back_addresses where depth is null",
  )
  const ends = new Map(rows.map(({ key, end }) => [key, end]))
  const { rows: removed } = await pool.query<{ id: string }>('select id from tombstones')
  for (const { id } of removed) {
    const key = doomed.get(id)
    if (key !== undefined && ends.has(key)) throw new Error(`${key} was taken out, and is named`)
  }
  const known = new Set(doomed.values())
  for (const { key, end, day } of pages) {
    const found = ends.get(key)
    if (found?.startsWith('waiting')) throw new Error(`${key} waits for ever`)
    if (day !== null && (day < from || day > to)) continue
    const isJudged = end === 'fetched' && found?.endsWith(': model')
    if (found !== end && !isJudged && !(found === undefined && known.has(key)))
      throw new Error(`${key} is ${found}, and not ${end}`)
  }
}

interface Trial {
  acts: Meeting['act'][]
  runs: number
  /** ms after which no other history begins, and nothing is shrunk. */
  limit: number
  crash?: () => Promise<void>
}

/** Tries random histories. SEED and REPLAY (the `path` that a failure tells) try one again. */
export async function tryLedgers(t: Test, { acts, runs, limit, crash }: Trial): Promise<void> {
  const { SEED, REPLAY } = process.env
  const seed = Number(SEED ?? Date.now() % 1_000_000_000)
  t.comment(`seed ${seed}`)
  const parser = openFeedParser()
  let living = Promise.resolve()
  const property = fc.asyncProperty(ledgers(acts), steps => {
    living = openWorld(parser, crash ?? null).then(world =>
      live(world, steps).finally(() => close(world)),
    )
    return living
  })
  const result = await fc.check(property, {
    seed,
    numRuns: runs,
    ...(REPLAY === undefined ? {} : { path: REPLAY }),
    interruptAfterTimeLimit: limit,
  })
  await living.catch(() => {})
  await parser.close()
  if (result.failed) t.fail(`${result.errorInstance}\n${fc.defaultReportMessage(result)}`)
  else t.ok(result.numRuns > 0, `${result.numRuns} histories`)
}

async function close({ sites, pool, database }: World): Promise<void> {
  await Promise.all(sites.map(site => site.close()))
  await pool.end()
  await database.drop()
}
