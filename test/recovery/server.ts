import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chown, mkdir } from 'node:fs/promises'
import { dirname, isAbsolute, join } from 'node:path'
import { type Owner, openPrograms, postgresAccount } from '#infra/embedded/accounts'
import { PROGRAM_PARTS, postgresPackage } from '#infra/embedded/postgres'
import { postgresTools } from '#infra/embedded/postgres-tools'
import { ask } from '#test/database'
import { freePort, heard, until } from '#test/fleet'
import { run } from '#test/script'
import { type LogArchive, openArchive } from './log-archive.ts'

const TOOLS = ['bin/pg_basebackup', 'share/postgres.bki']

const SUPERUSER = 'perscope'
const PATIENCE = 60_000

/** Programs of Postgres, and an archive, in a folder of a test's own. */
export interface Machine {
  archive: LogArchive
  /** Makes a server's data folder. */
  initialise(data: string, superuser?: string): Promise<void>
  /** Starts the server of a data folder; on a free port, unless one is given. */
  start(data: string, superuser?: string, port?: number): Promise<Server>
}

export interface Server {
  url: string
  log(): string
  query(sql: string): Promise<Record<string, unknown>[]>
  stop(): Promise<void>
}

/** @param root a folder that all accounts can enter */
export async function createMachine(root: string): Promise<Machine> {
  const owner = await postgresAccount(() => {})
  const { folder, version } = await postgresPackage()
  const programs = join(
    await openPrograms(folder, PROGRAM_PARTS, `postgres-${version}`, root, owner),
    'bin',
  )
  const tools = await postgresTools(18, {
    tls: false,
    signal: new AbortController().signal,
    report: () => {},
  })
  // Programs of the PATH need no folder.
  const PG_BIN = isAbsolute(tools.pgDump)
    ? join(
        await openPrograms(dirname(dirname(tools.pgDump)), TOOLS, 'postgres-tools', root, owner),
        'bin',
      )
    : '/usr/bin'
  return {
    archive: await openArchive(root, owner, { PG_BIN }),
    async initialise(data: string, superuser: string = SUPERUSER) {
      await mkdir(data, { mode: 0o700 })
      if (owner) await chown(data, owner.uid, owner.gid)
      const options = [
        '-D',
        data,
        '-U',
        superuser,
        '-A',
        'trust',
        '-E',
        'UTF8',
        '--locale=C',
        '--no-sync',
      ]
      await run(join(programs, 'initdb'), options, asOwner(owner))
    },
    start: async (data: string, superuser: string = SUPERUSER, port?: number) =>
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
  const settings = [
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    'max_connections=60',
    'fsync=off',
  ]
  const words = ['-D', folder, '-p', String(port), ...settings.flatMap(setting => ['-c', setting])]
  const child: ChildProcess = spawn(program, words, {
    ...asOwner(owner),
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const log = heard(child.stderr)
  const ended = once(child, 'exit')
  const url = `postgres://${superuser}@127.0.0.1:${port}/postgres`
  await until(
    async () => (await ask(url, 'select 1')).length === 1,
    PATIENCE,
    () => `Postgres did not start: ${log()}`,
  )
  return {
    url,
    log,
    query: (sql: string) => ask(url, sql, PATIENCE),
    async stop() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGINT')
      await ended
    },
  }
}
