import { execFile } from 'node:child_process'
import { open } from 'node:fs/promises'
import { promisify } from 'node:util'
import { type PostgresTools, postgresTools } from '#infra/embedded/postgres-tools'

/**
 * A backup is a file of `pg_dump --format=custom`. No program of ours runs its content: pg_restore
 * sends its statements to the server, where they have the rights of the database's account.
 */
export interface Backup {
  /** When the backup was made, in whole seconds; ISO 8601. */
  made_at: string
  /** Number of the last migration of the database. */
  schema: number
  articles: number
  /** Major version of the server from which it was made. */
  postgres: number
  /** The installation from which the backup was made; null: the file does not say. */
  installation: string | null
}

/** Tables that a backup leaves empty, because their contents are useful only for minutes. */
const PASSING = ['public.semantic_sets']
/**
 * Schemas of the queues, which a backup leaves out. Their messages are derived from our tables, and
 * pg_restore --clean could not drop the partitions that pg-boss makes.
 */
export const QUEUE_SCHEMAS: string[] = ['bullmq', 'pgboss']
/** Our own tables that describe a backup. They have some lines each. */
const DESCRIBING = ['migrations', 'ingest_clock', 'installation']
const MOST_TEXT = 16 * 1024 * 1024

const run = promisify(execFile)

/** @throws when the file was not made by pg_dump */
export async function checkFormat(file: string): Promise<void> {
  await using handle = await open(file, 'r')
  const { buffer } = await handle.read(Buffer.alloc(5), 0, 5, 0)
  if (buffer.toString('latin1') !== 'PGDMP') throw new Error(`${file} is no backup of Perscope.`)
}

/**
 * Reads the facts of a backup from its file, without a database.
 *
 * @throws when it is damaged or cut, or no backup of Perscope
 */
export async function describeBackup({ pgRestore }: PostgresTools, file: string): Promise<Backup> {
  const read = async (...args: string[]) => {
    const { stdout } = await run(pgRestore, [...args, file], {
      env: { ...process.env, TZ: 'UTC', LC_ALL: 'C' },
      maxBuffer: MOST_TEXT,
    }).catch(error => {
      throw unreadable(file, error)
    })
    return stdout
  }
  const list = await read('--list')
  const [, day, time] = /Archive created at (\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d) UTC/.exec(list) ?? []
  const postgres = Number(/Dumped from database version: (\d+)/.exec(list)?.[1])
  const tables = DESCRIBING.map(table => `--table=${table}`)
  const text = await read('--data-only', '--schema=public', ...tables, '--file=-')
  const numbers = rowsOf(text, 'migrations').map(row => Number(row.number))
  const articles = Number(rowsOf(text, 'ingest_clock')[0]?.last_seq)
  const id = rowsOf(text, 'installation')[0]?.id ?? ''
  if (
    !day ||
    !time ||
    !Number.isSafeInteger(postgres) ||
    !Number.isSafeInteger(articles) ||
    numbers.length === 0
  )
    throw new Error(`${file} is no backup of Perscope.`)
  return {
    made_at: new Date(`${day}T${time}Z`).toISOString(),
    schema: Math.max(...numbers),
    articles,
    postgres,
    installation: /^[\da-f-]{36}$/.test(id) ? id : null,
  }
}

function unreadable(file: string, error: unknown): Error {
  const said = error instanceof Error ? error.message : ''
  if (/unsupported version/.test(said))
    return new Error(`${file} is of a newer Postgres than the server.`)
  return new Error(`${file} is damaged or was cut: pg_restore cannot read it.`, { cause: error })
}

/**
 * Rows of a table in the output of pg_restore, by column. The values are numbers, times and names.
 */
