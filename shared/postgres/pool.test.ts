import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { openDataDirectory } from '#infra/embedded/data-directory'
import { startServers } from '#infra/embedded/servers'
import { readConfig } from '#shared/config/config'
import { createLogger } from '#shared/log/logger'
import { openQueues, type Queues } from '#shared/queues/queues'
import { createTestDatabase, createTestPool, PATIENT } from '#test/database'
import { listen, until } from '#test/fleet'
import { openLinkTo } from '#test/fleet/links/link'
import {
  createPool,
  endingWith,
  isTransient,
  keepingAlive,
  locking,
  type Pool,
  readColumn,
  transaction,
  whileLocked,
  withSession,
} from './pool.ts'

// Each test has a database of its own, and mostly waits.
t.jobs = 4

t.test(
  'a server whose host has vanished is given up, and the connection is not used again',
  async t => {
    const database = await createTestDatabase(t)
    const link = await openLinkTo(database.url)
    const pool = createPool(link.url, 'test', () => {}, { ...PATIENT, max: 1, queryTimeout: 2_000 })
    t.teardown(async () => {
      await link.close()
      await pool.end()
    })
    await pool.query('select 1')
    link.silence()
    const lost = transaction(pool, client => client.query('select 2'))
    const error: unknown = await lost.then(
      () => null,
      (reason: unknown) => reason,
    )
    t.ok(isTransient(error), 'the work may be tried again')
    t.equal(pool.totalCount, 0)
    link.mend()
    t.equal((await pool.query('select 3')).rowCount, 1)
  },
)

t.test('a connection that is lost at its first statement ends no process', async t => {
  const database = await createTestDatabase(t)
  let cuts = 0
  const proxy = createServer(client => {
    const server = connect(Number(new URL(database.url).port), '127.0.0.1')
    for (const socket of [client, server]) socket.on('error', () => {})
    client.on('data', bytes => {
      const isStatement = /^[PQ]/.test(bytes.toString('latin1', 0, 1))
      if (!isStatement || cuts === 0) return void server.write(bytes)
      cuts -= 1
      client.resetAndDestroy()
    })
    server.on('data', bytes => client.write(bytes)).on('close', () => client.destroy())
    client.on('close', () => server.destroy())
  })
  const url = Object.assign(new URL(database.url), { port: await listen(proxy) }).href
  const pool = createPool(url, 'test', () => {}, PATIENT)
  const queues = openQueues(
    { ...readConfig({}), DATABASE_URL: url },
    createLogger('test', 'silent'),
  )
  const workers: ReturnType<Queues['work']>[] = []
  t.teardown(async () => {
    for (const worker of workers) await worker.close(true)
    await queues.close()
    await pool.end()
    proxy.close()
  })
  const asks = {
    'the pool verifies it': () => pool.query('select 1'),
    'a queue reads its schema': () => queues.counts(),
    'a worker starts': async () =>
      void workers.push(queues.work('embed', async () => {}, { concurrency: 1 })),
  }
  for (const [name, ask] of Object.entries(asks)) {
    cuts = 1
    await ask().then(
      () => {},
      (error: unknown) => t.ok(isTransient(error), `${name}: the work may be tried again`),
    )
    await until(() => cuts === 0, 10_000)
    await ask()
  }
})

t.test(
  'the server asks whether our host is still there, so that a lost host gives up its locks',
  async t => {
    const database = await createTestDatabase(t)
    const pool = createPool(database.url, 'test', () => {}, {
      ...PATIENT,
      settings: { jit: 'off' },
    })
    t.teardown(() => pool.end())
    const { rows } = await pool.query<{ idle: string; jit: string }>(
      "select current_setting('tcp_keepalives_idle') as idle, current_setting('jit') as jit",
    )
    t.same(rows, [{ idle: '10', jit: 'off' }])
  },
)

