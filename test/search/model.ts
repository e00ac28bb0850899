import type { ChildProcess } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import type { Worker } from 'node:worker_threads'
import fc from 'fast-check'
import type { Test } from 'tap'
import { rename } from '#scripts/outlets/rename'
import { syncOutlets } from '#scripts/outlets/sync'
import { reindexCopies, reindexSnippets } from '#scripts/reindex/fields'
import { beginRun, endRun, findRun } from '#scripts/reindex/run'
import { reindexWords } from '#scripts/reindex/words'
import { SEARCH_SETTINGS } from '#search/index'
import { makeSegments, openIndexer, SEGMENT_SIZES } from '#search/indexer'
import { openImporter } from '#search/indexing/import'
import { BATCH, openArticleWriter } from '#search/indexing/writer'
import type { ArticleRow, ArticleWriter, Indexer, NewArticle, SearchIndex } from '#search/types'
import type { Finished } from '#services/normaliser/normalise'
import { judgeAnswer } from '#services/normaliser/second-looks'
import { indexBatch } from '#services/normaliser/start'
import { boundArticles } from '#shared/articles/bounds'
import { readConfig } from '#shared/config/config'
import { type CopyGroups, openCopyGroups } from '#shared/copies/pass'
import { createLogger } from '#shared/log/logger'
import type { Outlet } from '#shared/outlets/catalogue'
import { readOrigins } from '#shared/outlets/origins'
import { NO_RIGHTS_STATED } from '#shared/outlets/rights'
import {
  createPool,
  isTransient,
  type Pool,
  type Queryable,
  transaction,
} from '#shared/postgres/pool'
import { createWriter } from '#shared/removals/bounding'
import { clearRemoved, removeArticles, reopenRemoved } from '#shared/removals/remove'
import { createTestDatabase, inDatabase, type TestDatabase } from '#test/database'
import { until } from '#test/fleet'
import { startScript } from '#test/script'
import { type Door, openDoor, type Passage } from '#test/standbys/door'
import { startTestCluster, type TestCluster } from '#test/standbys/servers'
import {
  type Actor,
  articleOf,
  type Ended,
  isWriter,
  keyOf,
  lineOf,
  type Meeting,
  MOVING,
  movedOf,
  type Step,
} from './histories.ts'
import { check, frozenPage } from './model-checks.ts'
import type { Known } from './oracle.ts'
import { createFollower, type Follower } from './poller.ts'
import { SMALL_SEGMENTS_THREAD, setSegmentSizes } from './small-segments.ts'
import { openTestIndex } from './store.ts'

/*
 * Random histories of the index: writers beside each other, each behind a door that stops, cuts or
 * ends it between two statements. After each step the index must say what a naive model says.
 */

/** The system under test, with what the model remembers of it. */
interface World {
  /** Articles that were there after the step before. */
  before: Known[]
  /** Ids of articles that have neither snippet nor vector. */
  bounded: Set<string>
  /** The keys of articles that were to be taken out, by id. */
  doomed: Map<string, number>
  /** Who was killed, or has lost an answer, may have left a segment that nobody uses. */
  hasDead: boolean
  /** The newest thread is ended in this step, whosesoever it is. */
  losesThread: boolean
  /** Postgres was restarted in this step, once. */
  restart: Promise<void> | null
  /** The server changes in this step. */
  change: Promise<Ended[]> | null
  /** The others of this step begin when something meets the command, or it has ended. */
  still: PromiseWithResolvers<void>
  /** The work of the others of this step. */
  others: Promise<unknown> | null
  /** The command stood still, and the others did not come to an end. */
  areHeldUp: boolean
  /** What was told in this step may be undone: no commit waited for the standby. */
  forgets: boolean
  /** Whoever searches starts anew. */
  reopen(): Promise<void>
  close(): Promise<void>
  index: SearchIndex<ArticleRow>
  follower: Follower
  cluster: TestCluster
  scale: number
  database: TestDatabase
  doors: Set<Door>
  enter(meet?: Parameters<typeof openDoor>[1]): Promise<Door>
  pool: Pool
  workers: Worker[]
  groups: CopyGroups
}

