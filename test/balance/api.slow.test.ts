import { Agent } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { SECRET_PATHS } from '#services/api/http/observe'
import { until } from '#test/fleet'
import { askOn, statusOf } from '#test/processes/cores'
import { startBalanced, WITHOUT_HAPROXY } from './balancer.ts'

if (WITHOUT_HAPROXY) t.plan(0, WITHOUT_HAPROXY)
else {
  const balanced = await startBalanced({ AUTH_LOCK_FAILURES: '3' })
  t.teardown(() => balanced.stop())
  /** Clients that ask on a connection each. */
  const load = (clients = 4) => {
    const agents = Array.from(
      { length: clients },
      () => new Agent({ keepAlive: true, maxSockets: 1 }),
    )
    const headers = { authorization: `Bearer ${balanced.secret}` }
    return askOn(async client => {
      // HAProxy allows an address 500 requests a second.
      await pause(10)
      return statusOf({ port: balanced.port, path: '/v1/articles', agent: agents[client], headers })
    }, clients)
  }
  const served = (number: 0 | 1) =>
    balanced.apis[number].log().match(/"msg":"request"/g)?.length ?? 0

  t.test('both APIs answer', async t => {
    const asked = load()
    await asked.more(40)
    await asked.stop()
    t.same(asked.failed(), [])
    t.ok(served(0) > 0 && served(1) > 0, `${served(0)} and ${served(1)} requests`)
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'limits' },
    })
    const headers = {
      authorization: `Bearer ${balanced.secret}`,
      'content-type': 'application/json',
    }
    for (let call = 0; call < 6; call++) {
      const told = await fetch(`http://127.0.0.1:${balanced.port}/mcp`, {
        method: 'POST',
        body,
        headers,
      })
      t.match(await told.json(), { result: { structuredContent: { data: { plan: {} } } } })
    }
    const logs = () => balanced.apis.map(({ log }) => log().match(/"tool":"limits"/g)?.length ?? 0)
    await until(() => logs()[0]! + logs()[1]! === 6, 10_000)
    t.ok(logs().every(Boolean), 'agents are balanced, and their tools stand in the log')
  })

  t.test('APIs that are replaced one after the other cost no request', async t => {
    const asked = load()
    for (const number of [0, 1] as const) {
      await asked.more(50)
      await balanced.end(number, 'SIGTERM')
      t.equal(await balanced.apis[number].exited, 0)
      await asked.more(50)
      await balanced.start(number)
      await asked.more(50)
      t.ok(served(number) > 0, 'the new one takes part')
    }
    await asked.stop()
    t.same(asked.failed(), [])
  })

  t.test('an API that is killed costs at most the requests that it had in hand', async t => {
    const asked = load(6)
    await asked.more(50)
    await balanced.end(0, 'SIGKILL')
    await asked.more(50)
    await balanced.start(0)
    await asked.more(50)
    await asked.stop()
    t.comment(`${asked.failed().length} of ${asked.answers.length} requests failed`)
    t.ok(asked.failed().length <= 6, `${asked.failed()}`)
  })

  t.test('an API that hangs gets no further requests', async t => {
    const [{ process: hung }] = balanced.apis
    hung.kill('SIGSTOP')
    t.teardown(() => hung.kill('SIGCONT'))
    await balanced.marked(0, 'DOWN')
    const asked = load()
    await asked.more(100)
    await asked.stop()
    t.same(asked.failed(), [])
    hung.kill('SIGCONT')
    await balanced.marked(0, 'UP')
  })

  t.test('a reload of HAProxy costs no request', async t => {
    const asked = load()
    for (let reload = 0; reload < 2; reload++) {
      await asked.more(50)
      await balanced.reload()
    }
    await asked.more(50)
    await asked.stop()
    t.same(asked.failed(), [])
  })

  t.test('an API sees the address of the client, whatever the client writes', async t => {
    const guess = (localAddress: string, headers: Record<string, string> = {}) => {
      const authorization = `Bearer pk_${'x'.repeat(43)}`
      return statusOf({
        port: balanced.port,
        path: '/v1/articles',
        localAddress,
        headers: { authorization, ...headers },
      })
    }
    const answers = []
    for (let i = 0; i < 4; i++)
      answers.push(await guess('127.0.0.5', { 'x-forwarded-for': `10.1.1.${i}` }))
    t.same(answers, [401, 401, 401, 429])
    t.equal(
      await guess('127.0.0.6', { 'x-forwarded-for': '127.0.0.5' }),
      401,
      'another client is not locked',
    )
  })

  t.test('the addresses of feeds and the links of mails are in no log of HAProxy', async t => {
    for (const name of SECRET_PATHS) {
      await statusOf({ port: balanced.port, path: `/${name}/geheim-adres` })
      await statusOf({ port: balanced.port, path: `//${name.toUpperCase()}/geheim-adres` })
      await until(() => balanced.log().includes(`GET /${name}/-\n`), 60_000)
      await until(() => balanced.log().includes(`GET /${name.toUpperCase()}/-\n`), 60_000)
    }
    t.notOk(balanced.log().includes('geheim-adres'))
  })

  t.test('without any API, every request gets an error object at once', async t => {
    await balanced.end(0, 'SIGTERM')
    await balanced.end(1, 'SIGTERM')
    for (const method of ['GET', 'POST']) {
      const answer = await fetch(`http://127.0.0.1:${balanced.port}/v1/articles`, { method })
      t.equal(answer.status, 503)
      t.equal(answer.headers.get('retry-after'), '5')
      t.match(await answer.json(), { status: 'error', code: 'service_unavailable' })
    }
    const page = await fetch(`http://127.0.0.1:${balanced.port}/`, {
      headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' },
    })
    t.equal(page.status, 503)
    t.match(page.headers.get('content-type'), /^text\/html/)
    t.match(await page.text(), /La recherche ne répond pas/, 'people get a page')
    await balanced.start(0)
    t.equal((await fetch(`http://127.0.0.1:${balanced.port}/healthz`)).status, 200)
  })
}
