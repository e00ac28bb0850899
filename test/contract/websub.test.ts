import t from 'tap'
import { until } from '../fleet.ts'
import { startTestApi } from './api.ts'

t.setTimeout(120_000)

const TOKEN = 'a'.repeat(43)

t.test('hubs reach their addresses without a key, and nothing else beside them', async t => {
  const api = await startTestApi({ WEBSUB_PUBLIC_URL: 'https://news.example' })
  t.teardown(() => api.stop())
  t.equal((await api.ask(null, `/websub/${TOKEN}?hub.mode=subscribe`)).status, 404)
  t.equal((await api.ask(null, `/websub/${TOKEN}`, { method: 'POST', body: 'x' })).status, 410)
  t.equal((await api.ask(null, `/websub/${TOKEN}`, { method: 'DELETE' })).status, 401)
  t.equal((await api.ask(null, '/websub/short')).status, 401)
  t.equal((await api.ask(null, '/websub/')).status, 401)
})

t.test('without WEBSUB_PUBLIC_URL there are no such addresses', async t => {
  const api = await startTestApi()
  t.teardown(() => api.stop())
  t.equal((await api.ask(null, `/websub/${TOKEN}`, { method: 'POST', body: 'x' })).status, 401)
  const { secret } = await api.issue()
  t.equal((await api.ask(secret, `/websub/${TOKEN}`)).status, 404)
})

t.test('calls that wait for the database leave connections for clients', async t => {
  const api = await startTestApi({ WEBSUB_PUBLIC_URL: 'https://news.example' })
  t.teardown(() => api.stop())
  const { secret } = await api.issue()
  const holder = await api.pool.connect()
  await holder.query('set idle_in_transaction_session_timeout = 0')
  await holder.query('begin')
  await holder.query('lock table websub_subscriptions in access exclusive mode')
  const calls = Array.from({ length: 30 }, () => api.ask(null, `/websub/${TOKEN}`, { method: 'POST', body: 'x' }))
  const waiting = async () =>
    (await api.pool.query("select from pg_stat_activity where wait_event_type = 'Lock' and query like '%websub%'"))
      .rowCount ?? 0
  await until(async () => (await waiting()) > 0, 60_000)
  t.equal((await api.ask(secret, '/v1/articles')).status, 200)
  t.equal(await waiting(), 1)
  await holder.query('commit')
  holder.release(true)
  for (const { status } of await Promise.all(calls)) t.ok(status === 410 || status === 503, `${status}`)
})