async function openWorld(cluster: TestCluster, scale: number): Promise<World> {
  const address = () => new URL(cluster.current().url)
  const database = await createTestDatabase()
  const doors = new Set<Door>()
  const enter = async (meet?: Parameters<typeof openDoor>[1]) => {
    const door = await openDoor(address, meet)
    doors.add(door)
    return door
  }
  const own = await enter()
  const pool = createPool(own.to(database.url), 'model', () => {}, { settings: SEARCH_SETTINGS })
  await pool.query('create table looked (id text primary key, times int not null)')
  const open = () => {
    const index = openTestIndex(pool)
    return { index, follower: createFollower(index) }
  }
  const workers: Worker[] = []
  // Node itself dies when a thread is ended that still loads its modules.
  const onWorker = (worker: Worker) => void worker.once('message', () => workers.push(worker))
  process.on('worker', onWorker)
  const world: World = {
    cluster,
    scale,
    database,
    doors,
    enter,
    pool,
    workers,
    groups: openCopyGroups(pool),
    ...open(),
    before: [],
    bounded: new Set(),
    doomed: new Map(),
    hasDead: false,
    losesThread: false,
    restart: null,
    change: null,
    still: Promise.withResolvers<void>(),
    others: null,
    areHeldUp: false,
    forgets: false,
    async reopen() {
      await this.index.close()
      Object.assign(this, open())
    },
    async close() {
      process.off('worker', onWorker)
      await this.index.close()
      await pool.end()
      for (const door of doors) await door.close()
      // The server that had it may hang for good.
      if (new URL(database.url).host === new URL(process.env.DATABASE_URL ?? '').host)
        await database.drop()
    },
  }
  return world
}

/** Runs a history in a world of its own. @throws where the index lies */
async function live(steps: Step[], cluster: TestCluster, scale: number): Promise<void> {
  const world = await openWorld(cluster, scale)
  try {
    for (const [at, step] of steps.entries()) {
      const page = await frozenPage(world)
      world.losesThread = step.some(({ meetings }) => meetings.some(({ act }) => act === 'thread'))
      world.hasDead ||= step.some(({ meetings }) => meetings.some(({ act }) => act !== 'hold'))
      await prepareChange(world, step)
      let isOver = false
      const following = (async () => {
        while (!isOver) {
          await world.follower.poll().catch(error => {
            // The index knows more than a new primary that has lost some, until it is reopened.
            if (!(world.forgets && error.name === 'SegmentsChanged')) unlessAway(error)
          })
          await world.groups.pass(NEVER).catch(unlessAway)
          await pause(20)
        }
      })()
      world.still = Promise.withResolvers()
      if (step[0]!.kind !== 'command') world.still.resolve()
      const first = act(world, step[0]!).finally(world.still.resolve)
      const others = step.slice(1).map(actor => world.still.promise.then(() => act(world, actor)))
      world.others = Promise.allSettled(others)
      const acted = await Promise.allSettled([first, ...others])
      const more = (await world.change) ?? []
      await world.restart
      world.change = world.restart = null
      isOver = true
      await following
      const ended = acted.map(one => {
        if (one.status === 'rejected') throw one.reason
        return one.value
      })
      if (world.areHeldUp) throw new Error('an import that stands still holds others up')
      if (world.forgets) {
        await world.reopen()
        for (const one of ended) Object.assign(one, { told: null, isDone: false, bounded: [] })
      }
      await judgeLeft(world, ended)
      await check(world, [...ended, ...more], page).catch((error: unknown) => {
        throw new Error(
          `after step ${at + 1} of ${steps.length}: ${error instanceof Error ? error.message : error}`,
        )
      })
    }
  } finally {
    await world.close()
  }
}

const NEVER = new AbortController().signal

