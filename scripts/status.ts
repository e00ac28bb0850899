import { createLogger } from '../shared/log/logger.ts'
import { createPool } from '../shared/postgres/pool.ts'
import { runCommand } from '../shared/process/command.ts'
import { openQueues } from '../shared/queues/queues.ts'
import { readStatus } from '../shared/status/status.ts'
import { metricsOfStart } from './start/services.ts'
import { causesNow } from './terminal/causes.ts'
import { statusTable } from './terminal/status-table.ts'

await runCommand(
  {
    name: 'status',
    about: 'Shows the contents of the index and the open work.',
    usage: ['', '[--json]'],
    options: { json: { type: 'boolean', about: 'prints one JSON object' } },
    needs: ['DATABASE_URL'],
  },
  async ({ config, options, print }) => {
    const log = createLogger('status', 'silent')
    const pool = createPool(config.DATABASE_URL, 'status', () => {}, { mayBeStandby: true })
    const queues = openQueues(config, log)
    try {
      const status = await readStatus(pool, queues, config)
      const metrics = await metricsOfStart(config)
      const causes = await causesNow(config, pool, { thoroughly: false })
      print(
        options.json === true ? JSON.stringify({ ...status, metrics, causes }) : statusTable(status, metrics, causes),
      )
    } finally {
      await queues.close()
      await pool.end()
    }
  },
)
