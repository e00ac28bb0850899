import { readFile } from 'node:fs/promises'
import pg from 'pg'
import t, { type Test } from 'tap'
import { migrate } from '#infra/migrations/migrate'
import { renewKeys, renewTexts } from '#scripts/reindex/renew'
import { makeSegments } from '#search/indexer'
import { glanceAtIndex } from '#search/verify'
import { glanceAtRules } from '#shared/articles/rules'
import { migrationFiles, refuseLacking } from '#shared/postgres/migrations'
import { createPool, FIRST_SCHEMA, type Pool, SCHEMA } from '#shared/postgres/pool'
import { createTestDatabase, PATIENT, type TestDatabase } from '#test/database'
import { until } from '#test/fleet'
import { runScript } from '#test/script'
import { FEW } from '#test/search/archive-index'
import { openTestWriter, shortArticles } from '#test/search/short-articles'

/** As the account that migrates: what a superuser makes, it may not change. */
async function emptyDatabase(t: Test): Promise<[TestDatabase, pg.Client]> {
  const database = await createTestDatabase(t)
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  t.teardown(() => client.end())
  await client.query('drop schema public cascade; create schema public')
  return [database, client]
}

const tablesOf = async (database: TestDatabase) =>
  (
    await database.query("select tablename from pg_tables where schemaname = 'public' order by 1")
  ).map(({ tablename }) => tablename)

/** Columns, indexes, triggers and functions of ours. */
const objectsOf = async (database: TestDatabase) =>
  (
    await database.query(`
      select concat(table_name, '.', column_name, ' ', data_type, ' ', column_default) as it
      from information_schema.columns where table_schema = 'public' and table_name !~ '^(migrations$|archived_)'
      union select indexdef from pg_indexes where schemaname = 'public' and tablename <> 'migrations'
      union select tgname from pg_trigger where not tgisinternal and tgrelid::regclass::text !~ '[.]'
      union select proname from pg_proc where pronamespace = 'public'::regnamespace order by 1`)
  ).map(({ it }) => it)

t.test('an empty database gets all of the first schema, or nothing of it', async t => {
  const [database, client] = await emptyDatabase(t)
  await client.query('create table semantic_sets ()')
  await t.rejects(migrate(database.url), { message: /^Migration 0028_semantic\.sql failed: / })
  t.strictSame(await tablesOf(database), ['migrations', 'semantic_sets'])
  await client.query('drop table semantic_sets')
  t.strictSame(await migrate(database.url), { applied: await migrationFiles(), version: SCHEMA })
  t.strictSame(await tablesOf(database), await tablesOf(await createTestDatabase(t)))
  t.strictSame((await migrate(database.url)).applied, [], 'the second time there is nothing to do')
})

/** Takes away what the migrations after the first schema add. */
const TO_FIRST_SCHEMA = `
  drop trigger pages_back on pages; drop trigger pages_back_gone on pages; drop function note_back_page;
  drop table back_fills, back_addresses, back_days; alter table hosts drop column back_at;
  drop trigger segments_stated on segments; drop function refuse_unstated_segment;
  alter table articles drop column section, drop column kind, drop column access;
  alter table segments drop column stated; alter table segments_ahead drop column stated;
  drop trigger segments_below_clock on segments; drop function refuse_segment_above_clock;
  alter table segments drop column digest; alter table segments_ahead drop column digest;
  alter table pages drop column ends, drop column rests_until; alter table feeds drop column ends, drop column moved_to; drop table canonical_claims, look_answers, second_looks;
  alter table outlet_loads drop column unread, drop column unread_reason;
  alter table embeddings drop column ends, drop column rests_until;
  alter table article_rights drop column article_seq;
  drop table alert_finds, alert_messages, search_alerts, alert_asks, outlet_sets, refusals;
  drop table copy_sketches, copies_due, copies_state; alter table article_texts drop column agencies;
  alter table search_feeds drop column search_id; drop table kept_searches;
  drop table citations, outlet_domains; drop table tombstones, tombstone_addresses, tombstone_key;
  alter table ingest_clock drop column last_removal; drop index article_addresses_id;
  alter table segments drop column cleared; alter table segments_ahead drop column cleared;
  alter table articles drop column own_time; alter table article_texts drop column agency_rules;
  drop table verifications; drop table derived_rules;
  alter table publishers drop column rules; alter table authors drop column rules;
  delete from migrations where number > ${FIRST_SCHEMA}`

