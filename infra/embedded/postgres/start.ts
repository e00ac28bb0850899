import type { Owner } from '../owner.ts'
import { openPrograms } from '../programs.ts'
import type { Addresses, Starting } from '../starting.ts'
import { postgresPackage } from './binaries.ts'
import { openCluster } from './cluster.ts'
import { databaseUrl, explainPostgres, postgresProgram } from './server.ts'

/** One file of each folder of the package: they tell whether its account can read them. */
export const PROGRAM_PARTS = ['bin/postgres', 'lib/libpq.so.5', 'share/postgresql/postgres.bki']

/** Starts Postgres on `port`, with a cluster under `DATA_DIR`. */
export async function startPostgres(starting: Starting, port: number, owner: Owner | null): Promise<Addresses> {
  const { dataDir, throwaway, family, signal } = starting
  const { folder, version } = await postgresPackage()
  const programs = await openPrograms(folder, PROGRAM_PARTS, `postgres-${version}`, dataDir, owner)
  const lock = await starting.lock('postgres', 'Postgres')
  const cluster = await openCluster(dataDir, programs, owner, throwaway, { family, signal, lock })
  family.sweep(cluster.folder)
  const program = postgresProgram(cluster, port, programs, owner, lock, starting.logOf('postgres'), throwaway)
  await starting.run({ ...program, explain: log => explainPostgres(log, dataDir, port) })
  return { DATABASE_URL: databaseUrl(cluster, port) }
}
