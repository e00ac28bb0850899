import t, { type Test } from 'tap'
import { openArchiveClient } from '#search/archive/client'
import { openArchiveStore } from '#search/archive/state'
import { openArchiveWriter } from '#search/archive/writer'
import { openVectorSearch } from '#services/api/semantic/vector-search'
import { readConfig } from '#shared/config/config'
import { openEmbeddings, sourceOf } from '#shared/embeddings/embeddings'
import { createLogger } from '#shared/log/logger'
import { createPool } from '#shared/postgres/pool'
import { missingAmong } from '#shared/process/health'
import { createBoss } from '#shared/queues/boss'
import { openQueues } from '#shared/queues/queues'
import { readRedis } from '#shared/queues/redis'
import { withTimeLimit } from '#shared/resilience/time-limit'
import { openVectorStore } from '#shared/vectors/qdrant-store'
import { startTestApi } from '#test/contract/api'
import { createTestDatabase } from '#test/database'
import { runScript } from '#test/script'
import { startWordModel } from '#test/semantic/word-model'
import { openDoor } from '#test/standbys/door'
import { openDeafHost } from './deaf-host.ts'

const { port } = await openDeafHost(t)
const nobody = `127.0.0.1:${port}`

/** Holds that some work fails, and does so well before a limit that no library has by itself. */
async function fails(
  test: Test,
  what: string,
  work: Promise<unknown>,
  limit: number,
): Promise<void> {
  const outcome = work.then(
    () => 'succeeds',
    () => 'fails',
  )
  test.equal(await withTimeLimit(outcome, limit, () => 'still waits'), 'fails', what)
}

t.test('a wait for a host that answers no SYN ends by the limit of the caller', async t => {
  const config = readConfig({
    DATABASE_URL: `postgres://perscope:x@${nobody}/perscope`,
    REDIS_URL: `redis://${nobody}`,
    QDRANT_URL: `http://${nobody}`,
    EMBEDDINGS_URL: `http://${nobody}`,
  })
  const ofApi = (name: string) => ({ ...config, EMBEDDINGS_API: name })
  const question = (name: string) =>
    openEmbeddings(sourceOf(ofApi(name)), { passageTimeout: 500 }).embedQuery(
      'storm',
      AbortSignal.timeout(500),
    )
  const passages = openEmbeddings(sourceOf(config), { passageTimeout: 500 }).embedPassages(
    ['storm'],
    AbortSignal.timeout(60_000),
  )
  const pool = createPool(config.DATABASE_URL, 'test', () => {}, { connectTimeout: 500 })
  t.teardown(() => pool.end())
  const silent = createLogger('test', 'silent')
  const inPostgres = openQueues({ ...config, REDIS_URL: '' }, silent)
  const inRedis = openQueues(config, silent, true)
  const archive = openArchiveClient({
    nodes: [`http://${nobody}`],
    user: '',
    password: '',
    prefix: 'none',
    timeout: 500,
  })
  await Promise.all([
    fails(t, 'a question to the model', question('openai'), 3_000),
    fails(t, 'a question to Hugging Face', question('hf'), 3_000),
    fails(t, 'passages', passages, 3_000),
    fails(t, 'Qdrant', openVectorStore(config, 500).ping(), 3_000),
    fails(t, 'Postgres', pool.query('select 1'), 3_000),
    fails(t, 'queues in Postgres', inPostgres.counts(), 8_000),
    fails(t, 'queues in Redis, for a command', inRedis.counts(), 7_000),
    fails(t, 'Redis', readRedis(config), 6_000),
    fails(t, 'OpenSearch', archive.send({ method: 'GET', path: '/' }), 4_000),
  ])
  await archive.close()
  await Promise.all([inPostgres.close(), inRedis.close()])
})