t.test(
  'a database of the first schema, with articles and segments, is brought up and works',
  async t => {
    const database = await createTestDatabase(t)
    const write = async (first: number, count: number, work: (pool: Pool) => Promise<unknown>) => {
      const pool = createPool(database.url, 'test', () => {}, PATIENT)
      const { indexer, write: add } = openTestWriter(pool)
      await add(shortArticles(first, count))
      await work(pool)
      await indexer.close()
      await pool.end()
    }
    await write(0, 80, async pool => {
      await makeSegments(pool, FEW)
      await pool.query(
        `insert into article_rights (id, snippet, vector) select id, true, false from articles where seq = 7`,
      )
    })
    const [plain, client] = await emptyDatabase(t)
    await client.query(
      'create table migrations (number int primary key, name text not null, applied_at timestamptz)',
    )
    for (const file of await migrationFiles())
      if (Number(file.slice(0, 4)) <= FIRST_SCHEMA)
        await client.query(
          await readFile(new URL(`../../infra/migrations/${file}`, import.meta.url), 'utf8'),
        )
    await database.query(TO_FIRST_SCHEMA)
    t.strictSame(await objectsOf(database), await objectsOf(plain), 'it is of the first schema')

    const added = (await migrationFiles()).filter(file => Number(file.slice(0, 4)) > FIRST_SCHEMA)
    t.strictSame(await migrate(database.url), { applied: added, version: SCHEMA })
    t.strictSame(await objectsOf(database), await objectsOf(await createTestDatabase(t)))
    const digests = () =>
      database.query(
        'select digest is null as old, sum(last_seq - first_seq + 1)::int as n from segments group by 1',
      )
    t.strictSame(await digests(), [{ old: true, n: 80 }])
    t.strictSame(await database.query('select article_seq::int as seq from article_rights'), [
      { seq: 7 },
    ])
    await write(100, 80, async pool => {
      await makeSegments(pool, FEW)
      t.strictSame(
        (await digests()).find(({ old }) => !old)?.n,
        96,
        'what is made or merged from now on has one',
      )
      t.strictSame(await glanceAtIndex(pool), [])
      t.match(await glanceAtRules(pool), [/^addresses are of a former version/, /^words are of/])
      const never = new AbortController().signal
      await renewKeys(pool, never)
      await renewTexts(pool, never)
      t.strictSame(await glanceAtRules(pool), [])
    })
  },
)

t.test(
  'a database of an older schema, or of a newer one than this checkout, is refused',
  async t => {
    const database = await createTestDatabase(t)
    await database.query('delete from migrations where number > 28')
    const older = `The database is at migration 28, and upgrades begin at ${FIRST_SCHEMA}; first run \`npm run migrate\` of a version that ends with migration ${FIRST_SCHEMA}.`
    await t.rejects(migrate(database.url), { message: older })
    for (const service of ['services/api/main.ts', 'services/crawler/main.ts']) {
      const { code, err } = await runScript(service, [], {
        DATABASE_URL: database.url,
        REDIS_URL: '',
        QDRANT_URL: '',
      })
      t.equal(code, 1)
      t.ok(err.includes(older), err)
    }
    await database.query("insert into migrations (number, name) values (9999, 'of the future')")
    const forgotten = await runScript('services/api/main.ts', [], { DATABASE_URL: database.url })
    t.equal(forgotten.code, 1)
    t.match(forgotten.err, /^api: The database lacks 00\d\d_.*; run `npm run migrate`\.$/m)
    let refusal = ''
    const away = ({ message }: Error) => {
      refusal = message
    }
    await refuseLacking('postgres://nobody@127.0.0.1:1/absent', away)
    t.match(refusal, 'ECONNREFUSED', 'a server that is away is told, and waited for')
    await database.query(
      "insert into migrations (number, name) select n, 'x' from generate_series(29, 9998) n",
    )
    t.match(
      await refuseLacking(database.url),
      /^the database is at migration 9999, newer than this/,
    )
    await t.rejects(migrate(database.url), {
      message: /is at migration 9999, newer than this checkout/,
    })
  },
)

t.test('a file below the newest one that is missing is applied', async t => {
  const database = await createTestDatabase(t)
  await database.query('drop table outlet_sets; delete from migrations where number = 48')
  const { applied } = await migrate(database.url)
  t.strictSame(
    applied.map(file => file.slice(0, 4)),
    ['0048'],
  )
  t.strictSame(await database.query('select from outlet_sets'), [])
})

t.test(
  'a migration that waits for a lock soon gives up, for those behind it, and tries again',
  async t => {
    const [database, client] = await emptyDatabase(t)
    await client.query(
      'create table migrations (number int primary key, name text not null, applied_at timestamptz default now())',
    )
    await client.query('begin; lock table migrations in share mode')
    const migrated = migrate(database.url)
    const waits = async () =>
      (
        await client.query(
          "select from pg_locks where not granted and relation = 'migrations'::regclass",
        )
      ).rowCount !== 0
    await until(waits, 60_000)
    await until(async () => !(await waits()), 60_000)
    await client.query('commit')
    t.equal((await migrated).version, SCHEMA)
  },
)
