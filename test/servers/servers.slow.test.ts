import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { ask } from '#test/database'
import { until } from '#test/fleet'
import { INSPECTOR_ON_ANY_PORT, spin } from '#test/spin'
import { descendants, runServers, stillRunning, temporaryFolder, untilGone } from './running.ts'

const dataDir = temporaryFolder(t)
/** How a server is known in a list of processes. */
const SERVERS = {
  Postgres: '/bin/postgres -D',
  Qdrant: '/bin/qdrant ',
  'The model server': 'serve.py',
} as const

async function count(databaseUrl: string): Promise<number> {
  await ask(databaseUrl, 'create table if not exists starts (at timestamptz)')
  await ask(databaseUrl, 'insert into starts values (now())')
  return (await ask(databaseUrl, 'select from starts')).length
}

const isUp = async (address: string | undefined) => (await fetch(address ?? '')).ok

/** What stands at the end of the model server's address is where texts are posted to. */
const healthOf = (address: string | undefined) => address?.replace('/v1/embeddings', '/health')

t.test(
  'servers accept connections when their addresses are written, on loopback below port 32768; one that hangs is replaced',
  async t => {
    const servers = runServers(dataDir)
    const env = await servers.addresses()
    t.equal(await count(env.DATABASE_URL ?? ''), 1, 'Postgres takes statements')
    t.same(await ask(env.DATABASE_URL ?? '', 'show data_checksums'), [{ data_checksums: 'on' }])
    t.ok(await isUp(`${env.QDRANT_URL}/readyz`), 'Qdrant is ready')
    t.ok(await isUp(healthOf(env.EMBEDDINGS_URL)), 'the model server is ready')
    t.equal(servers.mode(), 0o600, 'the file holds passwords and keys')
    const addresses = Object.entries(env).filter(([name]) => name.endsWith('_URL'))
    for (const [, address = ''] of addresses) {
      const { hostname, port } = new URL(address)
      t.equal(hostname, '127.0.0.1')
      t.ok(Number(port) > 1023 && Number(port) < 32_768, `port ${port}`)
    }

    const pidOf = (part: string) =>
      descendants(servers.pid).find(
        ({ parent, command }) => parent === servers.pid && command.includes(part),
      )?.pid ?? 0
    const before = Object.values(SERVERS).map(part => [part, pidOf(part)] as const)
    for (const [part, pid] of before) {
      t.ok(pid, part)
      process.kill(pid, 'SIGSTOP')
    }
    await until(
      () => before.every(([part, pid]) => ![0, pid].includes(pidOf(part))),
      60_000,
      servers.said,
    )
    for (const name of Object.keys(SERVERS))
      t.match(servers.said(), `${name} has not answered for 30 s and is ended.`)
    const isBack = (name: string) => servers.said().includes(`${name} is back.`)
    await until(() => Object.keys(SERVERS).every(isBack), 60_000, servers.said)
    t.equal(await count(env.DATABASE_URL ?? ''), 2, 'on the same address')
    t.ok((await isUp(`${env.QDRANT_URL}/readyz`)) && (await isUp(healthOf(env.EMBEDDINGS_URL))))

    const children = descendants(servers.pid).map(seen => seen.pid)
    t.ok(children.length >= 4)
    t.equal(await servers.stop(), 0, 'SIGTERM ends it with 0')
    await untilGone(children, 20_000)
  },
)

