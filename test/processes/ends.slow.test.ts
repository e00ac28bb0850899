import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { createTestDatabase } from '#test/database'
import { freePort, heard, until } from '#test/fleet'
import { INSPECTOR_ON_ANY_PORT, spin } from '#test/spin'
import { askOn, type Cores, isAlive, NO_ANSWER, startCores } from './cores.ts'

// One service outlives all tests but those that end it.
const shared = await startCores({ EVENT_LOOP_TIMEOUT: '5s', ...INSPECTOR_ON_ANY_PORT })
t.teardown(() => shared.stop())

/** Two processes, and a client that keeps its connection open. */
async function running(cores = shared) {
  await cores.serving(2)
  t.equal((await cores.client().ask()).status, 200)
  return cores
}

/** The same for a test alone. */
async function runningAlone(t: Test) {
  const cores = await startCores()
  t.teardown(() => cores.stop())
  return await running(cores)
}

const ended = async (members: number[]) => until(() => !members.some(isAlive), 60_000)

/** Asks until it is stopped, each time on a connection of its own. */
function load(t: Test, cores: Cores) {
  const asked = askOn(async () => {
    // Without a pause the clients take more of the processors than the service.
    await pause(5)
    const client = cores.client()
    return client.status().finally(client.leave)
  })
  t.teardown(asked.stop)
  return asked
}

t.test('a killed process is replaced, and the other one answers meanwhile', async t => {
  const cores = await running()
  const [killed = 0] = cores.pids()
  const asked = load(t, cores)
  await pause(500)
  // Stopped first, so that it dies with a connection that it has not taken.
  process.kill(killed, 'SIGSTOP')
  await pause(500)
  process.kill(killed, 'SIGKILL')
  await until(() => cores.primary.log().includes('ended by SIGKILL; it is started again'), 60_000)
  await cores.serving(2)
  await asked.stop()
  t.notOk(cores.pids().includes(killed))
  t.equal(cores.pids().length, 2)
  const failed = asked.failed()
  t.ok(asked.answers.length > 20)
  t.ok(failed.length <= 4, `only what the killed one had in hand failed: ${failed}`)
  t.notOk(String(failed).includes(NO_ANSWER), 'and it was told so')
})

t.test('a process whose event loop stands still ends itself, and is replaced', async t => {
  const cores = await running()
  const [hung = 0] = cores.pids()
  await spin(hung, cores.primary.log)
  await until(() => !cores.pids().includes(hung) && cores.pids().length === 2, 60_000)
  const fatal = cores.primary
    .log()
    .split('\n')
    .find(line => line.includes('"fatal"'))
  t.match(JSON.parse(fatal ?? '{}'), { service: 'api', process: /^[12]$/, calls: [/^spin /] })
  await cores.serving(2)
})

t.test('SIGUSR2 replaces all processes under load, and no request fails', async t => {
  const cores = await running()
  const pids = cores.pids()
  const asked = load(t, cores)
  cores.primary.process.kill('SIGUSR2')
  await until(
    () => cores.pids().length === 2 && !cores.pids().some(pid => pids.includes(pid)),
    60_000,
    cores.primary.log,
  )
  await asked.stop()
  t.ok(asked.answers.length > 20)
  t.same(asked.failed(), [])
  await cores.serving(2)
})

t.test('a stopped process gets no further connections', async t => {
  const cores = await running()
  const [stopped = 0] = cores.pids()
  process.kill(stopped, 'SIGSTOP')
  t.teardown(() => process.kill(stopped, 'SIGCONT'))
  // The one that was handed to it waits; all others are answered.
  const clients = Array.from({ length: 8 }, cores.client)
  let answered = 0
  for (const client of clients)
    void client.ask().then(
      () => answered++,
      () => {},
    )
  await until(
    () => answered >= 7,
    20_000,
    () => `${answered} were answered`,
  )
  for (const client of clients) client.leave()
})

t.test('SIGTERM ends all processes, also with connections that are kept open', async t => {
  const cores = await running()
  const pids = cores.pids()
  t.equal(pids.length, 2)
  cores.primary.process.kill('SIGTERM')
  t.equal(await cores.primary.exited, 0)
  t.notOk(pids.some(isAlive))
})

t.test('a second SIGTERM ends all processes at once', async t => {
  const cores = await runningAlone(t)
  const pids = cores.pids()
  // A request that is never complete keeps its process from ending.
  const said: Buffer[] = []
  const sockets = Array.from({ length: 4 }, () =>
    connect(cores.port, '127.0.0.1').on('error', () => {}),
  )
  for (const socket of sockets)
    socket.on('data', data => said.push(data)).write('GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: ')
  await pause(500)
  cores.primary.process.kill('SIGTERM')
  await pause(700)
  t.ok(pids.some(isAlive))
  cores.primary.process.kill('SIGTERM')
  t.equal(await cores.primary.exited, 143)
  await ended(pids)
  t.same(said, [], 'nobody waited until the requests were given up')
})

t.test('no process outlives a killed primary, and its port is free at once', async t => {
  const cores = await runningAlone(t)
  const pids = cores.pids()
  cores.primary.process.kill('SIGKILL')
  await cores.primary.exited
  const next = createServer().listen(cores.port, '127.0.0.1')
  await once(next, 'listening')
  next.close()
  await ended(pids)
})

t.test('a port in use is said once', async t => {
  const port = await freePort()
  const other = createServer().listen(port, '127.0.0.1')
  await once(other, 'listening')
  t.teardown(() => other.close())
  const database = await createTestDatabase(t)
  const { code, text } = await starting({ DATABASE_URL: database.url, PORT: String(port) })
  t.equal(code, 1)
  t.equal(
    text.match(/^api: Port \d+ of 127\.0\.0\.1 is in use; set PORT to a free one\.$/gm)?.length,
    1,
  )
})

t.test('a process that cannot start ends the service with its sentence, said once', async t => {
  const database = await createTestDatabase(t)
  const { code, text } = await starting({ DATABASE_URL: database.url, TRUST_PROXY: 'nonsense' })
  t.equal(code, 1)
  t.equal(text.match(/^api: /gm)?.length, 1)
  t.match(text, /TRUST_PROXY/)
})

/** Starts an API that is expected to end by itself. */
async function starting(env: Record<string, string>): Promise<{ code: unknown; text: string }> {
  const main = new URL('../../services/api/main.ts', import.meta.url).pathname
  const child = spawn(process.execPath, [main], {
    env: { ...process.env, HOST: '127.0.0.1', WEB_CONCURRENCY: '2', REDIS_URL: '', ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const text = heard(child.stderr)
  const [code] = await once(child, 'close')
  return { code, text: text() }
}
