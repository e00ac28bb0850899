import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import { readArchive } from '../../scripts/archive/export.ts'
import type { Position, SearchIndex } from '../../search/index.ts'
import { makeSegments, openIndexer, showAll, showGently, showOverdue } from '../../search/indexer.ts'
import { claimDue } from '../../services/embedder/due/claims.ts'
import { startDueDispatcher } from '../../services/embedder/due/due-dispatcher.ts'
import { openArticleWriter } from '../../shared/indexing/article-writer.ts'
import type { NewArticle } from '../../shared/indexing/new-article.ts'
import { createLogger } from '../../shared/log/logger.ts'
import { createPool, type Pool } from '../../shared/postgres/pool.ts'
import { createBoss } from '../../shared/queues/delayed-jobs.ts'
import { readFlow } from '../../shared/status/flow.ts'
import { createTestDatabase } from '../database.ts'
import { until } from '../fleet.ts'
import { EVERYTHING } from './poller.ts'
import { makeTestSegments, openTestIndex } from './store.ts'

/** A database with a writer and a search. */
async function openHidden(t: { teardown(handler: () => Promise<void>): void }) {
  const database = await createTestDatabase()
  const pool = createPool(database.url, 'hidden', () => {})
  const boss = createBoss(database.url, () => {}, { supervise: false })
  await boss.start()
  const indexer = openIndexer(pool)
  const writer = openArticleWriter({ pool, boss, indexer, embedDelay: 0 })
  const search = openTestIndex(pool)
  t.teardown(async () => {
    await search.close()
    await boss.stop({ graceful: false })
    await indexer.close()
    await pool.end()
    await database.drop()
  })
  let next = 0
  const write = (count: number, hidden: boolean) =>
    writer.write(
      Array.from({ length: count }, () => articleOf(++next)),
      { hidden },
    )
  return { database, pool, search, write }
}

const articleOf = (number: number): NewArticle => ({
  url: `https://outlet.example/${number}`,
  addresses: [`outlet.example/${number}`],
  title: `Titel ${number}`,
  body: null,
  publishedAt: null,
  authors: [],
  outlet: { name: 'Outlet', domain: 'outlet.example' },
  language: 'nl',
  country: 'NL',
})

/** Numbers of the articles that a search finds, in the order of their stamps. */
async function shown(search: SearchIndex): Promise<number[]> {
  const { rows } = await search.search({ ...EVERYTHING, sort: 'ingested_at', order: 'asc' })
  return rows.map(({ seq }) => Number(seq)).sort((a, b) => a - b)
}

const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1)
const SIZES = { flushed: 4n, merged: 32n }

/** As if so much time had passed. */
const passTime = (pool: Pool, seconds: number) =>
  pool.query(`update ingest_clock set hidden_until = hidden_until - $1 * interval '1 s'`, [seconds])

t.test('hidden articles, and all that are written after them, are shown with their segment', async t => {
  const { pool, search, write } = await openHidden(t)
  await write(2, false)
  t.same(await shown(search), upTo(2))
  await write(4, true)
  await write(1, false)
  t.same(await shown(search), upTo(2), 'an article that is not hidden waits for those before it')
  await makeTestSegments(pool, SIZES)
  t.same(await shown(search), upTo(6), 'those up to 4 have a segment, and two were written with them')
  await write(2, true)
  await makeTestSegments(pool, SIZES)
  t.same(await shown(search), upTo(9))
  await write(1, true)
  t.same(await shown(search), upTo(9))
  await showAll(pool)
  t.same(await shown(search), upTo(10))
  await write(1, false)
  t.same(await shown(search), upTo(11), 'nothing is hidden any more')
})

t.test('pages that were begun before stay as they are when hidden articles are shown', async t => {
  const { pool, search, write } = await openHidden(t)
  await write(3, false)
  await write(6, true)
  await write(1, true)
  const query = { ...EVERYTHING, perPage: 1 }
  const first = await search.search(query)
  await makeTestSegments(pool, SIZES)
  t.equal((await search.search(query)).total, 9)
  const pages = [first]
  for (let position: Position | null = first.next; position !== null; position = pages.at(-1)!.next) {
    pages.push(await search.search(query, position))
    if (pages.length === 2) await showAll(pool)
  }
  t.same(new Set(pages.map(page => page.total)), new Set([3]))
  t.same(pages.flatMap(page => page.rows.map(row => Number(row.seq))).sort(), upTo(3))
})

t.test('an embedder takes articles when they are shown, and counts and exports are of these', async t => {
  const { pool, write } = await openHidden(t)
  const exported = async () => {
    let lines = 0
    for await (const part of readArchive(pool, { body: false, ingestedAfter: null })) lines += part.length
    return lines
  }
  await write(2, false)
  await write(3, true)
  t.same((await claimDue(pool, 100)).length, 2)
  t.equal(await exported(), 2)
  t.equal((await readFlow(pool)).articles, 2)
  await passTime(pool, 31)
  t.equal(await exported(), 5, 'an export shows what has waited for too long')
  t.same((await claimDue(pool, 100)).length, 3)
  t.equal((await readFlow(pool)).articles, 5)
})

