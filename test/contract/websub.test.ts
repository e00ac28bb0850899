import t from 'tap'
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