t.test(
  'a standby is refused where the primary should be, and the work may be tried again',
  async t => {
    const folder = await mkdtemp(join(tmpdir(), 'perscope-test-'))
    await chmod(folder, 0o755)
    const dataDir = await openDataDirectory(folder, `a test (process ${process.pid})`)
    const start = () =>
      startServers(dataDir, { servers: ['postgres'], report: () => {}, throwaway: true })
    await (await start()).stop()
    // Makes a standby without a primary. It never becomes a primary.
    await writeFile(join(dataDir.path, 'postgres', 'standby.signal'), '')
    const servers = await start()
    const url = servers.addresses.DATABASE_URL ?? ''
    const pool = createPool(url, 'test', () => {}, PATIENT)
    const reading = createPool(url, 'test', () => {}, { ...PATIENT, mayBeStandby: true })
    t.teardown(async () => {
      await pool.end()
      await reading.end()
      await servers.stop()
      dataDir.release()
      await rm(folder, { recursive: true, force: true })
    })
    const error: unknown = await pool.query('select 1').catch((reason: unknown) => reason)
    t.ok(isTransient(error), 'the work may be tried again')
    t.match(error, { message: /is a standby/ })
    t.equal((await reading.query('select 1')).rowCount, 1)
  },
)

t.test(
  'a session that is lost while it holds a lock ends neither the work nor the process',
  async t => {
    const { pool, database } = await createTestPool(t)
    const { query } = database
    const holders = `from pg_locks where locktype = 'advisory' and objid = 7
    and database = (select oid from pg_database where datname = current_database())`
    const done = await whileLocked(pool, 7n, async () => {
      await query(`select pg_terminate_backend(pid) ${holders}`)
      await until(async () => (await query(`select ${holders}`)).length === 0, 10_000)
      return 'done'
    })
    t.equal(done, 'done')
    t.equal(await whileLocked(pool, 7n, async () => 'again'), 'again')
  },
)

t.test('a session that falls silent loses its lock to others', async t => {
  const { pool } = await createTestPool(t)
  const done = await withSession(pool, '200ms', session =>
    locking(session, 8n, false, async () => {
      await until(
        async () => (await whileLocked(pool, 8n, async () => 'theirs')) === 'theirs',
        10_000,
      )
      return 'ours'
    }),
  )
  t.equal(done, 'ours', 'the work goes on')
})

t.test('a session that gives signs of life keeps its lock', async t => {
  const { pool } = await createTestPool(t)
  const others = () => pause(2_000).then(() => whileLocked(pool, 9n, async () => 'theirs'))
  const found = await withSession(pool, '500ms', session =>
    locking(session, 9n, false, () => keepingAlive(session, others, 50)),
  )
  t.equal(found, null)
})

t.test('the statements of a caller are told with their time, and end when it leaves', async t => {
  const { pool } = await createTestPool(t)
  const leaves = new AbortController()
  const took: number[] = []
  const db = endingWith(pool, leaves.signal, async ms => void took.push(ms))
  const { rows } = await db.query<{ is: number }>('select $1::int as is, pg_sleep(0.05)', [1])
  t.equal(rows[0]?.is, 1)
  t.ok(took.length === 1 && took[0]! >= 49)
  const sleeping = db.query('select pg_sleep(60)')
  await until(async () => (await asleep(pool)).length === 1, 10_000)
  const [pid] = await asleep(pool)
  leaves.abort(new Error('left'))
  await t.rejects(sleeping, /left/)
  t.same(await asleep(pool), [], 'Postgres has ended it before its caller goes on')
  t.equal(took.length, 2, 'it is charged, too')
  const others = [1, 2].map(() => pool.query('select pg_backend_pid() as pid, pg_sleep(0.1)'))
  const pids = (await Promise.all(others)).map(other => other.rows[0].pid)
  t.ok(pids.includes(pid), 'its connection serves others')
  await t.rejects(db.query('select 1'), /left/)
  t.equal(took.length, 2)
})

t.test('a statement that does not end when its caller leaves loses its connection', async t => {
  const { pool } = await createTestPool(t)
  const leaves = new AbortController()
  const took: number[] = []
  const db = endingWith(pool, leaves.signal, async ms => void took.push(ms))
  const sleeping = db.query(`
    do $$ begin loop
      begin perform pg_sleep(60); exception when query_canceled then end;
    end loop; end $$`)
  await until(async () => (await asleep(pool)).length === 1, 10_000)
  leaves.abort(new Error('left'))
  await t.rejects(sleeping, /left/)
  t.equal(pool.totalCount, 1, 'only the connection that looks is left')
  t.equal(took.length, 1)
  await until(async () => (await asleep(pool)).length === 0, 10_000)
})

/** The processes of Postgres that sleep for a minute. */
const asleep = (pool: Pool) =>
  readColumn<number>(
    pool,
    "select pid from pg_stat_activity where query like '%pg_sleep(60%' and pid <> pg_backend_pid() and state = 'active' and datname = current_database()",
  )