t.test('an import that ends shows its last articles little by little, and not those of another one', async t => {
  const { pool, search, write } = await openHidden(t)
  await write(400, true)
  const totals = new Set<number>()
  const ending = showGently(pool).then(() => true)
  while (!(await Promise.race([ending, setTimeout(5)]))) {
    totals.add((await search.search(EVERYTHING)).total)
    if (totals.size === 2) await write(1, true)
  }
  t.ok(totals.size > 2, `${[...totals]}`)
  t.same(
    [...totals].filter(total => total % 50 !== 0),
    [],
    'articles of one transaction have one stamp, and are shown together',
  )
  const { total } = await search.search(EVERYTHING)
  t.equal(total, 400)
  await showGently(pool)
  await write(1, false)
  t.ok((await search.search(EVERYTHING)).total > 401, 'nothing is hidden any more')
})

t.test('when the time is over, the next writer shows all', async t => {
  const { pool, search, write } = await openHidden(t)
  await write(3, true)
  await passTime(pool, 29)
  await write(1, true)
  t.same(await shown(search), [], 'later articles do not prolong the time')
  await passTime(pool, 2)
  await write(1, true)
  t.same(await shown(search), upTo(5))
  await write(1, true)
  t.same(await shown(search), upTo(5), 'and hides again')
})

t.test('a time that lies far ahead is over, because the clock of the server was set back', async t => {
  const { pool, search, write } = await openHidden(t)
  await write(3, true)
  await passTime(pool, -3_600)
  await write(1, true)
  t.same(await shown(search), upTo(4))
  await write(1, true)
  await passTime(pool, -3_600)
  await showOverdue(pool)
  t.same(await shown(search), upTo(5))
})

t.test('an embedder alone shows what an import that was killed left', async t => {
  const { pool, search, write } = await openHidden(t)
  await write(3, true)
  await passTime(pool, 31)
  const queued: unknown[] = []
  const none = { waiting: 0, active: 0, delayed: 0, failed: 0 }
  const queues: Parameters<typeof startDueDispatcher>[1] = {
    add: async (_queue, messages) => void queued.push(...messages),
    counts: async () => ({ visit: none, normalise: none, embed: none }),
  }
  const dispatcher = startDueDispatcher(pool, queues, createLogger('embedder', 'silent'), () => false)
  t.teardown(() => dispatcher.close())
  await until(async () => queued.length > 0, 60_000)
  t.same(await shown(search), upTo(3))
})

t.test('a segment prolongs the time when it shows all that were there when the time began', async t => {
  const { pool, search, write } = await openHidden(t)
  for (let batch = 0; batch < 3; batch++) await write(4, true)
  await makeSegments(pool, SIZES, { flushTo: 4n })
  t.same(await shown(search), upTo(4))
  await passTime(pool, 29)
  await makeSegments(pool, SIZES, { flushTo: 8n })
  t.same(await shown(search), upTo(8))
  await passTime(pool, 2)
  await write(1, true)
  t.same(await shown(search), upTo(13), 'four had waited for all of the time')

  await write(3, true)
  await passTime(pool, 29)
  await makeTestSegments(pool, SIZES)
  t.same(await shown(search), upTo(16), 'the segment holds all')
  await write(4, true)
  await write(2, true)
  await passTime(pool, 29)
  await makeTestSegments(pool, SIZES)
  t.same(await shown(search), upTo(20))
  await passTime(pool, 2)
  await write(1, true)
  t.same(await shown(search), upTo(20), 'those that remain came later')
})

t.test('an import that is killed loses nothing and hides nothing for long', { timeout: 120_000 }, async t => {
  const { database, pool, search } = await openHidden(t)
  const lines = upTo(2_400).map(number => JSON.stringify(lineOf(number)))
  const total = async () => (await search.search(EVERYTHING)).total
  const count = async () => (await pool.query<{ n: number }>('select last_seq::int as n from ingest_clock')).rows[0]!.n
  // Its input has no end, so the import is never done.
  const killed = startImport(database.url)
  killed.stdin!.write(`${lines.slice(0, 2_200).join('\n')}\n`)
  await until(async () => (await count()) > 0, 60_000)
  t.equal(await total(), 0, 'its articles are hidden')
  killed.stdin!.on('error', () => {})
  killed.kill('SIGKILL')
  await once(killed, 'exit')
  const written = await count()
  t.ok(written < 2_400)
  t.equal(await total(), 0)

  await passTime(pool, 31)
  // A process that searches, as the API is.
  await search.warm()
  await until(async () => (await total()) === written, 60_000)

  const again = startImport(database.url)
  again.stdin!.end(lines.join('\n'))
  const [code] = await once(again, 'exit')
  t.equal(code, 0)
  t.equal(await total(), 2_400, 'each article once, all shown when the import has ended')
  t.same(await openIndexer(pool).rebuild.ranges(), [{ first: 1n, last: 2_400n }], 'a segment, though it is not full')
})

const startImport = (url: string): ChildProcess =>
  spawn(process.execPath, [new URL('../../scripts/import.ts', import.meta.url).pathname, '-'], {
    env: { ...process.env, DATABASE_URL: url },
    stdio: ['pipe', 'ignore', 'ignore'],
  })

const lineOf = (number: number) => {
  const { url, title, outlet, language, country } = articleOf(number)
  return { url, title, outlet, language, country, body: 'Een bericht.', authors: [], published_at: null }
}
