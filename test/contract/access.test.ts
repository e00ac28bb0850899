import t from 'tap'
import { updateKey } from '#shared/plans/keys'
import { holdLock } from '#test/database'
import { ask, startTestApi } from './api.ts'

const api = await startTestApi(t, { AUTH_LOCK_FAILURES: '10', TRUST_PROXY: '1' })
const { secret } = await api.issue()

/** A request from an address of the test's choosing, so that locks do not meet. */
const from = (address: string, authorization?: string, path = '/v1/articles', base = api.base) =>
  ask(`${base}${path}`, null, {
    headers: {
      'X-Forwarded-For': address,
      ...(authorization === undefined ? {} : { Authorization: authorization }),
    },
  })

const REFUSED = {
  missing_token: [undefined, '', 'Bearer', 'bearer', 'Bearer '],
  invalid_token: [
    'Bearer x',
    `Bearer ${secret}x`,
    `Basic ${secret}`,
    `Bearer ${secret} x`,
    secret,
    'Bearer "x"',
    `Token ${secret}`,
  ],
}
for (const [code, sent] of Object.entries(REFUSED)) {
  t.test(`decision 1: ${code} is 401, and its challenge names no other error`, async t => {
    const challenge = `Bearer realm="perscope"${code === 'invalid_token' ? ', error="invalid_token"' : ''}`
    for (const [index, authorization] of sent.entries()) {
      const { status, headers, json } = await from(`192.0.2.${10 + index}`, authorization)
      t.match(
        [status, json],
        [401, { status: 'error', code }],
        authorization?.replaceAll(secret, 'KEY') ?? 'none',
      )
      t.equal(headers.get('www-authenticate'), challenge)
      const hasWord = /^bearer/i.test(authorization ?? 'bearer') || code === 'missing_token'
      t.equal(/The word Bearer is missing/.test(json.message), !hasWord, json.message)
    }
  })
}

t.test('RFC 7235: the scheme is read in any case', async t => {
  t.equal((await from('192.0.2.30', `bEARER  ${secret}`)).status, 200)
})

t.test('decision 1: a key in the query is no key', async t => {
  const { json } = await from('192.0.2.31', undefined, `/v1/articles?access_token=${secret}`)
  t.match(json, {
    code: 'missing_token',
    message: /key in the address is not read, and now stands in logs/,
  })
  t.notMatch((await from('192.0.2.31')).json.message, /address/)
})

t.test('decision 3: the tenth invalid key locks the address for 15 minutes', async t => {
  const address = '198.51.100.1'
  for (let i = 0; i < 10; i++) t.equal((await from(address, `Bearer wrong${i}`)).status, 401)
  const locked = await from(address, 'Bearer wrong')
  t.equal(locked.status, 429)
  t.equal(locked.json.code, 'too_many_failed_attempts')
  const wait = Number(locked.headers.get('retry-after'))
  t.ok(Number.isInteger(wait) && wait > 890 && wait <= 900, `Retry-After: ${wait}`)
  t.notOk(locked.headers.has('x-ratelimit-limit'))
  t.equal(locked.headers.get('cache-control'), 'no-store')

  t.equal((await from(address)).json.code, 'too_many_failed_attempts', 'no key is refused too')
  t.equal((await from(address, `Bearer ${secret}`)).status, 200, 'a valid key is let in')
  t.equal((await from('198.51.100.2', 'Bearer wrong')).status, 401, 'a neighbour is not locked')
})

t.test('decision 3: a request without a key is no failure', async t => {
  const address = '198.51.100.3'
  for (let i = 0; i < 15; i++) t.equal((await from(address)).status, 401)
  t.equal((await from(address, 'Bearer wrong')).status, 401)
})

t.test('requests without a key, a hundred at once, leave connections for others', async t => {
  const release = await holdLock(api.pool, 'lock table auth_failures in access exclusive mode')
  const attempts = Array.from({ length: 100 }, () => from('198.51.100.12'))
  for (let i = 0; i < 5; i++) t.equal((await from('198.51.100.13', `Bearer ${secret}`)).status, 200)
  await release()
  for (const { status } of await Promise.all(attempts)) t.equal(status, 401)
})

