import t from 'tap'
import { until } from '../fleet.ts'
import { startTestApi } from './api.ts'

t.test('/readyz says no while the archive is read into memory, and yes when it is', { timeout: 60_000 }, async t => {
  const api = await startTestApi(t)
  t.match((await api.ask(null, '/readyz')).json, { status: 'degraded', warm: true }, 'an empty archive is warm')
  await api.index([{ title: 'Een bericht' }])
  const client = await api.pool.connect()
  try {
    // New articles cannot be read meanwhile.
    await client.query('begin')
    await client.query('lock table article_words in access exclusive mode')
    const other = await api.another()
    const ready = async () => {
      const response = await fetch(`${other.base}/readyz`)
      return { status: response.status, body: await response.json() }
    }
    t.strictSame(await ready(), {
      status: 503,
      body: { status: 'warming up', missing: ['model'], warm: false },
    })
    t.equal((await fetch(`${other.base}/healthz`)).status, 200)
    await client.query('commit')
    await until(
      async () => (await ready()).status === 200,
      10_000,
      () => 'it is not ready',
    )
    t.strictSame((await ready()).body, { status: 'degraded', missing: ['model'], warm: true })
  } finally {
    await client.query('rollback')
    client.release()
  }
})
