import { join, resolve } from 'node:path'
import { type DataDirectory, openDataDirectory } from '#infra/embedded/data-directory'
import { type EmbeddedServers, startServers } from '#infra/embedded/servers'
import type { ServerName } from '#infra/embedded/starting'
import { readConfig } from '#shared/config/config'
import { inDatabase, withDatabase } from '#test/database'
import { superuserUrl } from '#test/servers'
import { say } from './figures.ts'

/** The servers of a bench, and the folder of their data. */
export interface Bench {
  servers: EmbeddedServers
  dataDir: DataDirectory
  /** Address of a database on the server. */
  server: string
  signal: AbortSignal
}

/**
 * Starts servers for a bench, and stops them at its end.
 *
 * @param folder of their data, below DATA_DIR; benches with the same folder share corpora
 * @param only the servers to start; absent: all, and the bench ends if one of them cannot run
 */
export async function withServers<T>(
  name: string,
  folder: string,
  signal: AbortSignal,
  work: (bench: Bench) => Promise<T>,
  only?: ServerName[],
): Promise<T> {
  const dataDir = await openDataDirectory(benchFolder(folder), `npm run bench -- ${name}`)
  const servers = await startServers(dataDir, {
    ...(only && { servers: only }),
    report: say,
    signal,
  })
  try {
    const { DATABASE_URL: server = '', QDRANT_URL, EMBEDDINGS_URL } = servers.addresses
    if (only === undefined && !(QDRANT_URL && EMBEDDINGS_URL))
      throw new Error('This machine cannot run the embedded servers.')
    return await work({ servers, dataDir, server, signal })
  } finally {
    await servers.stop()
    dataDir.release()
  }
}

export const benchFolder = (name: string): string => resolve(join(readConfig().DATA_DIR, name))

/** Makes a database if it does not exist. @returns its address */
export async function ensureDatabase(server: string, name: string): Promise<string> {
  await withDatabase(server, async database => {
    const { rowCount } = await database.query('select from pg_database where datname = $1', [name])
    if (rowCount === 0) await database.query(`create database ${name}`)
  })
  return inDatabase(server, name)
}

/**
 * Makes a database beside the server's own, and drops it when the work is done. If an earlier run
 * left the database, it is replaced.
 *
 * @param template address of a database to copy; null: the new database is empty
 */
export async function inNewDatabase<T>(
  { server, dataDir }: Pick<Bench, 'server' | 'dataDir'>,
  name: string,
  template: string | null,
  work: (url: string) => Promise<T>,
): Promise<T> {
  // Dropping a database ends its connections. Only a superuser may end the connections of
  // autovacuum.
  const superuser = inDatabase(await superuserUrl(dataDir.path, server), 'postgres')
  const drop = () =>
    withDatabase(
      superuser,
      async database => void (await database.query(`drop database if exists ${name} with (force)`)),
    )
  await drop()
  const copied =
    template === null ? '' : ` template ${new URL(template).pathname.slice(1)} strategy file_copy`
  await withDatabase(server, database => database.query(`create database ${name}${copied}`))
  return work(inDatabase(server, name)).finally(drop)
}
