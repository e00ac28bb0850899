import t from 'tap'
import { revokeKey, rotateKey } from '#shared/plans/keys'
import { runScript } from '#test/script'
import { ask, startTestApi } from './api.ts'
import WRONG from './keys.json' with { type: 'json' }

const api = await startTestApi(t)

const keys = (...args: string[]) =>
  runScript('keys', args, { DATABASE_URL: api.config.DATABASE_URL })
const json = async (...args: string[]) => JSON.parse((await keys(...args)).out)
const PLAN = ['--countries', 'nl, BE', '--history-start', '2024-01-01', '--rate', '60']

t.test('create prints the key once, and it works', async t => {
  const made = await json('create', '--name', 'Een lezer', ...PLAN, '--quota', '1000')
  t.match(made, {
    id: /^key_[0-9a-f]{16}$/,
    key: /^psk_[\w-]{43}$/,
    name: 'Een lezer',
    countries: ['NL', 'BE'],
    history: { start: '2024-01-01T00:00:00.000Z' },
    rate: 60,
    quota: 1000,
  })
  const unused = { last_used_at: null, used_this_month: 0 }
  t.match(JSON.parse((await keys('list')).out), [unused])
  const { status, headers } = await api.ask(made.key, '/v1/articles')
  t.equal(status, 200)
  t.equal(headers.get('x-ratelimit-limit'), '60')
  t.equal(headers.get('x-quota-limit'), '1000')
  const listed = await keys('list')
  t.notMatch(listed.out, made.key)
  const [line] = JSON.parse(listed.out)
  t.match(line, { id: made.id, name: 'Een lezer', revoked_at: null, used_this_month: 1 })
  const since = Date.now() - Date.parse(line.last_used_at)
  t.ok(since >= 0 && since < 180_000, 'the minute of its last use')
  t.ok(line.last_used_at >= line.created_at, 'nothing is used before it is made')
})

t.test('a rolling history, and no quota', async t => {
  const made = await json(
    'create',
    '--name',
    'Rol',
    '--countries',
    'LU',
    '--history-days',
    '365',
    '--rate',
    '5',
  )
  t.match(made, { countries: ['LU'], history: { days: 365 }, quota: null })
  t.notOk((await api.ask(made.key, '/v1/articles')).headers.has('x-quota-limit'))
  t.match(
    JSON.parse((await keys('list')).out).at(-1),
    { id: made.id, used_this_month: null },
    'nobody counts it',
  )
})

t.test('decision 21: update, rotate and revoke count in every running process at once', async t => {
  const bases = [api.base, (await api.another()).base]
  const both = async (key: string) => {
    const answers = await Promise.all(bases.map(base => ask(`${base}/v1/articles?country=LU`, key)))
    return answers.map(({ status, headers }) => [status, headers.get('x-ratelimit-limit')])
  }
  const twice = (status: number, rate: string | null) => [0, 1].map(() => [status, rate])
  const { key, secret } = await api.issue({ countries: ['NL'], rate: 60 })
  t.strictSame(await both(secret), twice(403, '60'))
  const change = ['--countries', 'LU', '--rate', '7', '--history-days', '30', '--quota', '9']
  const updated = await json('update', key.id, ...change)
  t.match(updated, {
    id: key.id,
    name: 'test',
    countries: ['LU'],
    rate: 7,
    quota: 9,
    history: { days: 30 },
  })
  t.strictSame(await both(secret), twice(200, '7'))
  t.equal((await api.ask(secret, '/v1/articles?country=LU')).headers.get('x-quota-limit'), '9')
  t.equal((await json('update', key.id, '--no-quota')).quota, null)

  const rotated = await rotateKey(api.pool, key.id)
  t.strictSame(await both(rotated!.secret), twice(200, '7'))
  t.strictSame(await both(secret), twice(401, null))

  await revokeKey(api.pool, key.id)
  t.strictSame(await both(rotated!.secret), twice(401, null))
  t.equal((await keys('rotate', key.id)).code, 1, 'what is revoked stays so')
  t.equal((await keys('revoke', key.id)).code, 0, 'and may be revoked again')
})

t.test('update and revoke know a key by its name, where no other has it', async t => {
  const { id } = await json('create', '--name', 'Naam', ...PLAN)
  t.match(await json('update', 'Naam', '--rate', '9'), { id, rate: 9 })
  const second = await keys('create', '--name', 'Naam', ...PLAN)
  t.match(second.err, 'Another key in force has this name')
  t.match(await keys('revoke', 'Naam'), { code: 2, err: /Several keys have the name "Naam"/ })
  await json('revoke', JSON.parse(second.out).id)
  const rotated = await json('rotate', 'Naam')
  t.equal(rotated.id, id, 'the one in force')
  t.equal((await api.ask(rotated.key, '/v1/articles')).status, 200)
  t.match(await json('revoke', 'Naam'), { id, revoked_at: String }, 'the one in force')
})

for (const { args, says, code } of WRONG) {
  t.test(`keys ${args.join(' ')} is refused in one sentence`, async t => {
    const refused = await keys(...args)
    t.equal(refused.code, code)
    t.equal(refused.out, '')
    t.match(refused.err, new RegExp(says))
    t.equal(refused.err.trim().split('\n').length, 1)
  })
}