/** Ends what killed ones left: reindexings, and looks. Each answer was counted once. */
async function judgeLeft({ pool }: World, ended: Ended[]): Promise<void> {
  // A reindexing that is ended would leave snippets that it spoilt.
  for (const one of ended)
    if (one.actor.kind === 'reindex' && !one.isDone)
      await ACTS.reindex(pool, { ...one.actor, meetings: [] }, one, async () => {})
  const { rows } = await pool.query<{ id: string; url: string }>(
    'select l.id, t.url from look_answers join second_looks l using (id) join article_texts t using (seq)',
  )
  for (const one of rows) await judgeLook(pool, one.id, keyOf(one))
  const { rows: miscounted } = await pool.query(
    'select id, refusals, times from second_looks left join looked using (id) where refusals is distinct from times',
  )
  if (miscounted.length > 0) throw new Error(`miscounted looks: ${JSON.stringify(miscounted)}`)
}

function unlessAway(error: unknown): void {
  if (!isTransient(error)) throw error
}

/** An actor at work; `child`: its process, if it has one of its own. */
type Running = Ended & { child?: ChildProcess }

/** Lets an actor do its work, and says how it ended. */
async function act(world: World, actor: Actor): Promise<Ended> {
  const due = new Map(actor.meetings.map(one => [one.at, one]))
  const ended: Running = { actor: enlarged(actor, world.scale), told: null, isDone: false }
  let inserts = 0
  const door = await world.enter(async (statement, name) => {
    const meeting =
      due.get(statement) ?? (name.startsWith('insert-') ? due.get(--inserts) : undefined)
    return meeting === undefined ? 'pass' : meet(world, door, meeting, ended)
  })
  const pool = createPool(door.to(world.database.url), 'model writer', () => {}, { max: 3 })
  const mayEnd =
    world.losesThread || actor.meetings.some(({ act }) => act === 'kill' || act === 'murder')
  const between = async () => {
    if ((await meet(world, door, due.get(0) ?? { at: 0, act: 'hold', ms: 0 }, ended)) === 'pass')
      await world.change
  }
  try {
    await ACTS[actor.kind](pool, ended.actor, ended, between)
    ended.isDone = true
  } catch (error) {
    // A command that makes segments may be overtaken, and is run again.
    const isUsual = /another process stored segments|removed a segment/.test(String(error))
    if (!mayEnd && !isUsual && (isWriter(actor) || !isTransient(error))) throw error
    ended.told = null
  } finally {
    await pool.end()
    await door.close()
    world.doors.delete(door)
  }
  return ended
}

async function meet(
  world: World,
  door: Door,
  { act, ms }: Meeting,
  { child }: Running,
): Promise<Passage> {
  world.still.resolve()
  const end = () => {
    child?.kill('SIGKILL')
    door.shut()
  }
  if (act === 'hold') await pause(ms)
  if (act === 'stop') {
    child?.kill('SIGSTOP')
    world.areHeldUp = await Promise.race([
      world.others!.then(() => false),
      pause(HELD_UP, true, { ref: false }),
    ])
    child?.kill('SIGCONT')
  }
  if (act === 'thread') await world.workers.at(-1)?.terminate()
  if (act === 'kill') end()
  if (act === 'murder') {
    // The server runs it, and nobody hears of it.
    setTimeout(end, ms)
    return 'lose'
  }
  if (act === 'restart') {
    world.restart ??= world.cluster.restart()
    await world.restart
  }
  if ((act === 'behind' || act === 'fail over') && world.change === null) {
    const { cluster } = world
    cluster.standbys[0]!.pause()
    await cluster.current().query('select pg_terminate_backend(pid) from pg_stat_replication')
    if (act === 'fail over') world.change = failOver(world, cluster, ms)
  }
  return act === 'cut' ? 'cut' : act === 'lose' ? 'lose' : 'pass'
}

/**
 * Commits wait for the standby from now on, as far as a step fails over. Where it falls behind,
 * they do not, and the next numbers of a segment and of names are those that the new primary gives
 * again.
 */
async function prepareChange(world: World, step: Step): Promise<void> {
  const { cluster, database } = world
  const acts = step.flatMap(({ meetings }) => meetings.map(({ act }) => act))
  world.forgets = acts.includes('behind')
  if (!acts.includes('fail over')) return
  if (cluster.standbys.length === 0) await cluster.follow()
  await setSynchronous(cluster, "'*'")
  if (!world.forgets) return
  for (const name of [
    'segments_segment_no_seq',
    'publishers_publisher_no_seq',
    'authors_author_no_seq',
  ])
    for (const times of ['1', `(select log_cnt from ${name})`])
      await cluster
        .current()
        .query(`select nextval('${name}') from generate_series(1, ${times})`, database.url)
  await setSynchronous(cluster, "''")
}

