import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { createTestPool } from '../../test/database.ts'

/** The packages that the engine uses in Postgres, without its archive. */
const PACKAGES = ['lru-cache', 'multilingual-stemmer', 'pg']

const { database, pool } = await createTestPool(t)
const root = join(import.meta.dirname, '../..')
/** The engine alone: its folder, and its packages. */
const alone = await mkdtemp(join(tmpdir(), 'perscope-test-'))
t.teardown(() => rm(alone, { recursive: true }))
await cp(join(root, 'search'), join(alone, 'search'), { recursive: true })
await writeFile(join(alone, 'package.json'), '{"type":"module"}')
await mkdir(join(alone, 'node_modules'))
for (const name of PACKAGES)
  await symlink(join(root, 'node_modules', name), join(alone, 'node_modules', name))

const run = async (name: string) =>
  (
    await promisify(execFile)(process.execPath, [join(alone, `search/examples/${name}.ts`)], {
      env: { PATH: process.env.PATH, DATABASE_URL: database.url },
    })
  ).stdout.split('\n')

t.test('ten articles are indexed and found by the engine alone', async t => {
  const lines = await run('ten-articles')
  t.equal(lines[0], '10 articles were indexed.')
  t.ok(lines.includes('brug: 3 found'), lines.join('\n'))
  t.ok(lines.includes('  2026-01-08 De Maas staat hoog'), 'the latest first')
})

t.test('pages show what was there at the first one, whatever others write meanwhile', async t => {
  const pages = [
    [12, 11, 10, 9, 8],
    [7, 6, 5, 4, 3],
    [2, 1],
  ].map(numbers => `${numbers.map(number => `Bericht ${number}`).join(', ')} (of 12)`)
  t.same(await run('frozen-pages'), [...pages, 'A new search finds 18.', ''])
})

// Columns, indexes and constraints, without what depends on the name of the schema.
const DESCRIBED = `
  select table_name || '.' || column_name as name, concat_ws(' ', data_type, udt_name, datetime_precision, collation_name,
         is_nullable, column_default, is_identity) as about
    from information_schema.columns where table_schema = $1
  union all select tablename || ' ' || indexname, replace(indexdef, $1 || '.', '') from pg_indexes where schemaname = $1
  union all select conrelid::regclass::text || ' ' || conname, pg_get_constraintdef(oid) from pg_constraint
             where connamespace = $1::regnamespace
  union all select relname, concat_ws(' ', relkind, reloptions, pg_get_partkeydef(oid), pg_get_expr(relpartbound, oid))
              from pg_class where relnamespace = $1::regnamespace and relkind in ('r', 'p')
  union all select attrelid::regclass || '.' || attname, concat(attstorage, ' ', attstattarget) from pg_attribute join pg_class c on c.oid = attrelid
             where relnamespace = $1::regnamespace and attnum > 0 and relkind in ('r', 'p')
  union all select relname || ' ' || tgname, replace(pg_get_triggerdef(t.oid), $1 || '.', '')
              from pg_trigger t join pg_class c on c.oid = tgrelid where not tgisinternal and relnamespace = $1::regnamespace
  union all select proname, prosrc from pg_proc where pronamespace = $1::regnamespace and proname like 'refuse_%'
  order by 1, 2`

t.test('schema.sql makes the tables that the migrations have made', async t => {
  const client = await pool.connect()
  t.teardown(() => client.release(true))
  const describe = async (schema: string) => {
    await client.query(`set search_path = ${schema}`)
    return (await client.query<{ name: string; about: string }>(DESCRIBED, [schema])).rows
  }
  await client.query('create schema own')
  await client.query('set search_path = own')
  await client.query(await readFile(join(root, 'search/schema.sql'), 'utf8'))
  const own = await describe('own')
  const tables = new Set(own.map(({ name }) => name.split(/[. ]/)[0]))
  const all = (await describe('public')).filter(({ name }) => tables.has(name.split(/[. ]/)[0]))
  t.ok(tables.size > 15)
  t.same(own, all)
})
