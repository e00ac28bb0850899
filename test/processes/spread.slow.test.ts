import { connect } from 'node:net'
import t from 'tap'
import { HTTP_LIMITS } from '#services/api/http/limits'
import { ask } from '#test/contract/api'
import { sendRaw } from '#test/contract/raw'
import { freePort, until } from '#test/fleet'
import { startCores } from './cores.ts'

const OPERATOR_KEY = 'k'.repeat(24)
const metrics = String(await freePort())
const cores = await startCores({ METRICS_PORT: metrics, OPERATOR_KEY })
t.teardown(() => cores.stop())
await cores.serving(2)
const metricsText = async () => (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text()

t.test('connections go to all processes, and each stays with its own', async t => {
  const clients = Array.from({ length: 8 }, cores.client)
  const first = await Promise.all(clients.map(client => client.ask('/healthz')))
  for (const number of ['1', '2']) {
    const count = first.filter(one => one.process === number).length
    t.ok(count >= 2, `process ${number} has ${count}`)
  }
  t.same(await Promise.all(clients.map(client => client.ask('/healthz'))), first)
  for (const client of clients) client.leave()
})

t.test('one metrics port shows the figures of each process, and that all is well', async t => {
  const text = await metricsText()
  const counts = [...text.matchAll(/^perscope_api_request_seconds_count\{(.*)\} (\d+)$/gm)]
  for (const number of ['1', '2']) {
    t.ok(
      counts.some(
        ([, labels = '']) =>
          labels.includes(`process="${number}"`) && labels.includes('service="api"'),
      ),
    )
  }
  const asked = cores.primary
    .log()
    .split('\n')
    .filter(line => line.includes('"msg":"request"')).length
  const sum = counts.reduce((sum, [, , count]) => sum + Number(count), 0)
  t.equal(sum, asked)
  t.match(text, /^perscope_ready\{service="api",process="primary"\} 1$/m)
  t.equal(text.match(/^# TYPE perscope_api_request_seconds /gm)?.length, 1)
  t.equal(text.match(/^process_resident_memory_bytes\{/gm)?.length, 3)
  t.equal((await fetch(`http://127.0.0.1:${metrics}/readyz`)).status, 200)
})

t.test('the page for operators counts the processes, not their connections', async t => {
  const figures = async () =>
    (await ask(`http://127.0.0.1:${cores.port}/status/figures`, OPERATOR_KEY)).json
  await until(
    async () => (await figures())?.running?.processes.api === 2,
    60_000,
    'there are not two',
  )
  t.equal((await figures()).running.processes.crawler, 0)
})

t.test('the sum of the caches is that of one process', async t => {
  const limits = [
    ...(await metricsText()).matchAll(
      /^perscope_search_cache_bytes\{cache="articles",kind="limit".*\} (\d+)$/gm,
    ),
  ]
  t.equal(limits.length, 2)
  t.equal(new Set(limits.map(([, bytes]) => bytes)).size, 1)
})

t.test('a client that sends its headers too slowly is answered 408, as by one process', async t => {
  const { text } = await sendRaw(
    `http://127.0.0.1:${cores.port}`,
    'GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: ',
  )
  t.match(text, /^HTTP\/1\.1 408 /)
})

t.test('one address has its share of connections once, not once in each process', async t => {
  await cores.quiet()
  const beyond = 20
  const sockets = Array.from({ length: HTTP_LIMITS.connectionsPerAddress + beyond }, () =>
    connect(cores.port, '127.0.0.1').on('error', () => {}),
  )
  t.teardown(() => sockets.forEach(socket => void socket.destroy()))
  for (const socket of sockets) socket.resume()
  // Those that were let in are closed later, with an answer: they send no request. A few other
  // connections of this test are open too.
  const refused = () => sockets.filter(socket => socket.destroyed && socket.bytesRead === 0).length
  await until(
    () => refused() >= beyond,
    20_000,
    () => `${refused()} were refused`,
  )
  // Each process has half of the share, and one may have got a few more connections.
  t.ok(refused() < 10 * beyond, `${refused()} were refused`)
})
