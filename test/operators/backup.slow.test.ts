import { existsSync } from 'node:fs'
import { readdir, readFile, stat, truncate, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { refuse } from '#shared/desk/alerts/refusals'
import { createPool, loadSharedSecret } from '#shared/postgres/pool'
import { ask, sent, startTestApi } from '#test/contract/api'
import { createTestDatabase } from '#test/database'
import { createFleet, listen, until } from '#test/fleet'
import { runScript, startScript } from '#test/script'

const source = await startTestApi(t, { ALERT_HOSTS: '127.0.0.1' })
const target = await createTestDatabase(t)
const file = join(t.testdir(), 'perscope.backup')
const envOf = (databaseUrl: string) => ({
  DATABASE_URL: databaseUrl,
  REDIS_URL: '',
  QDRANT_URL: '',
  ALERT_HOSTS: '127.0.0.1',
})
const run = (databaseUrl: string, name: string, ...words: string[]) =>
  runScript(name, words, envOf(databaseUrl))
const backup = (...words: string[]) => run(source.config.DATABASE_URL, 'backup', ...words)
const restore = (...words: string[]) => run(target.url, 'restore', ...words)
const articlesIn = async () =>
  (await target.query('select count(*)::int as n from article_ids'))[0]?.n

const titles = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, n) => ({
    title: `Brug ${from + n}`,
    body: `De brug ${from + n} is open. `.repeat(100),
  }))
await source.index(titles(0, 250))
const { secret } = await source.issue()
const first = await source.ask(secret, '/v1/articles?q=brug&per_page=40')

/** What receivers were told: the address, the message, and its articles. One refuses at first. */
const told: [path: string, id: string, titles: string][] = []
const late: string[] = []
let isOpen = false
const receiver = createServer(async (request, response) => {
  const { id, articles } = JSON.parse(await text(request))
  const refuses = request.url === '/later' && !isOpen
  if (refuses) late.push(id)
  else told.push([request.url!, id, articles.map(({ title }: { title: string }) => title).join()])
  response.writeHead(refuses ? 503 : 200).end()
})
const hook = `http://127.0.0.1:${await listen(receiver)}`
t.teardown(() => receiver.close())
const send = async (method: string, path: string, body: unknown) =>
  (await source.ask(secret, `/explore/${path}`, sent(method, body))).json
for (const one of ['sluis /now', 'sluis /later', 'nergens /now']) {
  const [q, path] = one.split(' ')
  const { id } = (await send('POST', 'searches', { search: `q=${q}`, name: one })).data
  await send('PUT', `searches/${id}/alert`, { to: hook + path, when: 'at once' })
}
const teller = createFleet(envOf(source.config.DATABASE_URL), t)
await teller.start('notifier')
await source.index([{ title: 'Sluis open' }])
await until(() => told.length > 0 && late.length > 0, 60_000, teller.logs)
const cited = await send('POST', 'citations', { search: 'q=sluis' })
const isNoted = 'select from search_alerts where delivered_at is not null'
await until(async () => (await source.pool.query(isNoted)).rowCount === 1, 60_000)
await teller.stop()

t.test('a backup is one moment of a database that is written to', async t => {
  let ended = false
  const writing = (async () => {
    // As many as it can would be thousands, and each test below takes longer by them.
    for (let from = 250; !ended; from += 20)
      await Promise.all([source.index(titles(from, from + 20)), pause(250)])
  })()
  const { code, out, err } = await backup(file, '--json')
  ended = true
  await writing
  t.equal(code, 0, err)
  const said = JSON.parse(out)
  t.match(err, new RegExp(`Wrote ${file}: ${said.articles} articles as of `))
  t.ok(said.articles >= 250)
  t.equal((await stat(file)).mode & 0o777, 0o600, 'it holds the hashes of keys')
  const partial = (await readdir(dirname(file))).filter(name => /partial/.test(name))
  t.same(partial, [])
  t.match(await restore(file), {
    code: 0,
    err: new RegExp(`Restored ${said.articles} articles as of `),
  })
  t.equal(await articlesIn(), said.articles)
  const before = await run(source.config.DATABASE_URL, 'export', '--body')
  const after = await run(target.url, 'export', '--body')
  t.equal(after.out.split('\n').length - 1, said.articles)
  t.ok(
    before.out.startsWith(after.out),
    'the articles up to that moment, with their texts, ids and times',
  )
})