async function setSynchronous(cluster: TestCluster, names: string): Promise<void> {
  await cluster.current().query(`alter system set synchronous_standby_names = ${names}`)
  await cluster.current().query('select pg_reload_conf()')
  const isSet = async () => {
    const [row] = await cluster
      .current()
      .query("select current_setting('synchronous_standby_names') as names")
    return `'${String(row?.names)}'` === names
  }
  await until(isSet, 10_000)
}

const WAITING = "select from pg_stat_activity where wait_event = 'SyncRep'"

/** Others write on the new primary before the writers of the step come back. */
async function failOver(world: World, cluster: TestCluster, ms: number): Promise<Ended[]> {
  const late = performance.now() + (world.forgets ? 0 : 2_000)
  while (performance.now() < late && (await cluster.current().query(WAITING)).length === 0)
    await pause(10)
  for (const door of world.doors) door.shut()
  await cluster.failOver()
  const url = useCurrent(cluster)
  const keys = Array.from({ length: 2 + (ms % 7) }, (_, at) => 1_000_000 + at)
  const others: Actor = { ...OTHERS, kind: world.forgets ? 'import' : 'crawler', keys }
  const database = { url: inDatabase(url, new URL(world.database.url).pathname.slice(1)) }
  const pool = createPool(database.url, 'others', () => {})
  const ended: Ended = { actor: others, told: null, isDone: true }
  const acting = ACTS[others.kind](pool, others, ended, async () => {})
  const isAhead = async () =>
    (await pool.query("select from segments_ahead where kind = 'import'")).rowCount !== 0
  await (world.forgets ? Promise.race([acting, until(isAhead, 20_000)]) : acting)
  for (const door of world.doors) door.open()
  await acting
  await pool.end()
  return [ended]
}

const OTHERS: Actor = {
  kind: 'crawler',
  keys: [],
  most: 4,
  least: 1,
  piece: 1,
  rest: 0,
  ahead: 500,
  stays: 0,
  what: 'words',
  meetings: [],
}

/**
 * Databases of this process are on the present primary from now on.
 * @returns its address for their owner
 */
function useCurrent(cluster: TestCluster): string {
  const url = new URL(cluster.url)
  url.host = new URL(cluster.current().url).host
  process.env.DATABASE_URL = url.href
  process.env.TEST_SUPERUSER_URL = cluster.current().url
  return url.href
}

/** ms that a writer waits for Postgres. */
const PATIENCE = 60_000
/** ms within which others are done beside one that stands still, also on a busy machine. */
const HELD_UP = 70_000

/** As `scripts/articles/while-away.ts` does, in shorter steps. */
async function patiently<T>(work: () => Promise<T>): Promise<T> {
  const end = performance.now() + PATIENCE
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!isTransient(error) || performance.now() > end) throw error
      await pause(30)
    }
  }
}

/** Who is killed tries nothing again. */
const patienceOf = (meetings: Meeting[]): typeof patiently =>
  meetings.some(({ act }) => act === 'kill' || act === 'murder') ? work => work() : patiently

/** As `rights --apply` leaves them. */
const BOUNDED = { pageNo: null, snippet: '', isBounded: true, hasVector: false }

/** @param between waited for between the batches of a crawler, and before an import's segments */
type Act = (pool: Pool, actor: Actor, ended: Running, between: () => Promise<void>) => Promise<void>

type Writer = { pool: Pool; indexer: Indexer; writer: ArticleWriter; patiently: typeof patiently }

/** A writer with an indexer of its own. */
const writing =
  (work: (by: Writer, actor: Actor, ended: Ended) => Promise<void>): Act =>
  async (pool, actor, ended, between) => {
    const own = openIndexer(pool, SMALL_SEGMENTS_THREAD)
    const build: Indexer['imported']['build'] = articles =>
      between().then(() => own.imported.build(articles))
    const notify = (last: bigint) => between().then(() => own.notify(last))
    const indexer = { ...own, notify, imported: { ...own.imported, build } }
    const writer = openArticleWriter({ pool, indexer, embedDelay: 0 })
    try {
      await work({ pool, indexer, writer, patiently: patienceOf(actor.meetings) }, actor, ended)
      await pause(actor.stays)
    } finally {
      await own.close()
    }
  }

