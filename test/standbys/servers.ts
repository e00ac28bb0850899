import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg, { type QueryResultRow } from 'pg'
import { giveTo, openPrograms, postgresAccount } from '#infra/embedded/accounts'
import { PROGRAM_PARTS, postgresPackage } from '#infra/embedded/postgres'
import { postgresIn } from '#infra/embedded/supervision/processes'
import { ask } from '#test/database'
import { freePort, until } from '#test/fleet'
import { run } from '#test/script'
import { startTestServers, type TestServers } from '#test/servers'

const READY = 60_000

export interface TestCluster {
  url: string
  primary: TestPostgres
  standbys: TestStandby[]
  /** Starts another standby of the server that is the primary now. */
  follow(): Promise<void>
  /** The server that is the primary now. */
  current(): TestPostgres
  /** The primary's host hangs for good, and the first standby goes on without it. */
  failOver(): Promise<void>
  /** Ends the present primary as a power failure does, and starts it again. Once a standby. */
  restart(): Promise<void>
  stop(): Promise<void>
}

/**
 * Starts a primary and standbys that stream from it: real servers, with little memory, without
 * fsync. A standby is a copy of the primary's files, made while it runs.
 *
 * @returns url address of the primary's server, as DATABASE_URL of a test run
 */
export async function startTestCluster(standbys: number): Promise<TestCluster> {
  const servers = await startTestServers({ servers: ['postgres'] })
  const url = servers.addresses.DATABASE_URL ?? ''
  const primary = serverAt(servers.superuser, join(servers.dataDir, 'postgres'))
  // A standby that was away for a whole test still finds what it missed.
  await primary.query("alter system set wal_keep_size = '4GB'")
  await primary.query('select pg_reload_conf()')
  // Its command line turns this off, and a role's setting counts more: otherwise a commit is sent
  // to standbys only when the log is written next.
  await primary.query(`alter role ${new URL(url).username} set synchronous_commit = 'on'`)
  // Works on the standbys, which load it.
  await primary.query('create extension pg_stat_statements')
  const followers: TestStandby[] = []
  const all: TestStandby[] = []
  let current: TestPostgres = primary
  let promoted: TestStandby | null = null
  async function follow(): Promise<void> {
    const standby = await startStandby(servers, current, all.length + 1)
    all.push(standby)
    followers.push(standby)
  }
  while (followers.length < standbys) await follow()
  return {
    url,
    primary,
    standbys: followers,
    follow,
    current: () => current,
    async failOver() {
      const next = followers.shift()!
      current.pause()
      next.resume()
      await next.promote()
      const takesWrites = async () =>
        (await next.query('select pg_is_in_recovery() as is'))[0]?.is === false
      await until(takesWrites, READY)
      current = promoted = next
    },
    async restart() {
      await promoted!.kill()
      await promoted!.start()
    },
    async stop() {
      await Promise.all(all.map(standby => standby.kill()))
      primary.resume()
      await servers.stop()
    },
  }
}

export interface TestPostgres {
  url: string
  folder: string
  /** Address of a database of this server. */
  in(databaseUrl: string): string
  /**
   * Runs one statement in a database, as its superuser. A commit may wait for a standby for as
   * long as a test lasts.
   */
  query(sql: string, databaseUrl?: string): Promise<QueryResultRow[]>
  /** Stops all its processes where they are, and lets them go on. */
  pause(): void
  resume(): void
  /** Ends all its processes at once, as if the power failed. */
  kill(): Promise<void>
}

/** @param folder of its files; its processes work there */
function serverAt(url: string, folder: string): TestPostgres {
  const signal = (name: NodeJS.Signals) => {
    for (const pid of postgresIn(folder)) {
      try {
        process.kill(pid, name)
      } catch {} // ended by itself meanwhile
    }
  }
  const inDatabase = (databaseUrl: string): string => {
    const own = new URL(url)
    own.pathname = new URL(databaseUrl).pathname
    return own.href
  }
  return {
    url,
    folder,
    in: inDatabase,
    query: (sql, databaseUrl = url) => ask(inDatabase(databaseUrl), sql, 5 * READY),
    pause: () => signal('SIGSTOP'),
    resume: () => signal('SIGCONT'),
    async kill() {
      await until(() => {
        signal('SIGKILL')
        return postgresIn(folder).length === 0
      }, READY)
    },
  }
}

export interface TestStandby {
  /** The standby receives all that the primary commits, and shows no more of it. */
  lag(): Promise<void>
  /** How many statements it has run, of all databases. */
  statements(): Promise<number>
  catchUp(): Promise<void>
  start(): Promise<void>
  kill(): Promise<void>
  /** Makes it a primary of its own. The one that it followed is not told. */
  promote(): Promise<void>
  url: string
  folder: string
  in(databaseUrl: string): string
  query(sql: string, databaseUrl?: string): Promise<QueryResultRow[]>
  pause(): void
  resume(): void
}

