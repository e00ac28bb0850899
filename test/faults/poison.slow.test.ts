import t from 'tap'
import { readFlow } from '#status/flow'
import { until } from '#test/fleet'
import { articlePage, storePages } from '#test/normaliser/stored'
import { jsonLines } from '#test/script'
import { createWorld } from '#test/semantic/world'
import { startTestServers } from '#test/servers'
import { CRASHES, HANGS } from './poisoned-thread.ts'
import { spoilVectors } from './proxies.ts'

const HOOK = new URL('./poisoned-thread.ts', import.meta.url).href

// Poison lies in quarantine after three tries, before the first test. Each test has its own poison.

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
  await pool.query(
    "update pages set next_try_at = now() - interval '3 s' where state = 'stored' and attempts > 0",
  )
  await pool.query(
    "update embeddings set claimed_until = null where attempts > 0 and failed_at is null and claimed_until < now() + interval '20 s'",
  )
}

const listed = async () => jsonLines(await script('list', '--json'))

/** Waits until this poison lies in quarantine. */
async function poisoned(...poison: string[]): Promise<void> {
  const lies = async () => {
    await hurry()
    const { rows } = await pool.query<{ id: string }>(
      `select 'page:' || page_no as id from pages where state = 'failed'
       union all select 'embedding:' || seq from embeddings where failed_at is not null`,
    )
    return poison.every(id => rows.some(row => row.id === id))
  }
  await until(lies, 180_000, fleet.logs)
}

const [refused = 0n, spoiled = 0n] = await world.index([
  { title: 'this will be refused' },
  { title: 'spoiled' },
])
qdrant.spoiled.add(Number(spoiled))
const pages = ['goed 1', HANGS, 'goed 2', CRASHES, 'goed 3', 'goed 4'].map((about, at) => ({
  path: `/nieuws/${at}`,
  html: articlePage(`Raad spreekt over ${at}`, about),
  title: `Raad spreekt over ${at}`,
}))
const numbers = await storePages(
  { query: async (sql, values) => (await pool.query(sql, values)).rows },
  pages,
)
const hanging = `page:${numbers[1]}`
const crashing = `page:${numbers[3]}`
const ids = [hanging, crashing, `embedding:${refused}`, `embedding:${spoiled}`].sort()
const normaliser = await fleet.start('normaliser', { NODE_OPTIONS: `--import ${HOOK}` })
await fleet.start('embedder')
await poisoned(...ids)

t.test(
  'good pages beside poison are embedded; poison is listed with its reason after three tries',
  async t => {
    await world.embedded(4, 150_000)
    const lines = await listed()
    t.same(lines.map(({ id }) => id).sort(), ids)
    const reasons = Object.fromEntries(
      lines.map(({ id, reason, detail, attempts }) => [id, { reason, detail, attempts }]),
    )
    t.match(reasons[hanging], { reason: 'timeout', attempts: 3 })
    t.match(reasons[crashing], { reason: 'error', attempts: 3 })
    t.match(reasons[`embedding:${refused}`], { detail: /I will not read this/, attempts: 3 })
    t.match(reasons[`embedding:${spoiled}`], {
      detail: /Qdrant refuses: .*dimension/i,
      attempts: 3,
    })
    const table = await script('list')
    for (const id of ids) t.match(table, id)
    t.match(await status(), {
      pages: { failed: 2 },
      embeddings: { failed: 2 },
      reasons: { timeout: 1, error: 1 },
    })
    t.match(await fleet.script('status'), /embedded .*failed 2\n[\s\S]*pages .*failed 2\n/)
  },
)

t.test('a dry run changes nothing, and a page that is still poison comes back', async t => {
  t.same(JSON.parse(await script('retry', '--all', '--dry-run', '--json')), {
    action: 'retry',
    count: 4,
    dry_run: true,
  })
  t.equal((await pool.query("select from pages where state = 'failed'")).rowCount, 2)
  t.same(JSON.parse(await script('retry', crashing, '--json')), {
    action: 'retry',
    count: 1,
    dry_run: false,
    ids: [crashing],
    left: [],
  })
  await poisoned(crashing)
})

t.test('once the cause is mended, given back poison is indexed and embedded', async t => {
  normaliser.process.kill('SIGTERM')
  await normaliser.exited
  await fleet.start('normaliser')
  qdrant.spoiled.clear()
  await script('retry', hanging, `embedding:${spoiled}`)
  const mended = `select from embeddings join article_texts using (seq)
    where embedded_at is not null and title in ('Raad spreekt over 1', 'spoiled')`
  await until(async () => (await pool.query(mended)).rowCount === 2, 120_000, fleet.logs)
  const left = (await listed()).map(({ id }) => id)
  t.notOk(
    left.includes(hanging) || left.includes(`embedding:${spoiled}`),
    'neither is in quarantine',
  )
})

t.test('poison can be given up, and work queues can be emptied', async t => {
  const drain = ['drain', 'quarantine', `embedding:${refused}`, '--json']
  const { articles, embedded, embeddings } = await status()
  t.match(JSON.parse(await script(...drain, '--dry-run')), { count: 1, dry_run: true })
  t.match(JSON.parse(await script(...drain)), { count: 1, dry_run: false })
  t.match(await status(), {
    articles,
    embedded,
    embeddings: { failed: embeddings.failed - 1, due: 0 },
  })
  t.match(await readFlow(pool), { embedded }, 'words alone find it')
  const { rows } = await pool.query('select vector, article_seq as seq from article_rights')
  t.same(rows, [{ vector: false, seq: refused }])
  t.match(JSON.parse(await script('drain', 'embed', '--dry-run', '--json')), {
    queue: 'embed',
    count: 0,
    dry_run: true,
  })
})