function rowsOf(text: string, table: string): Record<string, string>[] {
  const [, head = '', rows = ''] =
    new RegExp(`^COPY public\\.${table} \\(([^)]*)\\) FROM stdin;\\n([^]*?)^\\\\\\.$`, 'm').exec(
      text,
    ) ?? []
  const columns = head.split(', ')
  const lines = rows.split('\n').filter(line => line !== '')
  return lines.map(line =>
    Object.fromEntries(line.split('\t').map((value, at) => [columns[at] ?? '', value])),
  )
}

interface Working {
  databaseUrl: string
  tools: PostgresTools
  signal: AbortSignal
}

/** Writes one consistent moment of the database to a file, while everything continues to run. */
export function dump(working: Working, file: string): Promise<void> {
  const args = [
    '--format=custom',
    '--compress=1',
    '--no-unlogged-table-data',
    '--lock-wait-timeout=30s',
    '--verbose',
  ]
  const passing = [
    ...PASSING.map(table => `--exclude-table-data=${table}`),
    ...QUEUE_SCHEMAS.map(schema => `--exclude-schema=${schema}`),
  ]
  const { url, env } = toolConnection(working.databaseUrl, 'perscope backup')
  return work(
    working.signal,
    working.tools.pgDump,
    [...args, ...passing, `--file=${file}`, url],
    env,
  )
}

/**
 * Reads a backup to its end.
 *
 * @throws when it is damaged or cut
 */
export async function checkWhole(
  { pgRestore }: PostgresTools,
  file: string,
  signal: AbortSignal,
): Promise<void> {
  await run(pgRestore, ['--file=/dev/null', file], {
    signal,
    env: { ...process.env, LC_ALL: 'C' },
  }).catch(error => {
    throw signal.aborted ? error : unreadable(file, error)
  })
}

/**
 * Replaces the contents of the database by those of a backup, in one transaction. When it fails, or
 * any of the processes is killed, the database is unchanged.
 */
export function load(working: Working, file: string): Promise<void> {
  const { url, env } = toolConnection(working.databaseUrl, 'perscope restore')
  const args = [
    '--clean',
    '--if-exists',
    '--single-transaction',
    '--exit-on-error',
    '--no-owner',
    '--no-privileges',
  ]
  return work(
    working.signal,
    working.tools.pgRestore,
    [...args, '--verbose', `--dbname=${url}`, file],
    env,
  )
}

/**
 * Runs a tool to its end. With `--verbose`, the tool prints each step. So it ends by itself when
 * this process is killed and nobody reads the output.
 *
 * @throws an error with the first error message of the tool
 */
async function work(
  signal: AbortSignal,
  tool: string,
  args: string[],
  env: NodeJS.ProcessEnv,
): Promise<void> {
  await run(tool, args, { env, signal, maxBuffer: MOST_TEXT }).catch(error => {
    const lines = String(error.stderr ?? '')
      .trim()
      .split('\n')
    const told = lines.find(line => /error:/.test(line)) ?? lines.at(-1) ?? ''
    throw new Error(told.replace(/^pg_\w+: (error: )?/, '') || error.message)
  })
}

/**
 * Arguments and environment for the connection of a Postgres tool. The password is in the
 * environment, because every account of the machine can see arguments.
 */
function toolConnection(
  databaseUrl: string,
  name: string,
): { url: string; env: NodeJS.ProcessEnv } {
  const url = new URL(databaseUrl)
  const password = decodeURIComponent(url.password)
  url.password = ''
  const env = {
    ...process.env,
    PGAPPNAME: name,
    ...(password === '' ? {} : { PGPASSWORD: password }),
  }
  return { url: url.href, env }
}

/** The tools for the server at `databaseUrl`. */
export function toolsFor(
  databaseUrl: string,
  server: number,
  { signal, say }: { signal: AbortSignal; say(sentence: string): void },
): Promise<PostgresTools> {
  const asksForTls = !['disable', 'allow', 'prefer', null].includes(
    new URL(databaseUrl).searchParams.get('sslmode'),
  )
  return postgresTools(server, { tls: asksForTls, signal, report: say })
}