async function startStandby(
  servers: TestServers,
  primary: TestPostgres,
  number: number,
): Promise<TestStandby> {
  const owner = await postgresAccount(() => {})
  const { folder: programs, version } = await postgresPackage()
  const opened = await openPrograms(
    programs,
    PROGRAM_PARTS,
    `postgres-${version}`,
    servers.dataDir,
    owner,
  )
  const folder = join(servers.dataDir, `standby-${number}`)
  await copyPrimary(primary.url, primary.folder, folder)
  await giveTo(owner, folder)
  servers.family.sweep(folder)
  const port = await freePort()
  const own = new URL(primary.url)
  own.port = String(port)
  const server = serverAt(own.href, folder)
  let child: ChildProcess | null = null
  let isPromoted = false
  const standby = {
    ...server,
    async lag() {
      await server.query('select pg_wal_replay_pause()')
      const isPaused = async () => {
        const [row] = await server.query(
          "select pg_get_wal_replay_pause_state() = 'paused' as paused",
        )
        return row?.paused === true
      }
      await until(isPaused, READY)
    },
    async statements() {
      const [row] = await server.query('select sum(calls)::int as calls from pg_stat_statements')
      return Number(row?.calls)
    },
    async catchUp() {
      await server.query('select pg_wal_replay_resume()')
      await hasReplayed(primary, server)
    },
    async start() {
      await rm(join(folder, 'postmaster.pid'), { force: true })
      const settings = settingsOf(port, primary.url)
      child = spawn(join(opened, 'bin', 'postgres'), ['-D', folder, ...settings], {
        cwd: folder,
        env: { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' },
        stdio: ['ignore', 'ignore', 'ignore'],
        ...(owner ? { uid: owner.uid, gid: owner.gid } : {}),
      })
      await until(
        async () => (await server.query('select 1')).length === 1,
        READY,
        'the standby did not start',
      )
      if (!isPromoted) await hasReplayed(primary, server)
    },
    async kill() {
      const ended =
        child !== null && child.exitCode === null && child.signalCode === null
          ? once(child, 'exit')
          : null
      await server.kill()
      await ended
    },
    async promote() {
      await server.query('select pg_promote()')
      isPromoted = true
    },
  }
  await standby.start()
  return standby
}

/** Copies a running server's files, as its manual describes for a base backup without tools. */
async function copyPrimary(url: string, from: string, to: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query("select pg_backup_start('standby', true)")
    await mkdir(to, { mode: 0o700 })
    const parts = (await readdir(from)).filter(
      name => !/^(postmaster\.(pid|opts)|pg_wal)$/.test(name),
    )
    // Node's own `cp` takes much longer for so many files.
    await run('cp', ['-a', ...parts.map(name => join(from, name)), to])
    const { rows } = await client.query<{ labelfile: string }>(
      'select labelfile from pg_backup_stop(false)',
    )
    await mkdir(join(to, 'pg_wal'), { recursive: true, mode: 0o700 })
    await writeFile(join(to, 'backup_label'), rows[0]!.labelfile)
    await writeFile(join(to, 'standby.signal'), '')
    const settings = await readFile(join(to, 'postgresql.auto.conf'), 'utf8')
    await writeFile(
      join(to, 'postgresql.auto.conf'),
      settings.replace(/^synchronous_standby_names.*$/m, ''),
    )
  } finally {
    await client.end()
  }
}

function settingsOf(port: number, primaryUrl: string): string[] {
  const { hostname, port: primaryPort, username, password } = new URL(primaryUrl)
  const primary = `host=${hostname} port=${primaryPort} user=${username} password=${decodeURIComponent(password)}`
  const settings = {
    port,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    // No fewer than the primary has.
    max_connections: 300,
    shared_buffers: '64MB',
    fsync: 'off',
    primary_conninfo: `${primary} application_name=standby`,
    hot_standby: 'on',
    shared_preload_libraries: 'pg_stat_statements',
    timezone: 'UTC',
  }
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
}

/** Waits until a standby shows all that the primary has committed by now. */
async function hasReplayed(primary: TestPostgres, standby: TestPostgres): Promise<void> {
  const [row] = await primary.query('select pg_current_wal_insert_lsn()::text as at')
  const caughtUp = async () => {
    const [replayed] = await standby.query(
      `select pg_last_wal_replay_lsn() >= '${String(row?.at)}' as done`,
    )
    return replayed?.done === true
  }
  await until(caughtUp, READY, () => 'the standby does not catch up')
}
