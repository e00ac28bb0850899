import pg from 'pg'
import t, { type Test } from 'tap'
import { migrate, migrationFiles } from '../../infra/migrations/migrate.ts'
import { FIRST_SCHEMA, SCHEMA } from '../../shared/postgres/pool.ts'
import { createTestDatabase, type TestDatabase } from '../database.ts'
import { until } from '../fleet.ts'
import { runScript } from '../script.ts'

t.setTimeout(120_000)

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
  (await database.query("select tablename from pg_tables where schemaname = 'public' order by 1")).map(
    ({ tablename }) => tablename,
  )

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

t.test('a database of an older schema, or of a newer one than this checkout, is refused', async t => {
  const database = await createTestDatabase(t)
  await database.query('delete from migrations where number > 30')
  const older = `The database is at migration 30, and upgrades begin at ${FIRST_SCHEMA}; first run \`npm run migrate\` of a version that ends with migration ${FIRST_SCHEMA}.`
  await t.rejects(migrate(database.url), { message: older })
  for (const service of ['services/api/main.ts', 'services/crawler/main.ts']) {
    const { code, err } = await runScript(service, [], { DATABASE_URL: database.url, REDIS_URL: '', QDRANT_URL: '' })
    t.equal(code, 1)
    t.ok(err.includes(older), err)
  }
  await database.query("insert into migrations (number, name) values (9999, 'of the future')")
  await t.rejects(migrate(database.url), { message: /is at migration 9999, newer than this checkout/ })
})

t.test(
  'a migration that waits for a lock soon gives up, so that others do not wait behind it, and tries again',
  async t => {
    const [database, client] = await emptyDatabase(t)
    await client.query(
      'create table migrations (number int primary key, name text not null, applied_at timestamptz default now())',
    )
    await client.query('begin; lock table migrations in share mode')
    const migrated = migrate(database.url)
    const waits = async () =>
      (await client.query("select from pg_locks where not granted and relation = 'migrations'::regclass")).rowCount !==
      0
    await until(waits, 60_000)
    await until(async () => !(await waits()), 60_000)
    await client.query('commit')
    t.equal((await migrated).version, SCHEMA)
  },
)