/** Works at so many at a time, and rests after each. */
async function piecemeal<T>(
  all: T[],
  size: number,
  rest: number,
  work: (part: T[]) => Promise<unknown>,
) {
  for (let from = 0; from < all.length; from += size) {
    await work(all.slice(from, from + size))
    await pause(rest)
  }
}

const ACTS: Record<Actor['kind'], Act> = {
  import: writing(async (by, { keys, most, least, piece, rest, ahead }, ended) => {
    const told = { indexed: 0, known: 0, removed: 0 }
    const importer = openImporter({
      ...by,
      embedDelay: 0,
      ahead,
      sizes: { most, least, text: 1_000_000 },
      written({ indexed, known, removed }) {
        told.indexed += indexed
        told.known += known
        told.removed += removed
      },
    })
    await piecemeal(keys, piece, rest, part => importer.add(part.map(articleOf)))
    await importer.flush()
    ended.told = told
  }),
  async command({ options }, { keys }, ended) {
    const env = { DATABASE_URL: options.connectionString ?? '', EMBED_DELAY: '0' }
    const command = startScript('import', ['-', '--json'], env, keys.map(lineOf).join('\n'))
    ended.child = command.child
    const { code, out, err } = await command.ended
    if (code !== 0) throw new Error(`the import ended with ${code}: ${err}`)
    ended.told = JSON.parse(out)
  },
  crawler: writing(({ pool, writer, patiently }, { keys, piece, rest }) =>
    piecemeal(keys, piece, rest, part =>
      patiently(async () => writer.write(await present(pool, part.map(articleOf)))),
    ),
  ),
  normaliser: writing(({ pool, writer, patiently }, { keys, piece, rest }) => {
    // The crawler finds an article under so many addresses. Another normaliser may have its pages.
    const nth = (key: number, at: number) => keys.slice(0, at).filter(one => one === key).length
    const pages = keys.map((key, at) => ({
      url: articleOf(key).url,
      page: `${key}/${nth(key, at)}/${piece}`,
    }))
    return piecemeal(pages, Math.min(piece, BATCH), rest, async part => {
      const names = part.map(({ page }) => page)
      await patiently(() => pool.query(STORE_PAGES, [part.map(({ url }) => url), names]))
      await patiently(async () => {
        const { rows } = await pool.query<StoredRow>(READ_PAGES, [names])
        const articles = await present(
          pool,
          rows.map(({ url }) => articleOf(keyOf({ url }))),
        )
        const finished = rows.map((row, at) => finishedOf(row, articles[at]!))
        if (rows.length > 0) await indexBatch(writer, LOG, finished)
      })
    })
  }),
  async segments(pool, { keys, rest, ahead }) {
    for (const _ of keys.slice(0, 8)) {
      await makeSegments(pool, SEGMENT_SIZES, { ahead })
      await pause(rest)
    }
  },
  async rights(pool, { keys }, ended) {
    const found = await transaction(pool, async client => {
      const rows = await writtenOf(client, keys)
      await boundArticles(
        client,
        rows.map(row => ({ ...row, ...BOUNDED })),
      )
      return rows
    })
    ended.bounded = found.map(({ id }) => id)
  },
  async remove(pool, { keys, piece, rest }, ended) {
    ended.doomed = []
    await piecemeal(keys, piece, rest, async part => {
      const rows = await writtenOf(pool, part.slice(0, TAKEN_OUT))
      ended.doomed!.push(...rows.map(row => ({ id: row.id, key: keyOf(row) })))
      await removeArticles(pool, rows, 'the model')
    })
    await clearRemoved(pool, [], NEVER)
  },
  async look(pool, { keys, piece, rest }, ended) {
    ended.doomed = []
    await piecemeal(keys, piece, rest, async part => {
      const rows = await writtenOf(pool, part.slice(0, TAKEN_OUT))
      for (const { seq, id, url } of rows) {
        if (isTakenOut(keyOf({ url }))) ended.doomed!.push({ id, key: keyOf({ url }) })
        await pool.query(ANSWER, [id, seq])
        await judgeLook(pool, id, keyOf({ url }))
      }
    })
  },
  async move(pool, { meetings }) {
    const context = {
      config: readConfig({}),
      positionals: [],
      options: {},
      openPool: () => pool,
      signal: NEVER,
      say() {},
      print() {},
    }
    await patienceOf(meetings)(async () => {
      await pool.query(ADD_MOVING, [MOVING.from])
      await rename(context, pool, [MOVING.from, MOVING.to])
    })
  },
  async reindex(pool, { what }) {
    const selection = { what, outlet: null, language: null, from: null, to: null }
    const run = (await findRun(pool, selection)) ?? (await beginRun(pool, selection))
    if (what === 'snippets' && run.doneTo === 0n) await pool.query(SPOIL, [run.last])
    const chosen = { selection, publisherNos: null }
    const silence = { async limit() {}, tell() {}, say() {}, signal: NEVER }
    const work = { pool, chosen, run, ...silence }
    const rebuild = { words: reindexWords, snippets: reindexSnippets, copies: reindexCopies }[what]
    if (await rebuild(work)) await endRun(pool, selection)
  },
  async reopen(pool) {
    await reopenRemoved(pool, NEVER)
    await clearRemoved(pool, [], NEVER)
  },
  async sync(pool, { piece }) {
    const outlet: Omit<Outlet, 'domain'> = {
      name: 'Model',
      country: 'NL',
      languages: ['nl'],
      timeZone: 'UTC',
      feeds: [],
      sitemaps: [],
    }
    const of = (domain: string) => ({ ...outlet, domain })
    await syncOutlets(pool, piece % 2 === 0 ? [] : ['model.example', MOVING.from].map(of))
  },
}

