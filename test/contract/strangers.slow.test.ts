import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { createFeed } from '#shared/desk/feeds'
import { createKey, makeSecret } from '#shared/plans/keys'
import { createTestPool, holdLock, lockWaits } from '#test/database'
import { createFleet, until } from '#test/fleet'
import { ask, PLAN } from './api.ts'

const { database, pool } = await createTestPool(t)
const fleet = createFleet(
  { DATABASE_URL: database.url, TRUST_PROXY: '1', DATABASE_POOL: '8', LOG_LEVEL: 'info' },
  t,
)
const { key, secret } = await createKey(pool, 'known', PLAN)
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

t.test(
  'a flood without keys and with wrong ones takes nothing from those who have one',
  async t => {
    const known = async () => [
      (await ask(`${base}/v1/articles`, secret)).status,
      (await ask(`${base}/feeds/${token}.rss`, null)).status,
      (await ask(`${base}/readyz`, null)).status,
    ]
    t.strictSame(await known(), [200, 200, 200], 'this process has admitted them lately')
    // Failures cannot be counted for now, so each of them would hold its connection.
    const release = await holdLock(pool, 'lock table auth_failures in access exclusive mode')
    const keyless = Array.from({ length: 100 }, () => ask(`${base}/v1/articles`, null))
    const attempts = [...keyless, ...flood(600)]
    for (let round = 0; round < 10; round++)
      t.strictSame(await known(), [200, 200, 200], `round ${round}`)
    await release()
    const statuses = new Set((await Promise.all(attempts)).map(({ status }) => status))
    t.ok(statuses.has(429), 'who has waited for too long is told to come back')
    for (const status of [200, 401, 404, 429]) statuses.delete(status)
    t.strictSame([...statuses], [], 'no request failed')
    t.notMatch(api.log(), /"stack"|"level":"error"/)
  },
)

for (const lock of [
  'lock table search_feeds in access exclusive mode',
  'select from search_feeds for update',
]) {
  t.test(
    `whoever floods the server with one known token takes nothing from others: ${lock}`,
    async t => {
      const counted = async () =>
        (await pool.query('select requests::int from search_feeds')).rows[0].requests
      const before = await counted()
      const release = await holdLock(pool, lock)
      const readers = Array.from({ length: 100 }, () => ask(`${base}/feeds/${token}.rss`, null))
      await until(async () => (await lockWaits(pool)) >= 2, 30_000)
      for (let round = 0; round < 5; round++)
        t.equal((await ask(`${base}/v1/articles`, secret)).status, 200)
      await release()
      t.strictSame([...new Set((await Promise.all(readers)).map(({ status }) => status))], [200])
      t.equal((await counted()) - before, 100, 'each is counted')
    },
  )
}

t.test('a flood leaves a short log', async t => {
  // Lines of requests with a key may come late, from the test before.
  const logged = () => api.log().replace(/.*"key":.*/g, '').length
  const before = logged()
  const start = Date.now()
  for (let wave = 0; wave < 10; wave++) await Promise.all(flood(200))
  // A hundred lines a second, of 200 characters.
  const most = 25_000 * Math.ceil((Date.now() - start) / 1_000 + 1)
  t.ok(logged() - before < most, `${logged() - before} characters`)
  t.equal((await ask(`${base}/v1/articles`, secret)).status, 200)
})

t.test('who hangs up without a key is a 499 in the log, and has few lines there', async t => {
  await pause(1_500) // the flood before has used up the lines of its second
  const release = await holdLock(pool, 'lock table auth_failures in access exclusive mode')
  const before = api.log().length
  const start = Date.now()
  for (let n = 0; n < 600; n++) {
    const socket = connect(Number(new URL(base).port), '127.0.0.1').on('error', () => {})
    socket.write('GET /v1/articles HTTP/1.1\r\nHost: x\r\n\r\n', () => socket.resetAndDestroy())
    if (n % 50 === 0) await once(socket, 'close')
  }
  const said = () => api.log().slice(before).trim().split('\n')
  await until(
    () => said().some(line => line.includes('more requests came without a valid key')),
    30_000,
  )
  await release()
  const lines = said().filter(line => /"msg":"request"/.test(line) && !line.includes('"key"'))
  t.ok(
    lines.length > 0 && lines.length <= 100 * Math.ceil((Date.now() - start) / 1_000 + 1),
    `${lines.length} lines`,
  )
  const others = lines
    .map(line => JSON.parse(line))
    .filter(({ status, aborted }) => status !== 499 || !aborted)
  t.strictSame(others, [])
})
