import t from 'tap'
import { holdLock } from '#test/database'
import { until } from '#test/fleet'
import { startTestApi } from './api.ts'

t.test('/readyz says no while the index is read into memory, and yes when it is', async t => {
  const api = await startTestApi(t)
  t.match(
    (await api.ask(null, '/readyz')).json,
    { status: 'degraded', warm: true },
    'an empty index is warm',
  )
  await api.index([{ title: 'Een bericht' }])
  // New articles cannot be read meanwhile.
  const release = await holdLock(api.pool, 'lock table article_words in access exclusive mode')
  try {
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
    await release()
    await until(async () => (await ready()).status === 200, 10_000, 'it is not ready')
    t.strictSame((await ready()).body, { status: 'degraded', missing: ['model'], warm: true })
  } finally {
    await release()
  }
})
