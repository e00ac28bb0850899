import { connect, createServer, type Socket } from 'node:net'
import t from 'tap'
import { until } from '../fleet.ts'
import { noSemanticSearch, startTestApi } from './api.ts'

t.setTimeout(280_000)

/** A proxy to Postgres that can be cut, and can go silent. */
async function wire(databaseUrl: string) {
  const target = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  let state: 'up' | 'cut' | 'silent' = 'up'
  const server = createServer(near => {
    if (state === 'cut') return void near.destroy()
    const far = connect(Number(target.port), target.hostname)
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.on('error', () => {})
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
      from.on('data', bytes => {
        if (state !== 'silent') to.write(bytes)
      })
    }
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const url = new URL(databaseUrl)
  url.host = `127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  return {
    url: url.href,
    set(next: 'up' | 'cut' | 'silent') {
      state = next
      // A silent connection stays silent, because its bytes were dropped.
      if (next !== 'silent') for (const socket of sockets) socket.destroy()
    },
    close() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

let line: Awaited<ReturnType<typeof wire>> | undefined
const api = await startTestApi({ SEARCH_TIMEOUT: '1s' }, noSemanticSearch, async url => {
  line = await wire(url)
  return line.url
})
t.teardown(async () => {
  line?.set('up')
  await api.stop()
  line?.close()
})
const { secret } = await api.issue({ quota: 100 })
await api.index([{ title: 'Een brug' }])

for (const state of ['cut', 'silent'] as const) {
  t.test(
    `decision 7: with the database ${state}, every request fails in bounded time, and all is well ten seconds after`,
    async t => {
      const before = await api.ask(secret, '/v1/articles')
      t.equal(before.status, 200)
      line?.set(state)
      const start = Date.now()
      const answers = await Promise.all([
        ...Array.from({ length: 20 }, () => api.ask(secret, '/v1/articles')),
        api.ask(null, '/v1/articles'),
        api.ask('wrong', '/v1/articles'),
      ])
      const ms = Date.now() - start
      t.comment(`${state}: ${answers.length} requests answered within ${ms} ms`)
      t.ok(ms < 15_000)
      for (const { status, json, headers } of answers) {
        t.equal(status, 500)
        t.equal(json.code, 'internal_error')
        t.strictSame(Object.keys(json), ['status', 'code', 'message'])
        t.ok(headers.has('x-request-id'))
      }
      const ready = await api.ask(null, '/readyz')
      t.equal(ready.status, 503)
      t.strictSame(ready.json, { status: 'unavailable', missing: ['postgres', 'model'] })
      t.equal((await api.ask(null, '/healthz')).status, 200)

      line?.set('up')
      await until(
        async () => (await api.ask(secret, '/v1/articles')).status === 200,
        10_000,
        () => 'it did not recover',
      )
      const after = await api.ask(secret, '/v1/articles')
      t.ok(
        Number(after.headers.get('x-quota-remaining')) >= Number(before.headers.get('x-quota-remaining')) - 3,
        'decision 5: what was not answered was not charged',
      )
    },
  )
}