t.test('an archive index that does not answer is 503, and keeps no command waiting', async t => {
  const api = await startTestApi(t, { OPENSEARCH_URL: `http://${nobody}` })
  await api.index([{ title: 'Storm' }])
  const store = openArchiveStore(api.pool)
  const range = { first: 1n, last: 9n }
  await store.add({ ...range, name: 'away', filledTo: 0n, state: 'serving', analysis: 1 })
  const span = { first: Date.parse('2020-01-01'), last: Date.now() }
  await store.advance('away', 1n, { published: span, ingested: span, undated: 1 })
  const { secret } = await api.issue()
  const search = (word: string, limit: number) =>
    withTimeLimit(api.ask(secret, `/v1/articles?q=${word}`), limit, () => 'still waits' as const)
  const away = { status: 503, json: { code: 'service_unavailable' } }
  const settings = { nodes: [`http://${nobody}`], user: '', password: '', prefix: 'none' }
  const archive = { ...settings, timeout: 60_000 }
  const shape = { size: 9n, recent: 0n, shards: 1, replicas: 0 }
  const writer = openArchiveWriter(api.pool, archive, shape)
  t.teardown(writer.close)
  const { rows } = await api.pool.query<{ id: string }>('select id from articles')
  const removing = runScript('articles', ['remove', rows[0]?.id ?? '', '--reason', 'asked'], {
    DATABASE_URL: api.config.DATABASE_URL,
    OPENSEARCH_URL: archive.nodes.join(),
  })
  // The others ask at once, since the rest of a host that is away is short.
  const searches = search('storm', 8_000).then(async first => [
    first,
    ...(await Promise.all(['regen', 'wind', 'hagel', 'sneeuw'].map(word => search(word, 1_500)))),
  ])
  const [[first, ...others], removed] = await Promise.all([
    searches,
    withTimeLimit(removing, 20_000, () => 'still waits' as const),
    fails(t, 'the filling of the archive', writer.countDue(), 8_000),
  ])
  t.match(first, away)
  t.match(removed, { code: 1, err: /of the archive index are left .*"npm run articles -- clear"/ })
  for (const answer of others) t.match(answer, away, 'nobody waits again')
})

t.test('pg-boss gives up a server that accepts its connection and then says nothing', async t => {
  const database = await createTestDatabase(t)
  let isDeaf = false
  const never = new Promise<never>(() => {})
  const door = await openDoor(
    () => new URL(database.url),
    () => (isDeaf ? never : 'pass'),
  )
  const boss = createBoss(door.to(database.url), () => {}, 500)
  t.teardown(() => boss.stop({ graceful: false }).finally(door.close))
  await boss.start()
  isDeaf = true
  await fails(t, 'a statement', boss.getQueues(), 5_000)
  isDeaf = false
  t.ok(await boss.getQueues(), 'it goes on with another connection')
})

t.test('/readyz names what is missing alone, and says so soon', async t => {
  const config = readConfig({
    DATABASE_URL: `postgres://perscope:x@${nobody}/perscope`,
    QDRANT_URL: `http://${nobody}`,
    EMBEDDINGS_URL: `http://${nobody}`,
  })
  const pool = createPool(config.DATABASE_URL, 'test', () => {}, { connectTimeout: 3_000 })
  t.teardown(() => pool.end())
  const soon = <T>(work: Promise<T>) => withTimeLimit(work, 2_500, () => 'still waits' as const)
  const bothAway = openVectorSearch(config, pool)
  t.same(await soon(bothAway.missing()), {
    model: 'does not answer',
    vectors: 'does not answer',
  })
  const model = await startWordModel()
  t.teardown(() => model.stop())
  const here = { ...config, EMBEDDINGS_URL: model.url, EMBEDDINGS_MODEL: 'words' }
  t.same(
    await soon(openVectorSearch(here, pool).missing()),
    { vectors: 'does not answer' },
    'without Postgres, the name of the collection is unknown, and the model answers',
  )
  t.match(await soon(missingAmong({ postgres: () => pool.query('select 1') })), {
    postgres: /^does not answer within 0\.9 s \(the load/,
  })
})
