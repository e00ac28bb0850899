import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { readIfThere, readRecord } from '../../infra/embedded/files.ts'
import { PORTS, RUNNING } from '../../shared/config/beside.ts'
import type { Config } from '../../shared/config/config.ts'
import { metricsAddress, SERVICES } from '../start/services.ts'

/**
 * Addresses of the metrics of an `npm start` that runs on `DATA_DIR` and on the same database.
 * Empty when none runs: other processes name their port in the first line of their log.
 */
export async function metricsOfStart({
  DATA_DIR: dataDir,
  DATABASE_URL: url,
}: Pick<Config, 'DATA_DIR' | 'DATABASE_URL'>): Promise<Record<string, string>> {
  const running = parseEnv((await readIfThere(join(dataDir, RUNNING))) ?? '')
  if (running.DATABASE_URL !== url) return {}
  const ports = await readRecord(join(dataDir, PORTS))
  return Object.fromEntries(
    SERVICES.flatMap(name => {
      const port = ports[name]
      return typeof port === 'number' ? [[name, `${metricsAddress(running, port)}/metrics`]] : []
    }),
  )
}
