import { join } from 'node:path'
import t from 'tap'
import { postgresIn } from '#infra/embedded/supervision/processes'
import { ask } from '#test/database'
import { until } from '#test/fleet'
import { startTestServers } from '#test/servers'
import { tryLedgers } from './back-model.ts'

/*
 * Postgres is ended as a power failure does, and comes back without its last transactions. So does
 * a standby that was behind when it became the primary.
 */

const servers = await startTestServers({ servers: ['postgres'] })
t.teardown(() => servers.stop())
process.env.DATABASE_URL = servers.addresses.DATABASE_URL
process.env.TEST_SUPERUSER_URL = servers.superuser
const postgres = (sql: string) => ask(servers.superuser, sql, 20_000)
// Commits do not wait for the log, and it is written when it must be.
await postgres("alter system set wal_writer_delay = '10s'")
await postgres('select pg_reload_conf()')

const folder = join(servers.dataDir, 'postgres')
const answers = () =>
  postgres('select').then(
    () => true,
    () => false,
  )
async function crash(): Promise<void> {
  for (const pid of postgresIn(folder)) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {} // ended by itself meanwhile
  }
  await until(answers, 20_000)
}

t.test('a ledger agrees with its pages when Postgres loses its last transactions', t =>
  tryLedgers(t, { acts: ['restart', 'kill', 'lose'], runs: 12, limit: 20_000, crash }),
)
