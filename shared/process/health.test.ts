import { createServer } from 'node:net'
import t from 'tap'
import { registry } from '#shared/metrics'
import { sendRaw } from '#test/contract/raw'
import { startHealthServer } from './health.ts'
import { listen } from './listen.ts'

let looks = 0
const metrics = () => registry().metrics()
const missing = async () => {
  looks++
  return looks > 1 ? { postgres: 'does not answer' } : {}
}
const server = await startHealthServer(0, '127.0.0.1', missing, metrics)
t.teardown(() => server.close())
const get = async (path: string) => {
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`)
  return { status: response.status, text: await response.text() }
}

/** Sends bytes, and returns all text until the connection ends. */
const raw = async (bytes: string) =>
  (await sendRaw(`http://127.0.0.1:${server.port}`, Buffer.from(bytes, 'latin1'))).text

/** It is waited for beside everything else. */
const late = raw('GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: ')

t.test('however often it is asked, the dependencies are looked at once a second', async t => {
  const began = performance.now()
  const answers = await Promise.all(Array.from({ length: 50 }, () => get('/readyz')))
  // On a slow machine, the requests may take longer than a second.
  const seconds = Math.ceil((performance.now() - began) / 1_000)
  t.ok(looks <= 1 + seconds, `${looks} looks in ${seconds} s`)
  const texts = new Set(answers.map(({ text }) => text))
  t.ok(texts.delete('{"status":"ok","missing":[],"reasons":{}}'))
  if (looks === 1) t.equal(texts.size, 0)
  else
    t.strictSame(
      [...texts],
      ['{"status":"unavailable","missing":["postgres"],"reasons":{"postgres":"does not answer"}}'],
    )
  t.match((await get('/metrics')).text, /perscope_ready/)
})

t.test('loopback answers under its own names alone, whatever leads a browser here', async t => {
  const asked = async (host: string) =>
    (await raw(`GET /metrics HTTP/1.1\r\n${host}Connection: close\r\n\r\n`)).slice(9, 12)
  for (const own of ['localhost', `127.0.0.1:${server.port}`, '[::1]:1'])
    t.equal(await asked(`Host: ${own}\r\n`), '200')
  for (const other of ['evil.example', 'localhost.evil.example', '127.0.0.1.evil.example'])
    t.equal(await asked(`Host: ${other}\r\n`), '421', other)
})

t.test('what is malformed or too slow ends its connection', async t => {
  for (const bytes of [
    'GET foo HTTP/1.1\r\n\r\n',
    'hello\r\n\r\n',
    '\x16\x03\x01\x02\x00',
    'GET /\xe9 HTTP/1.1\r\n\r\n',
  ]) {
    t.match(await raw(bytes), /^HTTP\/1\.1 400 /)
  }
  t.equal(await raw('CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n'), '')
  t.match(await late, /^HTTP\/1\.1 408 /)
  t.equal((await get('/healthz')).status, 200)
})

t.test('an address that cannot be listened to says what to set', async t => {
  const ask = (port: number, host: string) => {
    const server = createServer()
    t.teardown(() => server.close())
    return listen(server, port, host)
  }
  const port = await ask(0, '127.0.0.1')
  await t.rejects(ask(port, '127.0.0.1'), { message: /is in use; set PORT/ })
  for (const host of ['192.0.2.1', '999.1.1.1', 'fe80::1'])
    await t.rejects(ask(0, host), {
      message: `${host} is no address of this machine; set HOST to one that is.`,
    })
  await t.rejects(
    startHealthServer(port, '127.0.0.1', async () => ({}), metrics),
    { message: `Port ${port} of 127.0.0.1 is in use; set METRICS_PORT to a free one.` },
  )
})
