import t from 'tap'
import { createKey, makeSecret } from '../../shared/plans/keys.ts'
import { createFeed } from '../../shared/plans/search-feeds.ts'
import { createTestPool, holdLock } from '../database.ts'
import { createFleet, until } from '../fleet.ts'
import { ask } from './api.ts'

t.setTimeout(240_000)

const { database, pool } = await createTestPool(t)
const fleet = createFleet({ DATABASE_URL: database.url, TRUST_PROXY: '1', DATABASE_POOL: '8', LOG_LEVEL: 'info' }, t)
const plan = { countries: ['NL' as const], history: { kind: 'rolling' as const, days: 30 }, rate: 10_000, quota: null }
const { key, secret } = await createKey(pool, 'known', plan)
const { token } = (await createFeed(pool, key.id, { search: '', title: 'Bruggen' }))!
const api = await fleet.start('api')
const base = fleet.base()

/** Requests with keys and tokens that nobody has, from many addresses and from one. */
function flood(count: number): Promise<{ status: number }>[] {
  return Array.from({ length: count }, (_, n) => {
    const headers = { 'X-Forwarded-For': n % 3 === 0 ? '198.51.100.1' : `203.0.113.${n % 200}` }
    const wrong = makeSecret()
    return n % 2 === 0
      ? ask(`${base}/v1/articles`, wrong, { headers })
      : ask(`${base}/feeds/${wrong.replace('psk_', 'psf_')}.rss`, null, { headers })
  })
}

t.test('issue 34.9: whoever floods the server with wrong keys takes nothing from those who have one', async t => {
  const known = async () => [
    (await ask(`${base}/v1/articles`, secret)).status,
    (await ask(`${base}/feeds/${token}.rss`, null)).status,
    (await ask(`${base}/readyz`, null)).status,
  ]
  t.strictSame(await known(), [200, 200, 200], 'this process has admitted them lately')
  // Failures cannot be counted for now, so each of them would hold its connection.
  const release = await holdLock(pool, 'lock table auth_failures in access exclusive mode')
  const attempts = flood(600)
  for (let round = 0; round < 10; round++) t.strictSame(await known(), [200, 200, 200], `round ${round}`)
  await release()
  const statuses = new Set((await Promise.all(attempts)).map(({ status }) => status))
  t.ok(statuses.has(429), 'who has waited for too long is told to come back')
  for (const status of [200, 401, 404, 429]) statuses.delete(status)
  t.strictSame([...statuses], [], 'no request failed')
  t.notMatch(api.log(), /"stack"|"level":"error"/)
})

t.test('issue 34.9: whoever floods the server with one known token takes nothing from others', async t => {
  const release = await holdLock(pool, 'lock table search_feeds in access exclusive mode')
  const readers = Array.from({ length: 100 }, () => ask(`${base}/feeds/${token}.rss`, null))
  await until(async () => {
    const { rowCount } = await pool.query(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    )
    return (rowCount ?? 0) >= 2
  }, 30_000)
  for (let round = 0; round < 5; round++) t.equal((await ask(`${base}/v1/articles`, secret)).status, 200)
  await release()
  t.strictSame([...new Set((await Promise.all(readers)).map(({ status }) => status))], [200])
})

t.test('issue 34.9: a flood leaves a short log', async t => {
  const before = api.log().length
  for (let wave = 0; wave < 10; wave++) await Promise.all(flood(200))
  t.ok(api.log().length - before < 250_000, `${api.log().length - before} characters`)
  t.equal((await ask(`${base}/v1/articles`, secret)).status, 200)
})

t.test('decision 21: a key that was admitted lately is refused as soon as it is revoked', async t => {
  await pool.query('update api_keys set revoked_at = now() where id = $1', [key.id])
  t.equal((await ask(`${base}/v1/articles`, secret)).status, 401)
  t.equal((await ask(`${base}/feeds/${token}.rss`, null)).status, 410)
})
