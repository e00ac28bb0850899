import t from 'tap'
import { until } from '#test/fleet'
import { type LinkToServer, openLinkTo } from '#test/fleet/links/link'
import { noSemanticSearch, startTestApi } from './api.ts'

let line: LinkToServer | undefined
// After the API has stopped.
t.teardown(() => line?.close())
const api = await startTestApi(t, { SEARCH_TIMEOUT: '1s' }, noSemanticSearch, async databaseUrl => {
  line = await openLinkTo(databaseUrl)
  return line.url
})
const { secret } = await api.issue({ quota: 100 })
await api.index([{ title: 'Een brug' }])

for (const state of ['break', 'silence'] as const) {
  t.test(
    `decision 7: a ${state} of the way to Postgres fails requests while it lasts, no longer`,
    async t => {
      const before = await api.ask(secret, '/v1/articles')
      t.equal(before.status, 200)
      line?.[state]()
      const start = Date.now()
      const answers = await Promise.all([
        ...Array.from({ length: 20 }, () => api.ask(secret, '/v1/articles')),
        api.ask(null, '/v1/articles'),
        api.ask('wrong', '/v1/articles'),
      ])
      // The way is mended only below, so no answer waits for that.
      t.comment(`${state}: ${answers.length} requests answered within ${Date.now() - start} ms`)
      for (const { status, json, headers } of answers) {
        t.match([status, json.code, headers.get('retry-after')], [503, 'service_unavailable', '30'])
        t.strictSame(Object.keys(json), ['status', 'code', 'message'])
        t.ok(headers.has('x-request-id'))
      }
      const ready = await api.ask(null, '/readyz')
      t.equal(ready.status, 503)
      t.strictSame(ready.json, { status: 'unavailable', missing: ['postgres', 'model'] })
      t.equal((await api.ask(null, '/healthz')).status, 200)

      line?.mend()
      await until(
        async () => (await api.ask(secret, '/v1/articles')).status === 200,
        60_000,
        'it did not recover',
      )
      const after = await api.ask(secret, '/v1/articles')
      const [had, has] = [before, after].map(({ headers }) =>
        Number(headers.get('x-quota-remaining')),
      )
      t.ok(has! >= had! - 3, 'decision 5: what was not answered was not charged')
    },
  )
}
