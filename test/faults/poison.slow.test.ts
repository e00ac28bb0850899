import t from 'tap'
import { until } from '../fleet.ts'
import { articlePage, storePages } from '../normaliser/stored.ts'
import { createWorld } from '../semantic/world.ts'
import { startTestServers } from '../servers.ts'
import { spoilVectors } from './poison/qdrant.ts'
import { CRASHES, HANGS } from './poison/thread.ts'

t.setTimeout(280_000)

const HOOK = new URL('./poison/thread.ts', import.meta.url).href

t.test('poison lies in quarantine after three tries, is seen, given back or given up; nobody waits for it', async t => {
  const own = process.env.QDRANT_URL ? null : await startTestServers({ servers: ['qdrant'] })
  process.env.QDRANT_URL ||= own?.settings.QDRANT_URL
  process.env.QDRANT_API_KEY ||= own?.settings.QDRANT_API_KEY
  const qdrant = await spoilVectors(process.env.QDRANT_URL ?? '')
  const world = await createWorld({ QDRANT_URL: qdrant.url, NORMALISE_TIMEOUT: '5s' })
  t.teardown(async () => {
    await world.close()
    await qdrant.stop()
    await own?.stop()
  })
  const { fleet, pool } = world
  const rows = async (sql: string) => (await pool.query(sql)).rows
  const script = (...args: string[]) => fleet.script('queues', ...args)
  const status = async () => JSON.parse(await fleet.script('status', '--json'))
  const database = {
    url: '',
    query: async (sql: string, values?: unknown[]) => (await pool.query(sql, values)).rows,
    drop: async () => {},
  }
  /** The pauses between tries are not waited for. */
  const hurry = async () => {
    await pool.query("update pages set next_try_at = now() - interval '3 s' where state = 'stored' and attempts > 0")
    await pool.query(
      "update embeddings set claimed_until = null where attempts > 0 and failed_at is null and claimed_until < now() + interval '20 s'",
    )
  }
  const poisoned = async (count: number) => {
    await until(
      async () => {
        await hurry()
        const { pages, embeddings } = await status()
        return pages.failed + embeddings.failed === count
      },
      180_000,
      () => fleet.members.map(({ log }) => log()).join('\n'),
    )
  }

  const [refused = 0n, spoiled = 0n] = await world.index([{ title: 'this will be refused' }, { title: 'spoiled' }])
  qdrant.spoiled.add(Number(spoiled))
  const pages = ['goed 1', HANGS, 'goed 2', CRASHES, 'goed 3', 'goed 4'].map((about, at) => ({
    path: `/nieuws/${at}`,
    html: articlePage(`Raad spreekt over ${at}`, about),
    title: `Raad spreekt over ${at}`,
  }))
  const numbers = await storePages(database, pages)
  const normaliser = await fleet.start('normaliser', { NODE_OPTIONS: `--import ${HOOK}` })
  await fleet.start('embedder')
  await world.embedded(4, 150_000)
  t.pass('what is good is indexed and embedded beside the poison')

  await poisoned(4)
  const ids = [`page:${numbers[1]}`, `page:${numbers[3]}`, `embedding:${refused}`, `embedding:${spoiled}`].sort()
  const listed = (await script('list', '--json'))
    .trim()
    .split('\n')
    .map(text => JSON.parse(text))
  t.same(listed.map(({ id }) => id).sort(), ids)
  const reasons = Object.fromEntries(
    listed.map(({ id, reason, detail, attempts }) => [id, { reason, detail, attempts }]),
  )
  t.match(reasons[`page:${numbers[1]}`], { reason: 'timeout', attempts: 3 })
  t.match(reasons[`page:${numbers[3]}`], { reason: 'error', attempts: 3 })
  t.match(reasons[`embedding:${refused}`], { detail: /I will not read this/, attempts: 3 })
  t.match(reasons[`embedding:${spoiled}`], { detail: /Qdrant refuses: .*dimension/i, attempts: 3 })
  const table = await script('list')
  for (const id of ids) t.match(table, id)
  t.match(await status(), { pages: { failed: 2 }, embeddings: { failed: 2 }, reasons: { timeout: 1, error: 1 } })
  t.match(await fleet.script('status'), /embedded .*failed 2\n[\s\S]*pages .*failed 2\n/)

  t.same(JSON.parse(await script('retry', '--all', '--dry-run', '--json')), {
    action: 'retry',
    count: 4,
    dry_run: true,
  })
  t.equal((await rows("select from pages where state = 'failed'")).length, 2, 'a dry run changes nothing')
  t.same(JSON.parse(await script('retry', `page:${numbers[3]}`, '--json')), {
    action: 'retry',
    count: 1,
    dry_run: false,
  })
  await poisoned(4)
  t.pass('what is still poison comes back')

  normaliser.process.kill('SIGTERM')
  await normaliser.exited
  await fleet.start('normaliser')
  qdrant.spoiled.clear()
  await script('retry', ...ids.filter(id => id !== `embedding:${refused}`))
  await world.embedded(7, 120_000)
  t.match(await status(), { articles: 8, embedded: 7, pages: { done: 6, failed: 0 }, embeddings: { failed: 1 } })

  t.match(JSON.parse(await script('drain', 'quarantine', '--all', '--dry-run', '--json')), { count: 1, dry_run: true })
  t.match(JSON.parse(await script('drain', 'quarantine', `embedding:${refused}`, '--json')), {
    count: 1,
    dry_run: false,
  })
  t.match(await status(), { articles: 8, embedded: 7, embeddings: { failed: 0, due: 0 } })
  for (const name of ['visit', 'normalise', 'embed'])
    t.match(JSON.parse(await script('drain', name, '--dry-run', '--json')), { queue: name, count: 0, dry_run: true })
  t.match(await script('--help'), /list \[--json\][\s\S]*retry ID[\s\S]*drain/)
})