t.test('decision 3: IPv6 addresses of one /56 are one address', async t => {
  for (let i = 0; i < 10; i++) await from(`2001:db8:1:${i.toString(16)}::${i}`, 'Bearer wrong')
  t.equal((await from('2001:db8:1:ff:1::1', 'Bearer wrong')).status, 429)
  t.equal((await from('2001:db8:1:100::1', 'Bearer wrong')).status, 401)
})

t.test('decision 3: failures count for five minutes, each from its own time', async t => {
  const address = '198.51.100.5'
  for (let i = 0; i < 9; i++) await from(address, 'Bearer wrong')
  await api.pool.query(
    `update auth_failures set failed_at = array(select u - interval '5 minutes 1 second' from unnest(failed_at[1:5]) u) || failed_at[6:9]
     where address = $1`,
    [address],
  )
  for (let i = 0; i < 6; i++)
    t.equal((await from(address, 'Bearer wrong')).status, 401, 'five no longer count')
  t.equal((await from(address, 'Bearer wrong')).status, 429)
})

t.test('decision 3: when the lock ends, counting begins anew', async t => {
  const address = '198.51.100.6'
  for (let i = 0; i < 11; i++) await from(address, 'Bearer wrong')
  await api.pool.query(
    "update auth_failures set locked_until = now() - interval '1 second' where address = $1",
    [address],
  )
  for (let i = 0; i < 10; i++) t.equal((await from(address, 'Bearer wrong')).status, 401)
  t.equal((await from(address, 'Bearer wrong')).status, 429)
})

t.test('a wrong key from a locked address writes nothing', async t => {
  const address = '198.51.100.8'
  for (let i = 0; i < 10; i++) await from(address, 'Bearer wrong')
  // Every write of a row makes another version of it.
  const version = async () =>
    (
      await api.pool.query('select xmin, ctid, xmax from auth_failures where address = $1', [
        address,
      ])
    ).rows
  const before = await version()
  for (let i = 0; i < 20; i++) t.equal((await from(address, `Bearer wrong${i}`)).status, 429)
  t.strictSame(await version(), before)
})

t.test(
  'decision 3: of a hundred wrong keys at once in two processes exactly ten count; others are served',
  async t => {
    const blocked = '198.51.100.9'
    await from(blocked, 'Bearer wrong')
    const bases = [api.base, (await api.another()).base]
    const release = await holdLock(
      api.pool,
      'select from auth_failures where address = $1 for update',
      [blocked],
    )
    const attempts = Array.from({ length: 100 }, (_, i) =>
      from(blocked, 'Bearer wrong', '/v1/articles', bases[i % 2]),
    )
    for (let i = 0; i < 5; i++)
      t.equal((await from('198.51.100.10', `Bearer ${secret}`)).status, 200)
    t.equal((await from('198.51.100.11', 'Bearer wrong')).status, 401)
    await release()
    const statuses = (await Promise.all(attempts)).map(({ status }) => status)
    t.equal(statuses.filter(status => status === 401).length, 9)
    t.equal(statuses.filter(status => status === 429).length, 91)
  },
)

t.test('decision 3: without TRUST_PROXY nobody names their own address', async t => {
  const direct = await api.another({ TRUST_PROXY: '', AUTH_LOCK_FAILURES: '3' })
  const statuses: number[] = []
  for (let i = 0; i < 4; i++) {
    const { status } = await from(`203.0.113.${i}`, 'Bearer wrong', '/v1/articles', direct.base)
    statuses.push(status)
  }
  t.strictSame(statuses, [401, 401, 401, 429])
})

t.test('decision 5: keys are stored as hashes only', async t => {
  const { rows } = await api.pool.query('select row_to_json(k)::text as text from api_keys k')
  t.ok(rows.length > 0)
  t.notOk(rows.some(({ text }) => text.includes(secret) || text.includes(secret.slice(4, 20))))
})

t.test('two changes of one key at the same time both hold', async t => {
  for (let round = 0; round < 20; round++) {
    const { key } = await api.issue({ rate: 1, quota: 1 })
    await Promise.all([
      updateKey(api.pool, key.id, { plan: { rate: 2 } }),
      updateKey(api.pool, key.id, { plan: { quota: 2 } }),
    ])
    const { rows } = await api.pool.query('select rate, quota from api_keys where id = $1', [
      key.id,
    ])
    t.same(rows, [{ rate: 2, quota: 2 }])
  }
})