t.test(
  'the restored API knows the same keys, has the same articles, and refuses cursors from before',
  async t => {
    const fleet = createFleet(
      { ...envOf(target.url), PUBLIC_URL: 'https://news.example', EMBEDDINGS_URL: '' },
      t,
    )
    isOpen = true
    await Promise.all([fleet.start('api'), fleet.start('notifier')])
    const path = '/v1/articles?q=brug&per_page=40'
    const here = await ask(fleet.base() + path, secret)
    t.equal(here.status, 200)
    t.ok(here.json.total_results >= 250)
    const refused = await ask(`${fleet.base()}${path}&cursor=${first.json.next_cursor}`, secret)
    t.same(
      [refused.status, refused.json.code],
      [422, 'invalid_request'],
      'its pages could hold later articles',
    )
    const newest = here.json.articles[0].ingested_at
    const imported = join(t.testdir(), 'one.ndjson')
    const outlet = { name: 'De Dagkoerier', domain: 'dagkoerier.example' }
    const article = {
      url: 'https://dagkoerier.example/nieuwkomer',
      title: 'Nieuwkomer sluis',
      body: null,
      outlet,
    }
    await writeFile(
      imported,
      `${JSON.stringify({ ...article, language: 'nl', country: 'NL', authors: [] })}\n`,
    )
    t.match(await run(target.url, 'import', imported), { code: 0 })
    const found = async () => (await ask(`${fleet.base()}/v1/articles?q=nieuwkomer`, secret)).json
    await until(async () => (await found()).total_results === 1, 60_000)
    t.ok(
      (await found()).articles[0].ingested_at > newest,
      'it is later than all that clients have seen',
    )
    await until(() => told.length >= 4, 60_000, fleet.logs)
    const [now, later] = ['/now', '/later'].map(path => told.filter(([to]) => to === path))
    t.strictSame(
      now!.map(([, , titles]) => titles),
      ['Sluis open', 'Nieuwkomer sluis'],
      'nothing twice, and all',
    )
    t.strictSame(
      later!.map(([, , titles]) => titles),
      ['Sluis open', 'Nieuwkomer sluis'],
    )
    t.equal(later![0]![1], late[0], 'a message that had not arrived comes under its id')
    const citation = await ask(`${fleet.base()}${cited.address}.json`, secret)
    t.match(citation, { status: 200, json: { digest: cited.digest } })
    t.match(await run(target.url, 'cite', 'verify', cited.digest), { code: 0, out: /^equal/ })
    t.match(await run(target.url, 'verify'), { code: 0 })
    const running = await restore(file, '--yes')
    t.equal(running.code, 2)
    t.match(
      running.err,
      /Perscope runs on this database \(.*api.*\); end npm start, or all services, first/,
    )
  },
)

t.test(
  'who unsubscribed after the backup is told no more, but of what that address still wants',
  async t => {
    const pool = createPool(target.url, 'owner', () => {})
    const read = `select alert_id as id, confirmed_at is null and rests is not null as ended
    from search_alerts join kept_searches using (search_id) order by name`
    const { rows } = await pool.query(read)
    await refuse(pool, rows.at(-1).id, 'link')
    await pool.end()
    t.match(await restore(file, '--yes'), { code: 0 })
    t.strictSame(
      await target.query(read),
      [false, false, true].map((ended, at) => ({ ...rows[at], ended })),
    )
    t.equal(await target.count('refusals'), 2, 'of the address, and of its mailbox')
  },
)

t.test('nothing is overwritten without consent', async t => {
  t.match(await backup(file), { code: 2, err: /exists; name another file, or add --yes/ })
  t.match(await restore(file), {
    code: 2,
    err: /holds \d+ articles, and .* Nothing was changed; add --yes/,
  })
})

t.test('a database with tables of another program takes a backup only with consent', async t => {
  const foreign = await createTestDatabase(t)
  await foreign.query('drop table public.installation, public.ingest_clock')
  await foreign.query('create table public.invoices as select 1 as id')
  const refused = await run(foreign.url, 'restore', file)
  t.match(refused, {
    code: 2,
    err: /holds \d+ tables? of another program, and .* Nothing was changed; add --yes/,
  })
  t.same(await foreign.query('select id from public.invoices'), [{ id: 1 }])
})

