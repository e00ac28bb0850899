import { rm } from 'node:fs/promises'
import t from 'tap'
import { openDataDirectory } from '#infra/embedded/data-directory'
import { startServers } from '#infra/embedded/servers'
import { migrate } from '#infra/migrations/migrate'
import { ask } from '#test/database'
import { superuserUrl } from '#test/servers'
import { temporaryFolder } from './running.ts'

t.test('the account of the services owns the database and is no superuser', async t => {
  const dataDir = await openDataDirectory(temporaryFolder(t), 'a test')
  t.teardown(async () => {
    dataDir.release()
    await rm(dataDir.path, { recursive: true, force: true })
  })
  const servers = await startServers(dataDir, {
    servers: ['postgres'],
    report: () => {},
    throwaway: true,
  })
  t.teardown(() => servers.stop())
  const url = servers.addresses.DATABASE_URL ?? ''
  t.same(
    await ask(
      url,
      'select rolsuper, rolcreaterole, rolreplication from pg_roles where rolname = current_user',
    ),
    [{ rolsuper: false, rolcreaterole: false, rolreplication: false }],
  )
  await migrate(url)
  const foreign = `select relname from pg_class where relkind in ('r', 'p', 'v', 'S') and relowner <> current_user::regrole
        and relnamespace::regnamespace::text !~ '^(pg_|information_schema)'`
  t.same(await ask(url, foreign), [])
  await t.rejects(ask(url, "copy (select 1) to program 'true'"), /permission denied/)
  await t.rejects(ask(url, "select pg_read_file('postgresql.conf')"), /permission denied/)

  // As a version of before migration 23 made them, which knew one account.
  await ask(await superuserUrl(dataDir.path, url), 'alter table migrations owner to perscope')
  await t.rejects(migrate(url), {
    message: /does not own this database.* first run a version that ends with/,
  })
})
