import { statfsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import type { Owner } from '../owner.ts'
import { diskProblem, Problem } from '../problem.ts'
import { kill, postgresIn } from '../supervision/processes.ts'
import type { Program } from '../supervision/program.ts'
import { ANSWER_MS } from '../supervision/silence.ts'
import { type Cluster, SUPERUSER } from './cluster.ts'
import { machineMemory, postgresSettings } from './settings.ts'

const DATABASE = 'perscope'
/** The size of a segment of the write-ahead log. Postgres needs room for one to start. */
const SEGMENT_BYTES = 16 * 1024 * 1024

export const databaseUrl = (cluster: Cluster, port: number, database = DATABASE): string =>
  `postgres://${SUPERUSER}:${encodeURIComponent(cluster.password)}@127.0.0.1:${port}/${database}`

/** The Postgres server of `cluster`, as the supervisor runs it. */
export function postgresProgram(
  cluster: Cluster,
  port: number,
  programs: string,
  owner: Owner | null,
  lock: number,
  log: string,
  throwaway: boolean,
): Program {
  const settings = Object.entries(postgresSettings(port, machineMemory(), throwaway))
  return {
    name: 'Postgres',
    command: join(programs, 'bin', 'postgres'),
    args: ['-D', cluster.folder, ...settings.flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    cwd: cluster.folder,
    env: { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' },
    owner,
    lock,
    log,
    prepare: () => clearStale(cluster.folder),
    isReady: () => makeDatabase(cluster, port),
    isAlive: () => takesConnections(cluster, port),
    // Fast shutdown, then immediate shutdown. Neither loses committed data.
    stop: [
      { signal: 'SIGINT', wait: 7_000 },
      { signal: 'SIGQUIT', wait: 2_000 },
    ],
    gentle: 'SIGQUIT',
  }
}

/**
 * Ends the processes that a killed server left, and removes its `postmaster.pid`. Its backends may
 * run on for a while, and they keep a new server from starting. The id in `postmaster.pid` may by
 * now belong to another process. We hold the lock of `DATA_DIR` and took the cluster's own lock
 * before our first start. Every Postgres process in the cluster's folder is therefore ours.
 */
async function clearStale(folder: string): Promise<void> {
  if (process.platform !== 'linux') return
  for (const pid of postgresIn(folder)) kill(pid)
  await rm(join(folder, 'postmaster.pid'), { force: true })
}

/** Makes the database unless it is there. True when the server answers. */
async function makeDatabase(cluster: Cluster, port: number): Promise<boolean> {
  const client = new pg.Client({
    connectionString: databaseUrl(cluster, port, 'postgres'),
    connectionTimeoutMillis: 5_000,
  })
  client.on('error', () => {})
  try {
    await client.connect()
    const { rowCount } = await client.query('select from pg_database where datname = $1', [DATABASE])
    if (rowCount === 0) await client.query(`create database ${DATABASE}`)
    return true
  } finally {
    await client.end().catch(() => {})
  }
}

/** Whether the server answers. "too many connections" and "starting up" are answers too. */
async function takesConnections(cluster: Cluster, port: number): Promise<boolean> {
  const client = new pg.Client({
    connectionString: databaseUrl(cluster, port, 'postgres'),
    connectionTimeoutMillis: ANSWER_MS,
  })
  client.on('error', () => {})
  try {
    await client.connect()
    return true
  } catch (error) {
    return error instanceof pg.DatabaseError
  } finally {
    await client.end().catch(() => {})
  }
}

/** The reason why Postgres did not start, told from its log. */
export function explainPostgres(log: string, dataDir: string, port: number): Problem | null {
  if (/Address already in use/.test(log)) {
    return new Problem(`Port ${port} on 127.0.0.1 is taken by another program; end that one, and start again.`)
  }
  // On a full disk the log may be empty, so the free space is checked.
  const { bavail, bsize } = statfsSync(dataDir)
  if (bavail * bsize < SEGMENT_BYTES) return diskProblem('ENOSPC', dataDir)
  return diskProblem(/No space left on device|Disk quota exceeded|Read-only file system/.exec(log)?.[0] ?? '', dataDir)
}
