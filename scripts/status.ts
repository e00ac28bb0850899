import { createLogger } from '../shared/log/logger.ts'
import { outletHealth } from '../shared/outlets/health.ts'
import { createPool } from '../shared/postgres/pool.ts'
import { runCommand } from '../shared/process/command.ts'
import { openQueues } from '../shared/queues/queues.ts'
import { readStatus, statusTable } from './status/status.ts'

await runCommand(
  {
    name: 'status',
    about: 'What the system holds and what it still has to do.',
    usage: ['', '[--json]'],
    options: { json: { type: 'boolean', about: 'prints one JSON object' } },
    needs: ['DATABASE_URL'],
  },
  async ({ config, options, print }) => {
    const log = createLogger('status', 'silent')
    const pool = createPool(config.DATABASE_URL, 'status', () => {})
    const queues = openQueues(config, log)
    try {
      const outlets = { healthy: 0, silent: 0, failing: 0 }
      for (const { health } of await outletHealth(pool)) outlets[health] += 1
      const status = await readStatus(pool, queues, outlets)
      print(options.json === true ? JSON.stringify(status) : statusTable(status))
    } finally {
      await queues.close()
      await pool.end()
    }
  },
)