t.test(
  'a backup of another installation is named as such, and can do nothing beyond the database',
  async t => {
    const forged = await createTestDatabase(t)
    const trace = join(tmpdir(), `perscope-forged-${process.pid}`)
    await forged.query('update installation set id = gen_random_uuid()')
    // Text of a backup that psql would take for its own commands.
    await forged.query(`create table public."x\n\\! touch ${trace}" ()`)
    const program = (body: string) =>
      forged.query(
        `create or replace function public.run() returns int language plpgsql as $$ begin ${body} end $$`,
      )
    await program('return 1;')
    // The check calls the function for each row that is loaded.
    await forged.query('alter table public.migrations add check (public.run() = 1)')
    await program(`copy (select 1) to program 'touch ${trace}'; return 1;`)
    const superuser = new URL(process.env.TEST_SUPERUSER_URL ?? forged.url)
    superuser.pathname = new URL(forged.url).pathname
    const foreign = join(t.testdir(), 'foreign.backup')
    t.match(await run(superuser.href, 'backup', foreign), { code: 0 })
    const before = await articlesIn()
    t.match(await restore(foreign), {
      code: 2,
      err: /is a backup of another installation.*Nothing was changed; add --yes/,
    })
    const forced = await restore(foreign, '--yes')
    t.match(forced.err, /is a backup of another installation/)
    t.match(forced, {
      code: 1,
      err: /the database is as it was: .*permission denied to COPY to or from an external program/,
    })
    t.equal(await articlesIn(), before)
    t.notOk(existsSync(trace), 'no command ran')
  },
)

t.test(
  'after a file that ends the transaction around it, nothing starts until another is restored',
  async t => {
    const before = await articlesIn()
    const forged = await createTestDatabase(t)
    // A comment becomes statements of the same length.
    const ending = "''; delete from public.api_keys; commit; select 1/0; --"
    const comment = `'${'x'.repeat(ending.length - 2)}'`
    await forged.query(`comment on table public.installation is ${comment}`)
    const evil = join(t.testdir(), 'evil.backup')
    t.match(await run(forged.url, 'backup', evil), { code: 0 })
    const bytes = await readFile(evil, 'latin1')
    t.match(bytes, comment)
    await writeFile(evil, bytes.replaceAll(comment, ending), 'latin1')
    t.match(await restore(evil, '--yes'), {
      code: 1,
      err: /is half restored: .*restore another backup.*division/,
    })
    t.match(await run(target.url, 'keys', 'list'), {
      code: 1,
      err: /A restore of this database did not end/,
    })
    t.match(await restore(file, '--yes'), { code: 0, err: /Restored/ })
    t.equal(await articlesIn(), before)
  },
)
t.test(
  'a file that is cut, damaged, of a schema before upgrades begin, or none of ours changes nothing',
  async t => {
    const before = await articlesIn()
    const whole = await readFile(file)
    const other = join(t.testdir(), 'other')
    await writeFile(other, whole)
    await truncate(other, whole.length - 100)
    t.match(await restore(other, '--yes'), {
      code: 1,
      err: /damaged or was cut|the database is as it was/,
    })
    const bent = Buffer.from(whole)
    bent.fill(0x55, Math.floor(whole.length / 2), Math.floor(whole.length / 2) + 64)
    await writeFile(other, bent)
    t.match(await restore(other, '--yes'), {
      code: 1,
      err: /damaged or was cut|the database is as it was/,
    })
    const older = await createTestDatabase(t)
    await older.query('delete from migrations where number > 28')
    t.match(await run(older.url, 'backup', other, '--yes'), { code: 0 })
    t.match(await restore(other, '--yes'), {
      code: 1,
      err: /is at migration 28, and upgrades begin at 33; restore it with/,
    })
    await writeFile(other, 'articles')
    t.match(await restore(other, '--yes'), { code: 1, err: /is no backup of Perscope/ })
    t.equal(await articlesIn(), before)
  },
)

/** Postgres waits at each command of this kind. */
const hold = (tag: string) =>
  target.query(
    `create event trigger held on ddl_command_start when tag in ('${tag}') execute function held.wait()`,
  )
/** Whether a restore waits there. */
const isHeld = async () =>
  (
    await target.query(
      "select from pg_stat_activity where wait_event = 'PgSleep' and query ~ '(drop|create) schema'",
    )
  ).length > 0

t.test('a restore that is killed or interrupted changes nothing', async t => {
  const before = await articlesIn()
  // Postgres waits at each table. The data that follow are more than the pipes between us hold.
  await target.query('create table public.kept ()')
  await target.query('create schema held')
  await target.query(
    `create function held.wait() returns event_trigger language plpgsql as 'begin perform pg_sleep(2); end'`,
  )
  await hold('CREATE TABLE')
  const working = async (query: string) =>
    (
      await target.query(
        `select from pg_stat_activity where datname = current_database() and application_name like 'perscope restore%' and query like $1`,
        [query],
      )
    ).length > 0
  for (const signal of ['SIGKILL', 'SIGINT'] as const) {
    const { child, ended } = startScript('restore', [file, '--yes'], envOf(target.url))
    await until(() => working('CREATE TABLE%'), 60_000)
    child.kill(signal)
    await until(async () => !(await working('%')), 60_000)
    if (signal === 'SIGINT') {
      t.match(await ended, { code: 1, err: /Interrupted; the database is as it was\.\n$/ })
    }
    t.equal(await articlesIn(), before)
    t.strictSame(
      await target.query('select from public.kept'),
      [],
      'a table that the backup does not have',
    )
  }
  await target.query('drop event trigger held')
})