t.test(
  'ports and data are the same at the next start, and a child that died is back on its address',
  async t => {
    const { postgres } = JSON.parse(await readFile(join(dataDir, 'ports.json'), 'utf8'))
    const servers = runServers(dataDir)
    const env = await servers.addresses()
    t.equal(new URL(env.DATABASE_URL ?? '').port, String(postgres))
    t.equal(await count(env.DATABASE_URL ?? ''), 3, 'the data of the first start is there')

    for (const child of descendants(servers.pid).filter(seen => seen.parent === servers.pid)) {
      process.kill(child.pid, 'SIGKILL')
    }
    const vectors = async () =>
      (await isUp(`${env.QDRANT_URL}/readyz`)) && (await isUp(healthOf(env.EMBEDDINGS_URL)))
    await until(
      async () => (await count(env.DATABASE_URL ?? '')) > 0 && (await vectors()),
      45_000,
      servers.said,
    )
    await until(
      () => descendants(servers.pid).some(seen => seen.command.includes('watchdog.ts')),
      30_000,
    )
    t.pass('all killed children are back, the watchdog too')

    const children = descendants(servers.pid).map(seen => seen.pid)
    // A backend at work notices the end of its server only when it is done.
    const work = 'select count(*) from generate_series(1, 1e12::bigint)'
    ask(env.DATABASE_URL ?? '', work, 60_000).catch(() => {})
    await until(
      async () =>
        (await ask(env.DATABASE_URL ?? '', `select from pg_stat_activity where query = '${work}'`))
          .length > 0,
      30_000,
    )
    process.kill(-servers.pid, 'SIGKILL')
    await servers.ended
    await untilGone(children, 10_000)
    t.pass('no child outlives a SIGKILL of the group by more than 10 s')
  },
)

t.test('a start takes over what a SIGKILL left', async t => {
  // The id in the file belongs to a process that lives: the process of this test.
  await writeFile(
    join(dataDir, 'postgres', 'postmaster.pid'),
    `${process.pid}\n${join(dataDir, 'postgres')}\n`,
  )
  const servers = runServers(dataDir)
  const env = await servers.addresses()
  t.ok((await count(env.DATABASE_URL ?? '')) >= 4, 'a stale postmaster.pid; the data is there')

  // Together with its watchdog: then only the next start can end what is left.
  const children = descendants(servers.pid).filter(seen => seen.parent === servers.pid)
  const watchdog = children.find(seen => seen.command.includes('watchdog.ts'))
  process.kill(servers.pid, 'SIGSTOP')
  process.kill(watchdog?.pid ?? 0, 'SIGKILL')
  process.kill(servers.pid, 'SIGKILL')
  const next = runServers(dataDir)
  const again = await next.addresses()
  t.same(again, env, 'the same addresses')
  t.same(
    stillRunning(children.map(seen => seen.pid)),
    [],
    'the children of the killed one are gone',
  )
  t.ok((await count(again.DATABASE_URL ?? '')) >= 5)
  // A Postgres that stands still holds up the end that the first SIGTERM asks for.
  const last = descendants(next.pid).filter(seen => !seen.command.includes('watchdog.ts'))
  const others = last.filter(seen => !seen.command.includes('postgres'))
  for (const seen of last) if (!others.includes(seen)) process.kill(seen.pid, 'SIGSTOP')
  process.kill(next.pid, 'SIGTERM')
  await until(() => stillRunning(others.map(({ pid }) => pid)).length === 0, 20_000)
  await new Promise(resolve => setTimeout(resolve, 300))
  process.kill(next.pid, 'SIGTERM')
  t.equal(await next.ended, 143, 'a second SIGTERM means now')
})

t.test(
  'half an initdb is thrown away; a supervisor that hangs ends itself and its servers',
  async t => {
    const folder = temporaryFolder(t)
    const first = runServers(folder)
    await until(
      () =>
        first.said() !== '' || descendants(first.pid).some(seen => seen.command.includes('initdb')),
      20_000,
    )
    process.kill(-first.pid, 'SIGKILL')
    await first.ended
    const servers = runServers(folder, { EVENT_LOOP_TIMEOUT: '5s', ...INSPECTOR_ON_ANY_PORT })
    const env = await servers.addresses()
    t.equal(await count(env.DATABASE_URL ?? ''), 1, 'not taken for a database')

    const children = descendants(servers.pid).map(({ pid }) => pid)
    await spin(servers.pid, servers.said)
    t.equal(await servers.ended, null, 'by a signal')
    t.match(
      servers.said(),
      /^servers: the event loop stood still for 5 s in spin [^\n]+; the process ends itself\.$/m,
    )
    await untilGone(children, 10_000)
  },
)

t.test('a DATA_DIR that is removed under its servers is said', async () => {
  const servers = runServers(dataDir)
  await servers.addresses()
  await rm(dataDir, { recursive: true })
  await until(
    () => servers.said().includes(`DATA_DIR ${dataDir} was removed while it was in use: end`),
    30_000,
  )
  await servers.stop()
})