// $1 the last article that the run makes anew: later ones would stay spoilt.
const SPOIL = `update article_texts set snippet = 'oud' where snippet <> '' and seq <= $1`

/** Articles as a crawler finds them now. */
async function present(pool: Pool, articles: NewArticle[]): Promise<NewArticle[]> {
  const moved = await pool.query('select from outlet_domains where domain = $1', [MOVING.to])
  return moved.rowCount === 0 ? articles : articles.map(movedOf)
}

const ADD_MOVING = `
  insert into outlets (domain, name, country, languages, time_zone)
  select $1::text, 'Model', 'NL', '{nl}', 'UTC' where not exists (select from outlet_domains where domain = $1)
  on conflict do nothing`

// The third answer in a row that a page is gone, of an article that is there. $1 id, $2 seq
const ANSWER = `
  with outlet as (
    insert into outlets (domain, name, country, languages, time_zone) values ('model.example', 'Model', 'NL', '{nl}', 'UTC')
    on conflict (domain) do update set name = 'Model' returning outlet_no
  ), begun as (
    insert into second_looks as l (id, outlet_no, seq, refusals, refused_since)
    select $1::text, outlet_no, $2::bigint, 2, 'epoch' from outlet
     where exists (select from article_texts where seq = $2) on conflict (id) do update set looked_at = now() returning id, refusals
  ), answered as (
    insert into look_answers (id, gone) select id, 'gone' from begun on conflict do nothing returning id
  )
  insert into looked as l (id, times) select id, refusals + 1 from answered join begun using (id)
  on conflict (id) do update set times = l.times + 1`

/** Whether an article is taken out when its page is gone, or only loses snippet and vector. */
const isTakenOut = (key: number) => key % 3 === 0

/** Judges the answer of a page until it is done. */
async function judgeLook(pool: Pool, id: string, key: number): Promise<void> {
  const config = { RIGHTS_NOINDEX: 'keep', RIGHTS_GONE: isTakenOut(key) ? 'remove' : 'blank' }
  const composer = { compose: () => Promise.reject(new Error('there is no page')) }
  const write = await createWriter(pool, readConfig({}))
  const waits = async () =>
    (await pool.query('select from look_answers where id = $1', [id])).rowCount !== 0
  while (await waits()) await judgeAnswer({ pool, config, composer, write, signal: NEVER }, id)
}

