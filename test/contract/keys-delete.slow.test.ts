import t from 'tap'
import { deleteKey, TABLES_OF_KEY } from '#shared/desk/of-key'
import { countOf, readColumn } from '#shared/postgres/pool'
import { until } from '#test/fleet'
import { runScript } from '#test/script'
import { sent, startTestApi } from './api.ts'

const api = await startTestApi(t, { ALERT_HOSTS: '127.0.0.1:9' })
await api.index([{ title: 'Een brug' }])
const keys = (...args: string[]) =>
  runScript('keys', args, { DATABASE_URL: api.config.DATABASE_URL })

/** Issues a key that keeps something in every table. @returns with the secrets that it was given */
async function keeping() {
  const { key, secret } = await api.issue({ quota: 100 })
  const post = async (path: string, body: object, method = 'POST') =>
    (await api.ask(secret, path, sent(method, body))).json.data
  const { id } = await post('/explore/searches', { search: 'q=brug', name: 'Bruggen' })
  const { url } = await post(`/explore/searches/${id}/feed`, {}, 'PUT')
  const alert = { to: 'http://127.0.0.1:9/hook', when: 'at once' }
  const { secret: signing } = await post(`/explore/searches/${id}/alert`, alert, 'PUT')
  await post('/explore/outlet-sets/kranten', { domains: ['krant.example'] }, 'PUT')
  const { json } = await api.ask(
    secret,
    '/explore/citations',
    sent('POST', { search: `q=brug&country=${key.plan.countries[0]}&outlet=` }),
  )
  await api.pool.query(
    `with own as (select alert_id from search_alerts where key_id = $1),
       asked as (insert into alert_asks (told_to, key_id, refused) values ('nee@example.org', $1, true), ('ja@example.org', $1, false)),
       gone as (insert into refusals (hash, key_id) values (sha256($1::bytea), $1)),
       found as (insert into alert_finds (alert_id, question, after, seqs, seq, at) select alert_id, 'q', 0, '{1}', 1, now() from own)
     insert into alert_messages (message_id, alert_id, kind, seqs, more, delivered_at) select 'msg_' || alert_id, alert_id, 'articles', '{1}', 0, now() from own`,
    [key.id],
  )
  return { key, secret, token: url.split('/').at(-1).split('.')[0], signing, cited: json.address }
}

const rowsOf = async (keyId: string) => {
  const counts: Record<string, number> = {}
  for (const { table, of } of TABLES_OF_KEY)
    counts[table] = (
      await readColumn<number>(api.pool, `select count(*)::int from ${table} where ${of}`, [keyId])
    )[0]!
  return counts
}

t.test('every table that a key has rows in is handed out and deleted', async t => {
  const tables = await readColumn<string>(
    api.pool,
    `with recursive of_key as (
       select 'api_keys'::regclass::oid as oid
       union select f.conrelid from pg_constraint f join of_key o on f.confrelid = o.oid where f.contype = 'f')
     select oid::regclass::text from of_key
     union select table_name from information_schema.columns
      where table_schema = current_schema() and column_name in ('key_id', 'search_id', 'alert_id')`,
  )
  t.strictSame(tables.sort(), TABLES_OF_KEY.map(({ table }) => table).sort())
})

t.test('a key is handed out whole, without secrets, and goes with all that it keeps', async t => {
  const own = await keeping()
  const other = await keeping()
  const before = await rowsOf(own.key.id)
  t.strictSame(
    Object.keys(before).filter(table => before[table] === 0 && table !== 'citations'),
    [],
  )
  const others = await rowsOf(other.key.id)

  const exported = await keys('export', own.key.id)
  t.equal(exported.code, 0, exported.err)
  const all = JSON.parse(exported.out)
  t.strictSame(Object.keys(all), Object.keys(before))
  for (const [table, count] of Object.entries(before)) t.equal(all[table].length, count, table)
  t.match(all.kept_searches, [{ name: 'Bruggen', search: 'q=brug' }])
  t.match(all.search_alerts, [{ told_to: 'http://127.0.0.1:9/hook' }])
  for (const secret of [own.secret, own.token, own.signing, 'hash', 'nonce'])
    t.notMatch(exported.out, secret)

  const dry = await keys('delete', own.key.id, '--dry-run', '--json')
  t.match(JSON.parse(dry.out), {
    key: own.key.id,
    dry_run: true,
    deleted: { kept_searches: 1, search_feeds: 1, search_alerts: 1, alert_asks: 1, api_keys: 1 },
    stays: { alert_asks: 1 },
  })
  t.match(await keys('delete', own.key.id), { code: 2, err: /add --yes/ })
  t.strictSame(await rowsOf(own.key.id), before, 'nothing was changed')
  const done = await keys('delete', own.key.id, '--yes', '--json')
  t.match(done, { code: 0, err: /1 kept search.*What stays: 1 mail/ }, done.err)
  t.strictSame(
    { ...JSON.parse(done.out), dry_run: true },
    JSON.parse(dry.out),
    'what the dry run said',
  )
  const left = Object.entries(await rowsOf(own.key.id)).filter(([, count]) => count > 0)
  t.strictSame(Object.fromEntries(left), JSON.parse(done.out).stays)
  t.strictSame(await rowsOf(other.key.id), others, 'another key keeps all')
  t.equal((await api.ask(own.secret, '/v1/articles')).status, 401)
  t.equal((await api.ask(null, `/feeds/${own.token}.rss`)).status, 404)
  t.equal((await api.ask(other.secret, `${own.cited}.json`)).status, 200, 'citations stay')
  t.match(await keys('delete', own.key.id, '--yes'), { code: 1, err: /no key/ })
  const sound = await runScript('verify', ['--json'], { DATABASE_URL: api.config.DATABASE_URL })
  t.match(JSON.parse(sound.out), { differences: [] }, sound.out)
})

t.test('a request that is charged while its key is deleted ends before it', async t => {
  const { key, secret } = await api.issue({ quota: 100 })
  await api.ask(secret, '/v1/nothing')
  const charging = await api.pool.connect()
  await charging.query('begin')
  await charging.query('update rate_windows set used = used + 1 where key_id = $1', [key.id])
  const deleted = deleteKey(api.pool, key.id)
  await until(
    async () =>
      (await countOf(
        api.pool,
        "select count(*)::int from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      )) > 0,
    10_000,
  )
  await charging.query("insert into quota_months values ($1, '2026-11-01', 1)", [key.id])
  await charging.query('commit')
  charging.release()
  t.match(await deleted, { deleted: { api_keys: 1, quota_months: 1 } })
})
