import t from 'tap'
import { readFlow } from '../../status/flow.ts'
import { until } from '../fleet.ts'
import { articlePage, storePages } from '../normaliser/stored.ts'
import { jsonLines } from '../script.ts'
import { createWorld } from '../semantic/world.ts'
import { startTestServers } from '../servers.ts'
import { CRASHES, HANGS } from './poisoned-thread.ts'
import { spoilVectors } from './proxies.ts'

const HOOK = new URL('./poisoned-thread.ts', import.meta.url).href

// Poison lies in quarantine after three tries. The tests below build on one another, in this order.

const own = process.env.QDRANT_URL ? null : await startTestServers({ servers: ['qdrant'] })
process.env.QDRANT_URL ||= own?.settings.QDRANT_URL
process.env.QDRANT_API_KEY ||= own?.settings.QDRANT_API_KEY
const qdrant = await spoilVectors(process.env.QDRANT_URL ?? '')
const world = await createWorld(null, { QDRANT_URL: qdrant.url, NORMALISE_TIMEOUT: '5s' })
t.teardown(async () => {
  await world.close()
  await qdrant.stop()
  await own?.stop()
})
const { fleet, pool } = world
const script = (...args: string[]) => fleet.script('queues', ...args)
const status = async () => JSON.parse(await fleet.script('status', '--json'))

/** Removes the pauses between tries. */
async function hurry(): Promise<void> {
  await pool.query("update pages set next_try_at = now() - interval '3 s' where state = 'stored' and attempts > 0")
  await pool.query(
    "update embeddings set claimed_until = null where attempts > 0 and failed_at is null and claimed_until < now() + interval '20 s'",
  )
}

/** Waits until so many pages and embeddings lie in quarantine. */
async function poisoned(count: number): Promise<void> {
  const lies = async () => {
    await hurry()
    const { pages, embeddings } = await status()
    return pages.failed + embeddings.failed === count
  }
  await until(lies, 180_000, fleet.logs)
}

const [refused = 0n, spoiled = 0n] = await world.index([{ title: 'this will be refused' }, { title: 'spoiled' }])
qdrant.spoiled.add(Number(spoiled))
const pages = ['goed 1', HANGS, 'goed 2', CRASHES, 'goed 3', 'goed 4'].map((about, at) => ({
  path: `/nieuws/${at}`,
  html: articlePage(`Raad spreekt over ${at}`, about),
  title: `Raad spreekt over ${at}`,
}))
const numbers = await storePages({ query: async (sql, values) => (await pool.query(sql, values)).rows }, pages)
const [hanging, crashing] = [`page:${numbers[1]}`, `page:${numbers[3]}`]
const ids = [hanging, crashing, `embedding:${refused}`, `embedding:${spoiled}`].sort()
const normaliser = await fleet.start('normaliser', { NODE_OPTIONS: `--import ${HOOK}` })
await fleet.start('embedder')

t.test('good pages are indexed and embedded beside the poison', async () => {
  await world.embedded(4, 150_000)
})

t.test('after three tries, poison is listed in the quarantine with its reason', async t => {
  await poisoned(4)
  const listed = jsonLines(await script('list', '--json'))
  t.same(listed.map(({ id }) => id).sort(), ids)
  const reasons = Object.fromEntries(
    listed.map(({ id, reason, detail, attempts }) => [id, { reason, detail, attempts }]),
  )
  t.match(reasons[hanging], { reason: 'timeout', attempts: 3 })
  t.match(reasons[crashing], { reason: 'error', attempts: 3 })
  t.match(reasons[`embedding:${refused}`], { detail: /I will not read this/, attempts: 3 })
  t.match(reasons[`embedding:${spoiled}`], { detail: /Qdrant refuses: .*dimension/i, attempts: 3 })
  const table = await script('list')
  for (const id of ids) t.match(table, id)
  t.match(await status(), { pages: { failed: 2 }, embeddings: { failed: 2 }, reasons: { timeout: 1, error: 1 } })
  t.match(await fleet.script('status'), /embedded .*failed 2\n[\s\S]*pages .*failed 2\n/)
})

t.test('a dry run changes nothing, and a page that is still poison comes back', async t => {
  t.same(JSON.parse(await script('retry', '--all', '--dry-run', '--json')), {
    action: 'retry',
    count: 4,
    dry_run: true,
  })
  t.equal((await pool.query("select from pages where state = 'failed'")).rowCount, 2)
  t.same(JSON.parse(await script('retry', crashing, '--json')), { action: 'retry', count: 1, dry_run: false })
  await poisoned(4)
})

t.test('once the cause is mended, given back poison is indexed and embedded', async t => {
  normaliser.process.kill('SIGTERM')
  await normaliser.exited
  await fleet.start('normaliser')
  qdrant.spoiled.clear()
  await script('retry', ...ids.filter(id => id !== `embedding:${refused}`))
  await world.embedded(7, 120_000)
  t.match(await status(), { articles: 8, embedded: 7, pages: { done: 6, failed: 0 }, embeddings: { failed: 1 } })
})

t.test('poison can be given up, and work queues can be emptied', async t => {
  t.match(JSON.parse(await script('drain', 'quarantine', '--all', '--dry-run', '--json')), { count: 1, dry_run: true })
  t.match(JSON.parse(await script('drain', 'quarantine', `embedding:${refused}`, '--json')), {
    count: 1,
    dry_run: false,
  })
  t.match(await status(), { articles: 8, embedded: 7, embeddings: { failed: 0, due: 0 } })
  t.match(await readFlow(pool), { embedded: 7 }, 'words alone find it')
  const { rows } = await pool.query('select vector, article_seq as seq from article_rights')
  t.same(rows, [{ vector: false, seq: refused }])
  for (const name of ['normalise', 'embed'])
    t.match(JSON.parse(await script('drain', name, '--dry-run', '--json')), { queue: name, count: 0, dry_run: true })
  t.match(await script('--help'), /list \[--json\][\s\S]*retry ID[\s\S]*drain/)
})