/** The articles of some keys that are there. */
const writtenOf = async (db: Queryable, keys: readonly number[]) =>
  (
    await db.query<{ seq: bigint; id: string; url: string }>(
      'select a.seq, a.id, t.url from articles a join article_texts t using (seq) where t.url = any ($1::text[])',
      [keys.map(key => articleOf(key).url)],
    )
  ).rows

/** Of how many articles of a piece: a history also needs articles that stay. */
const TAKEN_OUT = 2

const STORE_PAGES = `
  with outlet as (
    insert into outlets (domain, name, country, languages, time_zone) values ('model.example', 'Model', 'NL', '{nl}', 'UTC')
    on conflict (domain) do update set name = 'Model' returning outlet_no)
  insert into pages (outlet_no, url, crawl_key, host, state)
  select outlet_no, url, page, 'model.example', 'stored' from outlet, unnest($1::text[], $2::text[]) as p (url, page)
   order by page on conflict do nothing`
const READ_PAGES = `
  select page_no as "pageNo", outlet_no as "outletNo", url from pages
   where crawl_key = any ($1) and state = 'stored' order by page_no`
type StoredRow = { pageNo: bigint; outletNo: number; url: string }

const LOG = createLogger('model', 'silent')

/** A page as it is when its article is composed. */
function finishedOf({ pageNo, outletNo, url }: StoredRow, article: NewArticle): Finished {
  const fingerprint = Buffer.from(`${pageNo}`)
  const origins = readOrigins('j1j1j1j1j1')
  const page = {
    pageNo,
    outletNo,
    interstitial: null,
    fingerprint,
    origins,
    lesson: [url],
    rights: NO_RIGHTS_STATED,
  }
  return { article: { ...article, pageNo }, page }
}

/** An actor whose keys stand for so many articles each, for segments of real sizes. */
function enlarged(actor: Actor, scale: number): Actor {
  const { keys, most, least, piece } = actor
  const all = keys.flatMap(key => Array.from({ length: scale }, (_, at) => key * scale + at))
  return { ...actor, keys: all, most: most * scale, least: least * scale, piece: piece * scale }
}

interface Trial {
  runs: number
  examples?: Step[][]
  /** Articles for which a key stands. */
  scale?: number
  /** ms after which no other history begins, and nothing is shrunk. */
  limit: number
}

/** Tries examples and random histories. */
type Model = (test: Test, histories: fc.Arbitrary<Step[]>, trial: Trial) => Promise<void>

/** A server of a test's own that may be restarted and fail over, and a way to try histories. */
export async function startModel(t: Test): Promise<Model> {
  const cluster = await startTestCluster(1)
  t.teardown(() => cluster.stop())
  // The first primary is kept by a supervisor.
  await cluster.failOver()
  useCurrent(cluster)
  /**
   * Tries examples and so many random histories. SEED and REPLAY (the `path` that a failure tells)
   * try one again.
   */
  return async (test, histories, { runs, examples = [], scale = 1, limit }) => {
    const { SEED, REPLAY } = process.env
    const seed = Number(SEED ?? Date.now() % 1_000_000_000)
    test.comment(`seed ${seed}`)
    setSegmentSizes(8 * scale, 32 * scale)
    let living = Promise.resolve()
    const property = fc.asyncProperty(histories, steps => {
      living = live(steps, cluster, scale)
      return living
    })
    const result = await fc.check(property, {
      seed,
      numRuns: runs + examples.length,
      examples: examples.map((one): [Step[]] => [one]),
      ...(REPLAY === undefined ? {} : { path: REPLAY }),
      // Each attempt of shrinking takes seconds.
      interruptAfterTimeLimit: limit,
    })
    // One that the limit interrupts ends before the servers do.
    await living.catch(() => {})
    if (result.failed)
      test.fail(`${String(result.errorInstance)}\n${fc.defaultReportMessage(result)}`)
    else test.ok(result.numRuns > 0, `${result.numRuns} histories`)
  }
}