t.test('after a restore that was killed after its load, no cursor of before is read', async t => {
  const secretOf = async (name: 'cursor') => {
    const pool = createPool(target.url, 'api', () => {})
    return loadSharedSecret(pool, name).finally(() => pool.end())
  }
  const secrets = () => target.query("select value from secrets where name = 'cursor'")
  const bounds = () => target.query('select id, snippet, vector from article_rights')
  await target.query(
    'insert into article_rights (id, snippet, vector) select min(id), true, false from articles',
  )
  const bound = await bounds()
  await hold('DROP SCHEMA')
  const { child, ended } = startScript('restore', [file, '--yes'], envOf(target.url))
  await until(isHeld, 60_000)
  child.kill('SIGKILL')
  await ended
  await until(async () => !(await isHeld()), 60_000)
  await target.query('drop event trigger held')
  await t.rejects(secretOf('cursor'), {
    message: /A restore of this database did not end\. Run it again/,
  })
  const refused = { code: 1, err: /A restore of this database did not end\. Run it again/ }
  await target.query(
    `create function held.fail() returns event_trigger language plpgsql as 'begin raise exception ''no room''; end'`,
  )
  await target.query(
    `create event trigger failing on ddl_command_start when tag in ('CREATE INDEX') execute function held.fail()`,
  )
  t.match(await restore(file, '--yes'), { code: 1, err: /no room/ })
  await target.query('drop event trigger failing')
  for (const one of ['services/api/main.ts', 'services/crawler/main.ts']) {
    t.match(await run(target.url, one), refused, `${one}, also after a second restore that failed`)
  }
  t.match(await run(target.url, 'migrate'), refused)
  const [before] = await secrets()
  t.match(await restore(file, '--yes'), { code: 0 })
  t.strictSame(await secrets(), [], 'the secret of before is gone')
  t.notSame(await secretOf('cursor'), before?.value)
  t.strictSame(await bounds(), bound, 'what rights took from an article stays away')
  const own = createPool(target.url, 'restore', () => {}, { mayBeUnfinished: true })
  await own.query(
    `create schema unfinished_restore;
     create table unfinished_restore.bounds as
       select r.id, r.page_no, t.snippet, r.snippet as bounded, r.vector
         from article_rights r join articles a using (id) join article_texts t using (seq);
     delete from article_rights`,
  )
  await own.end()
  const recovered = await run(target.url, 'recovered')
  t.equal(recovered.code, 0, recovered.err)
  t.strictSame(await bounds(), bound, 'also when somebody goes on with what the database holds')
})

t.test('a service that connects after the first look stops a restore', async t => {
  await hold('CREATE SCHEMA')
  const before = await articlesIn()
  const { ended } = startScript('restore', [file, '--yes'], envOf(target.url))
  await until(isHeld, 60_000)
  const pool = createPool(target.url, 'api', () => {})
  t.teardown(() => pool.end())
  await pool.query('select 1')
  t.match(await ended, { code: 2, err: /Perscope runs on this database \(api\)/ })
  await target.query('drop event trigger held')
  t.equal(await articlesIn(), before)
  t.strictSame(
    await target.query("select from pg_namespace where nspname = 'unfinished_restore'"),
    [],
    'no mark',
  )
})

t.test('no service starts while a recovery is told, nor after one that was killed', async t => {
  const told = () => startScript('recovered', [], envOf(target.url))
  const look = async () => {
    const pool = createPool(target.url, 'api', () => {})
    await pool.query('select 1').finally(() => pool.end())
  }
  await hold('DROP SCHEMA')
  const first = told()
  await until(isHeld, 60_000)
  const refused = { message: /A restore of this database did not end\. Run it again/ }
  await t.rejects(look(), refused)
  first.child.kill('SIGKILL')
  await until(async () => !(await isHeld()), 60_000)
  await target.query('drop event trigger held')
  await t.rejects(look(), refused)
  t.match(await told().ended, { code: 0 })
  await look()
})

t.test('a backup that fails leaves no file', async t => {
  const none = join(t.testdir(), 'none')
  const url = new URL(source.config.DATABASE_URL)
  url.pathname = '/no_such_database'
  t.match(await run(url.href, 'backup', none), { code: 1, err: /no_such_database/ })
  t.notOk(existsSync(none))
  t.match(await backup(join(none, 'deeper')), {
    code: 2,
    err: `There is no folder ${none}: make it`,
  })
})
