import t from 'tap'
import { createFeed, type FeedWithToken } from '#shared/desk/feeds'
import { createKey } from '#shared/plans/keys'
import { createTestPool } from '#test/database'
import { createFleet, freePort, until } from '#test/fleet'
import { sendRaw } from './raw.ts'

const { database, pool } = await createTestPool(t)
const metricsPort = await freePort()
const fleet = createFleet(
  { DATABASE_URL: database.url, LOG_LEVEL: 'trace', METRICS_PORT: String(metricsPort) },
  t,
)
const plan = {
  countries: ['NL' as const],
  history: { kind: 'rolling' as const, days: 30 },
  rate: 1_000,
  quota: 9,
}
const { key } = await createKey(pool, 'test', plan)
const make = async (search: string): Promise<FeedWithToken> =>
  (await createFeed(pool, key.id, { search, title: 'x' }))!

t.test('the token of a feed is in no log line, metric or error', async t => {
  const api = await fleet.start('api')
  const good = await make('q=brug')
  const refused = await make('country=BE')
  const broken = await make('search=semantic&q=brug')
  const ended = await make('')
  await pool.query('update search_feeds set revoked_at = now() where feed_id = $1', [ended.feed.id])
  const answers: string[] = []
  const tokens = [good, refused, broken, ended].map(({ token }) => token)
  for (const token of tokens) {
    for (const path of [
      `/feeds/${token}.rss`,
      `/feeds/${token}.rss?country=BE`,
      `/feeds/${token}`,
      `/feeds/${token}.atom`,
      `/feeds/${token}.json`,
      `/FEEDS/${token}.rss`,
      `//feeds/${token}.rss`,
      `/feeds/${token}.rss/`,
      `/feeds/${token}%ff.rss`,
      `/feeds/../feeds/${encodeURIComponent(token)}.rss`,
      `/v1/${token}`,
      `/explore/feeds/${token}`,
    ]) {
      const response = await fetch(fleet.base() + path)
      answers.push([...response.headers].join('\n'), await response.text())
    }
    // As it stands, unlike fetch, which tidies the address up.
    const head = `GET /x/../feeds/${token}.rss HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`
    answers.push((await sendRaw(fleet.base(), head)).text)
  }
  await until(
    () => (api.log().match(/"msg":"request"/g) ?? []).length >= answers.length / 2,
    60_000,
  )
  const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
  t.match(metrics, /perscope_api_request_seconds_count\{[^}]*operation="feed"/)
  for (const token of tokens) {
    for (const [where, text] of [
      ['an answer', answers.join('\n')],
      ['the log', api.log()],
      ['the metrics', metrics],
    ] as const)
      t.notOk(text.includes(token) || text.includes(token.slice(4, 24)), `not in ${where}`)
  }
  t.match(
    api.log(),
    new RegExp(`"path":"/feeds/…","status":200.*"feed":"${good.feed.id}"`),
    'but the id of the feed is',
  )
})
