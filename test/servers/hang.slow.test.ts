import t from 'tap'
import { ask } from '#test/database'
import { until } from '#test/fleet'
import { INSPECTOR_ON_ANY_PORT, spin } from '#test/spin'
import { descendants, runServers, temporaryFolder, untilGone } from './running.ts'

/** How a server is known in a list of processes. */
const SERVERS = {
  Postgres: '/bin/postgres -D',
  Qdrant: '/bin/qdrant ',
  'The model server': 'serve.py',
} as const

t.test('a server that hangs is replaced on the same address', async t => {
  const dataDir = temporaryFolder(t)
  const servers = runServers(dataDir)
  const env = await servers.addresses()
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
  t.equal((await ask(env.DATABASE_URL ?? '', 'select')).length, 1)
  t.ok((await fetch(`${env.QDRANT_URL}/readyz`)).ok)
  t.ok((await fetch(new URL('/health', env.EMBEDDINGS_URL))).ok)
  t.equal(await servers.stop(), 0)
})

t.test('a supervisor that hangs ends itself, and its servers with it', async t => {
  const dataDir = temporaryFolder(t)
  const servers = runServers(dataDir, { EVENT_LOOP_TIMEOUT: '5s', ...INSPECTOR_ON_ANY_PORT })
  await servers.addresses()
  const children = descendants(servers.pid).map(({ pid }) => pid)
  await spin(servers.pid, servers.said)
  t.equal(await servers.ended, null, 'by a signal')
  t.match(
    servers.said(),
    /^servers: the event loop stood still for 5 s in spin [^\n]+; the process ends itself\.$/m,
  )
  await untilGone(children, 10_000)
})
