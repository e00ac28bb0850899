import pg from 'pg'
import t from 'tap'
import { migrate } from '#infra/migrations/migrate'
import { createLogger } from '#shared/log/logger'
import { openQueues } from '#shared/queues/queues'
import { until } from '#test/fleet'
import { startTestServers } from '#test/servers'

t.test(
  'messages on Postgres wait for no standby: they are derived again where they are lost',
  async t => {
    const servers = await startTestServers({ servers: ['postgres'] })
    t.teardown(() => servers.stop())
    const url = servers.addresses.DATABASE_URL ?? ''
    await migrate(url)
    const admin = new pg.Client({ connectionString: servers.superuser })
    await admin.connect()
    t.teardown(() => admin.end())
    // From here on a commit waits for a standby that there is not. The servers of tests wait for
    // nothing by themselves.
    await admin.query(
      `alter database ${new URL(url).pathname.slice(1)} set synchronous_commit = 'on'`,
    )
    await admin.query("alter system set synchronous_standby_names = 'nobody'")
    await admin.query('select pg_reload_conf()')
    const names = async () =>
      (await admin.query('show synchronous_standby_names')).rows[0]?.synchronous_standby_names
    await until(async () => (await names()) === 'nobody', 60_000)

    const queues = openQueues({ DATABASE_URL: url, REDIS_URL: '' }, createLogger('test', 'silent'))
    const taken: string[] = []
    const worker = queues.work('normalise', async ({ pageNo }) => void taken.push(pageNo), {
      concurrency: 1,
    })
    t.teardown(async () => {
      await admin.query('alter system reset synchronous_standby_names')
      await admin.query('select pg_reload_conf()')
      await worker.close()
      await queues.close()
    })
    await queues.add('normalise', [{ key: 'a', data: { pageNo: 'a' } }])
    await until(() => taken.length === 1, 60_000, 'the message waits for a standby')
    t.same(taken, ['a'])
  },
)
