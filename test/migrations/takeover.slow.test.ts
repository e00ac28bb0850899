import { readFile } from 'node:fs/promises'
import pg from 'pg'
import t, { type Test } from 'tap'
import { migrate, migrationFiles } from '../../infra/migrations/migrate.ts'
import { SCHEMA } from '../../shared/postgres/pool.ts'
import { createTestDatabase, type TestDatabase } from '../database.ts'
import { until } from '../fleet.ts'

t.setTimeout(120_000)

const BACK = new URL('back-to-0022.sql', import.meta.url)

/**
 * Everything in schema `public`, a line each, by name: an added column may stand last in its table.
 */
const CATALOG = `
  select format('column %s.%s %s%s%s%s, stored %s, statistics %s, collation %s, default %s', c.relname, a.attname,
                format_type(a.atttypid, a.atttypmod), case when a.attnotnull then ' not null' else '' end,
                case when a.attidentity <> '' then ' identity' else '' end,
                case when a.attgenerated <> '' then ' generated' else '' end,
                a.attstorage, a.attstattarget, a.attcollation::regcollation, pg_get_expr(d.adbin, d.adrelid)) as line
    from pg_attribute a join pg_class c on c.oid = a.attrelid
    left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
   where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v', 'm')
     and a.attnum > 0 and not a.attisdropped
  union all
  select format('relation %s %s %s %s %s', relkind, relpersistence, relname, reloptions::text,
                pg_get_expr(relpartbound, oid))
    from pg_class where relnamespace = 'public'::regnamespace
  union all
  select format('index %s', indexdef) from pg_indexes where schemaname = 'public'
  union all
  select format('constraint %s %s %s', conrelid::regclass, case contype when 'n' then '' else conname end,
                pg_get_constraintdef(oid))
    from pg_constraint where connamespace = 'public'::regnamespace
  union all
  select format('function %s', pg_get_functiondef(oid)) from pg_proc where pronamespace = 'public'::regnamespace
  union all
  select format('trigger %s', pg_get_triggerdef(oid)) from pg_trigger where not tgisinternal
  union all
  select format('type %s', typname) from pg_type where typnamespace = 'public'::regnamespace and typtype in ('d', 'e')
  union all
  select format('extension %s', extname) from pg_extension
  union all
  select format('migration %s %s', number, name) from migrations
  union all
  select format('row %s of %s', clock, 'ingest_clock') from (select count(*) as clock from ingest_clock) one
  union all
  select format('row %s of %s', versions, 'segments_version') from (select count(*) as versions from segments_version) one
   order by 1`

/** The schema that the takeover gives, brought back. */
async function formerDatabase(t: Test): Promise<TestDatabase> {
  const database = await createTestDatabase(t)
  // As the account that migrates: what a superuser makes, it may not change.
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  await client.query('drop schema public cascade; create schema public')
  for (const file of (await migrationFiles()).filter(file => Number(file.slice(0, 4)) <= 28)) {
    await client.query(await readFile(new URL(`../../infra/migrations/${file}`, import.meta.url), 'utf8'))
  }
  await client.query(await readFile(BACK, 'utf8'))
  await client.end()
  return database
}

const linesOf = async (database: TestDatabase) => (await database.query(CATALOG)).map(({ line }) => line)

t.test('a database at migration 0022, taken over, has the schema of a new one', async t => {
  const fresh = await createTestDatabase(t)
  const former = await formerDatabase(t)
  await former.query(`insert into outlets (domain, name, country, languages, time_zone)
    values ('dagkoerier.example', 'De Dagkoerier', 'NL', '{nl}', 'Europe/Amsterdam')`)
  await former.query('update ingest_clock set last_seq = 7')
  const { applied, version } = await migrate(former.url)
  t.match(applied, ['takeover-of-0022.sql'])
  t.equal(version, SCHEMA, 'connections bear the number of the newest migration')
  t.strictSame(await linesOf(former), await linesOf(fresh))
  t.strictSame(await former.query('select name from outlets'), [{ name: 'De Dagkoerier' }], 'rows stay')
  t.strictSame(await former.query('select last_seq from ingest_clock'), [{ last_seq: 7n }])
  t.strictSame((await migrate(former.url)).applied, [], 'the second time there is nothing to do')
})

t.test('a database older than 0022, or newer than this checkout, is refused and stays as it is', async t => {
  const former = await formerDatabase(t)
  await former.query('delete from migrations where number > 17')
  const before = await linesOf(former)
  await t.rejects(migrate(former.url), {
    message:
      'The database is at migration 17, and only 22 can be taken over; first run `npm run migrate` of a checkout with migration 22.',
  })
  t.strictSame(await linesOf(former), before)
  await former.query("insert into migrations (number, name) values (9999, 'of the future')")
  await t.rejects(migrate(former.url), { message: /is at migration 9999, newer than this checkout/ })
})

t.test('a takeover that fails changes nothing', async t => {
  const former = await formerDatabase(t)
  await former.query('create view in_the_way as select title_stems from article_words')
  const before = await linesOf(former)
  await t.rejects(migrate(former.url), { message: /takeover-of-0022\.sql failed: cannot drop column title_stems/ })
  t.strictSame(await linesOf(former), before)
})

t.test('while a migration waits for a long query, others do not wait behind it', async t => {
  const former = await formerDatabase(t)
  const reader = new pg.Client({ connectionString: former.url })
  await reader.connect()
  await reader.query('begin; select from article_words')
  const migrated = migrate(former.url)
  await until(async () => {
    const waiting = await former.query(
      "select from pg_locks where not granted and relation = 'article_words'::regclass",
    )
    return waiting.length > 0
  }, 60_000)
  t.strictSame(await former.query('select count(*)::int as n from article_words'), [{ n: 0 }])
  await reader.query('commit')
  t.match((await migrated).applied, ['takeover-of-0022.sql'])
  await reader.end()
})
