import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, chown, cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, isAbsolute, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { giveTo, type Owner, openPrograms, postgresAccount } from '../../infra/embedded/accounts.ts'
import { postgresPackage } from '../../infra/embedded/postgres.ts'
import { postgresTools } from '../../infra/embedded/postgres-tools.ts'
import { ask } from '../database.ts'
import { freePort, until } from '../fleet.ts'

const run = promisify(execFile)
const TOOLS = ['bin/pg_basebackup', 'share/postgres.bki']
const PARTS = ['bin/postgres', 'lib/libpq.so.5', 'share/postgresql/postgres.bki']

const SUPERUSER = 'perscope'
const PATIENCE = 60_000

/** What an operator copies from `infra/ha/postgres`, in a folder of a test's own. */
export interface Machine {
  /** Folder of the archive. */
  archive: string
  /** The text of a file of `infra/ha/postgres`, with the paths of this machine. */
  file(name: string): Promise<string>
  /** Makes a server's data folder. */
  initialise(folder: string, superuser?: string): Promise<void>
  /** Takes a base backup of a running server, into `base` beside the archived log. */
  backUp(server: Server): Promise<void>
  /** Copies the newest base backup to a new data folder. */
  restore(folder: string): Promise<void>
  /** Names of the base backups, oldest first. */
  backups(): Promise<string[]>
  /** Starts the server of a data folder; on a free port, unless one is given. */
  start(folder: string, superuser?: string, port?: number): Promise<Server>
}

export interface Server {
  url: string
  folder: string
  log(): string
  query(sql: string): Promise<Record<string, unknown>[]>
  stop(signal?: NodeJS.Signals): Promise<void>
}

/** @param root a folder that all accounts can enter */
export async function createMachine(root: string): Promise<Machine> {
  const owner = await postgresAccount(() => {})
  const { folder, version } = await postgresPackage()
  const programs = join(await openPrograms(folder, PARTS, `postgres-${version}`, root, owner), 'bin')
  const tools = await postgresTools(18, { tls: false, signal: new AbortController().signal, report: () => {} })
  // Programs of the PATH need no folder.
  const PG_BIN = isAbsolute(tools.pgDump)
    ? join(await openPrograms(dirname(dirname(tools.pgDump)), TOOLS, 'postgres-tools', root, owner), 'bin')
    : '/usr/bin'
  const archive = join(root, 'archive', 'wal')
  // As docs/backup.md makes them.
  for (const each of [dirname(archive), archive]) {
    await mkdir(each, { mode: 0o700 })
    if (owner) await chown(each, owner.uid, owner.gid)
  }
  const file = async (name: string) => {
    const source = fileURLToPath(new URL(`../../infra/ha/postgres/${name}`, import.meta.url))
    const text = await readFile(source, 'utf8')
    return text.replaceAll('/etc/perscope/postgres', root).replaceAll('/var/lib/perscope-archive/wal', archive)
  }
  for (const name of ['archive-wal', 'base-backup'])
    await writeFile(join(root, name), await file(name), { mode: 0o755 })
  const bases = join(dirname(archive), 'base')
  const backups = async () => (await readdir(bases)).filter(name => /Z$/.test(name)).sort()
  return {
    archive,
    file,
    async initialise(data, superuser = SUPERUSER) {
      await mkdir(data, { mode: 0o700 })
      if (owner) await chown(data, owner.uid, owner.gid)
      const options = ['-D', data, '-U', superuser, '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync']
      await run(join(programs, 'initdb'), options, asOwner(owner))
    },
    async backUp(server) {
      const { hostname, port, username } = new URL(server.url)
      const environment = { PATH: process.env.PATH, PGHOST: hostname, PGPORT: port, PGUSER: username }
      const script = join(root, 'base-backup')
      await run(script, [dirname(archive)], { ...asOwner(owner), env: { ...environment, PG_BIN } })
    },
    async restore(data) {
      const newest = (await backups()).at(-1) ?? ''
      await cp(join(bases, newest), data, { recursive: true })
      await chmod(data, 0o700)
      await giveTo(owner, data)
    },
    backups,
    start: async (data, superuser = SUPERUSER, port) =>
      start(join(programs, 'postgres'), data, owner, superuser, port ?? (await freePort())),
  }
}

const asOwner = (owner: Owner | null) => ({
  cwd: '/',
  env: { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' },
  ...(owner && { uid: owner.uid, gid: owner.gid }),
})

async function start(
  program: string,
  folder: string,
  owner: Owner | null,
  superuser: string,
  port: number,
): Promise<Server> {
  const settings = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'max_connections=60', 'fsync=off']
  const words = ['-D', folder, '-p', String(port), ...settings.flatMap(setting => ['-c', setting])]
  const child: ChildProcess = spawn(program, words, { ...asOwner(owner), stdio: ['ignore', 'ignore', 'pipe'] })
  let text = ''
  child.stderr?.setEncoding('utf8').on('data', part => {
    text = (text + part).slice(-100_000)
  })
  const ended = once(child, 'exit')
  const url = `postgres://${superuser}@127.0.0.1:${port}/postgres`
  await until(
    async () => (await ask(url, 'select 1')).length === 1,
    PATIENCE,
    () => `Postgres did not start: ${text}`,
  )
  return {
    url,
    folder,
    log: () => text,
    query: sql => ask(url, sql, PATIENCE),
    async stop(signal = 'SIGINT') {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal)
      await ended
    },
  }
}
