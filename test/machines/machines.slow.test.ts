import { appendFile, chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import t from 'tap'
import { migrate } from '#infra/migrations/migrate'
import type { Machines } from '#shared/figures'
import { createPool } from '#shared/postgres/pool'
import { registerServing } from '#shared/vectors/registry'
import { type MachineSettings, readMachines } from '#status/machines'
import { ask } from '#test/contract/api'
import { PATIENT } from '#test/database'
import { createFleet, freePort, until } from '#test/fleet'
import { openBox } from '#test/fleet/hosts/box'
import { openLinkTo } from '#test/fleet/links/link'
import { QDRANT_API_KEY, startQdrant } from '#test/fleet/parts/qdrant'
import { startRedis } from '#test/queues/redis'
import { createMachine } from '#test/recovery/server'
import { axe, browserPath, launch, open, overhang } from '#test/web/browser'

const KEY = 'a-key-for-operators-of-tests'
const COLLECTION = 'articles-on-nodes'
const root = await mkdtemp(join(tmpdir(), 'perscope-machines-'))
await chmod(root, 0o755)
const running: { stop(): Promise<void> }[] = []
t.teardown(async () => {
  for (const one of running.reverse()) await one.stop()
  await rm(root, { recursive: true, force: true })
})
const keep = <T extends { stop(): Promise<void> }>(one: T): T => {
  running.push(one)
  return one
}

// A primary that cannot archive, and a standby with a slot.
const machine = await createMachine(root)
const data = join(root, 'primary')
await machine.initialise(data)
await appendFile(join(data, 'postgresql.conf'), "archive_mode = on\narchive_command = 'false'\n")
await appendFile(join(data, 'pg_hba.conf'), 'host all all 127.0.0.0/8 trust\n')
const primary = keep(await machine.start(data))
await migrate(primary.url)
await primary.query("select pg_create_physical_replication_slot('second')")
await machine.archive.backUp(primary.url)
await machine.archive.restore(join(root, 'standby'))
const connection = `host=127.0.0.1 port=${new URL(primary.url).port} user=perscope application_name=second`
await appendFile(
  join(root, 'standby', 'postgresql.auto.conf'),
  `primary_conninfo = '${connection}'\nprimary_slot_name = 'second'\n`,
)
await writeFile(join(root, 'standby', 'standby.signal'), '')
const standby = keep(await machine.start(join(root, 'standby')))

const pool = createPool(primary.url, 'test', () => {}, PATIENT)
keep({ stop: () => pool.end() })
const redis = [keep(await startRedis()), keep(await startRedis())] as const
const [master, replica] = redis.map(({ url }) => url)
const box = await openBox(() => {}, 'loopback')
keep({ stop: () => box.close(false) })
const nodes = await startQdrant(box, [await box.addHost('first'), await box.addHost('second')])
const { url: QDRANT_URL } = nodes[0]!
const lost = nodes[1]!
await fetch(`${QDRANT_URL}/collections/${COLLECTION}`, {
  method: 'PUT',
  headers: { 'content-type': 'application/json', 'api-key': QDRANT_API_KEY },
  body: JSON.stringify({
    vectors: { size: 4, distance: 'Cosine' },
    shard_number: 2,
    replication_factor: 2,
  }),
})
await registerServing(pool, { name: COLLECTION, model: 'test', recipe: 1, dimensions: 4 })
const servers = { QDRANT_URL, QDRANT_API_KEY, REDIS_URL: master ?? '' }
const archive = {
  OPENSEARCH_USER: '',
  OPENSEARCH_PASSWORD: '',
  OPENSEARCH_INDEX: 'test',
  OPENSEARCH_RECENT: 0,
}
const config: MachineSettings = {
  ...servers,
  ...archive,
  OPENSEARCH_URL: [],
  SEARCH_TIMEOUT: 5_000,
  TLS_CA_FILE: '',
}
const read = () => readMachines(pool, config)

/** Reads again and again until what it shows is as it should be. */
async function shows(what: (machines: Machines) => boolean): Promise<void> {
  let last: Machines | null = null
  await until(
    async () => {
      last = await read()
      return what(last)
    },
    60_000,
    () => JSON.stringify(last, null, 1),
  )
}

t.test('the primary names its standbys, how far they are, and what it keeps for them', async t => {
  await shows(({ postgres }) => postgres?.standbys[0]?.lagBytes === 0)
  const { postgres } = await read()
  t.match(postgres, { role: 'primary', mayLook: true, host: '127.0.0.1' })
  t.match(postgres?.standbys, [
    { name: 'second', host: '127.0.0.1', state: 'streaming', sync: false },
  ])
  t.match(postgres?.slots, [{ name: 'second', active: true, lost: false }])
  await standby.query('select pg_wal_replay_pause()')
  await primary.query('create table written as select generate_series(1, 100000) as i')
  await shows(({ postgres }) => (postgres?.standbys[0]?.lagBytes ?? 0) > 1_000_000)
  await shows(({ postgres }) => (postgres?.standbys[0]?.lagSeconds ?? 0) > 0)
  await standby.query('select pg_wal_replay_resume()')
  await shows(({ postgres }) => postgres?.standbys[0]?.lagBytes === 0)
  await primary.query("alter system set synchronous_standby_names = 'second'")
  await primary.query('select pg_reload_conf()')
  await shows(({ postgres }) => postgres?.standbys[0]?.sync === true)
  await primary.query('select pg_switch_wal()')
  await shows(({ postgres }) => postgres?.archive?.failing === true)
})

t.test('the archive index says how many articles it has, and how many are due', async t => {
  t.equal((await read()).archiveIndex, null)
  // Nobody answers there: what Postgres knows is shown all the same.
  const set = {
    ...config,
    OPENSEARCH_URL: [`http://127.0.0.1:${await freePort()}`],
    OPENSEARCH_RECENT: 10,
  }
  t.same((await readMachines(pool, set)).archiveIndex, {
    indices: 0,
    articles: 0,
    backlog: 0,
    health: null,
  })
  await primary.query(`insert into archive_indices (name, first_seq, last_seq, filled_to, state, analysis)
    values ('one', 1, 50, 50, 'serving', 1), ('two', 51, 100, 60, 'serving', 1), ('old', 1, 90, 90, 'retired', 1)`)
  await primary.query('update ingest_clock set last_seq = 100')
  await primary.query(`insert into segments (first_seq, last_seq, bucket_bits, undated, columns)
    values (1, 95, 0, 0, '')`)
  t.same((await readMachines(pool, set)).archiveIndex, {
    indices: 2,
    articles: 60,
    backlog: 30,
    health: null,
  })
  t.same((await read()).archiveIndex, { indices: 2, articles: 60, backlog: 35, health: null })
  await primary.query('delete from segments')
  await primary.query('delete from archive_indices')
  await primary.query('update ingest_clock set last_seq = 0')
})

t.test('a standby that is asked says that it is one', async t => {
  const other = createPool(standby.url, 'test', () => {}, { ...PATIENT, mayBeStandby: true })
  t.teardown(() => other.end())
  const { postgres } = await readMachines(other, { ...config, QDRANT_URL: '', REDIS_URL: '' })
  t.match(postgres, { role: 'standby', standbys: [] })
})

t.test(
  'an account without the right to look learns how many standbys there are, and that it may not',
  async t => {
    await primary.query('create role plain login')
    const url = new URL(primary.url)
    url.username = 'plain'
    const other = createPool(url.href, 'test', () => {}, PATIENT)
    t.teardown(() => other.end())
    const { postgres } = await readMachines(other, { ...config, QDRANT_URL: '', REDIS_URL: '' })
    t.equal(postgres?.mayLook, false)
    t.equal(postgres?.standbys.length, 1)
    t.equal(postgres?.standbys[0]?.lagBytes, null)
  },
)

t.test('each process is counted where it runs', async t => {
  const far = await openLinkTo(primary.url, undefined, '127.0.0.9')
  t.teardown(far.close)
  const pools = [
    createPool(far.url, 'crawler', () => {}, PATIENT),
    createPool(primary.url, 'api', () => {}, PATIENT),
  ]
  for (const one of pools) t.teardown(() => one.end())
  for (const one of pools) await one.query('select 1')
  t.match((await read()).hosts, [
    { host: '127.0.0.1', crawler: 0, api: 1 },
    { host: '127.0.0.9', crawler: 1, api: 0 },
  ])
})

t.test('Redis names its replicas', { skip: !master && 'no redis-server' }, async t => {
  t.match((await read()).redis, { role: 'master', replicas: [] })
  const { hostname, port, password } = new URL(master ?? '')
  const follower = new Redis(replica ?? '')
  t.teardown(() => follower.disconnect())
  await follower.config('SET', 'masterauth', password)
  await follower.replicaof(hostname, port)
  await shows(({ redis }) => redis?.replicas[0]?.online === true)
  t.equal((await read()).redis?.replicas.length, 1)
  const other = await readMachines(pool, { ...config, REDIS_URL: replica ?? '' })
  t.match(other.redis, { role: 'replica' })
})

t.test('Qdrant names its nodes and the copies of its shards; one that is lost shows', async t => {
  await shows(({ vectors }) => vectors?.shards.flatMap(({ copies }) => copies).length === 4)
  const { vectors } = await read()
  const addresses = nodes.map(({ host }) => host.address)
  t.same(vectors?.nodes, addresses)
  t.same(vectors?.unreachable, [])
  const holders = vectors?.shards.map(({ copies }) => copies.map(({ node }) => node).sort())
  t.same(holders, [vectors?.nodes, vectors?.nodes])
  await lost.host.crash()
  await shows(({ vectors }) => vectors?.unreachable[0] === lost.host.address)
})

const skip = !browserPath && 'no chromium on this machine'
t.test('the page shows all of it, on every screen', { skip }, async t => {
  const metrics = String(await freePort())
  const env = {
    DATABASE_URL: primary.url,
    EMBEDDINGS_URL: '',
    OPERATOR_KEY: KEY,
    LOG_LEVEL: 'warn',
    ...servers,
  }
  const fleet = keep(createFleet(env))
  await fleet.start('api')
  const far = await openLinkTo(primary.url, undefined, '127.0.0.9')
  t.teardown(far.close)
  await fleet.start('embedder', { DATABASE_URL: far.url, METRICS_PORT: metrics })
  const browser = await launch(t)
  const figures = async () => (await ask(`${fleet.base()}/status/figures`, KEY)).json.machines
  await until(async () => (await figures()).hosts.length === 2, 60_000)
  for (const [width, colorScheme] of [
    [360, 'light'],
    [1280, 'dark'],
  ] as const) {
    const seen = await open(browser, fleet.base(), '/status', {
      httpCredentials: { username: 'me', password: KEY },
      viewport: { width, height: 900 },
      colorScheme,
    })
    const section = seen.page.getByRole('region', { name: 'Machines' })
    await section.getByText('standby, commits wait for it, up to date').waitFor()
    const text = await section.innerText()
    t.match(
      text,
      /127\.0\.0\.9[\s\S]*archive of the log fails[\s\S]*2 nodes[\s\S]*2 shards in 4 copies/,
    )
    t.match(
      await seen.page.locator('.problems').innerText(),
      /Postgres cannot archive its log:[\s\S]*Qdrant does not reach 127/,
    )
    t.ok((await overhang(seen.page)) <= 0, 'nothing sticks out')
    t.strictSame(await axe(seen.page), [])
    if (process.env.PICTURES)
      await section.screenshot({ path: join(process.env.PICTURES, `machines-${width}.png`) })
    await seen.close()
  }
  const shown = await (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text()
  t.match(shown, /^perscope_processes\{host="127\.0\.0\.9",of="embedder",service="embedder"\} 1$/m)
  t.match(
    shown,
    /^perscope_postgres_standby_lag_bytes\{standby="second",host="127\.0\.0\.1",service="embedder"\} \d+$/m,
  )
  t.match(shown, /^perscope_postgres_archive_failing\{service="embedder"\} 1$/m)
  t.match(shown, /^perscope_vector_nodes_unreachable\{service="embedder"\} 1$/m)
  t.match(shown, /^perscope_redis_replicas\{service="embedder"\} 1$/m)
  t.match(
    shown,
    /^perscope_postgres_role\{role="primary",host="127\.0\.0\.1",service="embedder"\} 1$/m,
  )
  t.match(shown, /^perscope_redis_role\{role="master",host="127\.0\.0\.1",service="embedder"\} 1$/m)
  const { machines } = JSON.parse(await fleet.script('status', '--json'))
  t.match(machines, { postgres: { role: 'primary' }, redis: { role: 'master' } })
  t.match(
    await fleet.script('status'),
    /postgres +127\.0\.0\.1 primary; 127\.0\.0\.1 standby, commits wait for it/,
  )
})
