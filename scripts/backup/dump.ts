import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { open, rename, rm } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import pg from 'pg'
import { type PostgresTools, postgresTools } from '../../infra/embedded/postgres-tools.ts'
import type { Pool } from '../../shared/postgres/pool.ts'
import { bytesBar } from '../terminal/progress-bar.ts'
import { asksForTls, majorVersion, toolConnection } from './connection.ts'
import { appendManifest, type Manifest, sumOf } from './manifest.ts'
import { followTables } from './progress.ts'

export interface BackupOptions {
  databaseUrl: string
  /** Watches the progress; the dump has connections of its own. */
  pool: Pool
  file: string
  signal: AbortSignal
  say(sentence: string): void
}

/** Contents of these tables are good for minutes. */
const PASSING = ['public.semantic_sets']

/**
 * Writes one consistent moment of the database to a file, while everything runs. The file appears
 * under its name only when it is whole and on the disk.
 */
export async function writeBackup(options: BackupOptions): Promise<Manifest> {
  const { databaseUrl, file, signal, say } = options
  const aside = `${file}.partial`
  const client = new pg.Client({
    connectionString: databaseUrl,
    application_name: 'perscope backup',
    connectionTimeoutMillis: 5_000,
  })
  client.on('error', () => {})
  await client.connect()
  try {
    const described = await openSnapshot(client)
    const tls = asksForTls(databaseUrl)
    const tools = await postgresTools(described.postgres, { tls, signal, report: say })
    // It holds the hashes of keys and the secret of cursors.
    await (await open(aside, 'w', 0o600)).close()
    await dump(options, tools, described, aside)
    await client.end()
    const { size } = await statOf(aside)
    const bar = bytesBar(size, 'reading the file again')
    const sha256 = await sumOf(aside, size, bar.update, signal).finally(bar.stop)
    const { snapshot: _, ...rest } = described
    const manifest: Manifest = { ...rest, bytes: size, sha256 }
    await appendManifest(aside, manifest)
    await rename(aside, file)
    return manifest
  } catch (error) {
    await rm(aside, { force: true })
    if (signal.aborted) throw new Error(`Interrupted; ${file} was not written.`)
    throw error
  } finally {
    await client.end().catch(() => {})
  }
}

type Described = Omit<Manifest, 'bytes' | 'sha256'> & { snapshot: string }

/** Describes the moment that other sessions can then read, while this transaction lasts. */
async function openSnapshot(client: pg.Client): Promise<Described> {
  await client.query('set statement_timeout = 0; set idle_in_transaction_session_timeout = 0')
  await client.query('begin isolation level repeatable read, read only')
  const { rows } = await client.query<Described & { server: string }>(`
    select 1 as format, to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as made_at,
      (select max(number) from migrations)::int as schema,
      current_setting('server_version_num') as server,
      (select count(*) from article_ids)::int as articles,
      (select array_agg(nspname::text order by nspname) from pg_namespace
        where nspname !~ '^pg_' and nspname <> 'information_schema') as schemas,
      (select json_object_agg(n.nspname || '.' || c.relname, pg_table_size(c.oid))
         from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where c.relkind = 'r' and c.relpersistence = 'p' and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
      ) as tables,
      pg_export_snapshot() as snapshot`)
  const { server, ...described } = rows[0]!
  return { ...described, postgres: majorVersion(server) }
}

async function dump(
  { databaseUrl, pool, signal }: BackupOptions,
  { pgDump }: PostgresTools,
  { snapshot, tables }: Described,
  file: string,
): Promise<void> {
  const { url, env } = toolConnection(databaseUrl, 'perscope backup')
  const total = Object.values(tables).reduce((sum, bytes) => sum + bytes, 0)
  const bar = bytesBar(total, '')
  const progress = followTables(pool, tables, bar)
  const args = ['--format=custom', '--compress=1', '--no-unlogged-table-data', '--lock-wait-timeout=30s', '--verbose']
  const passing = PASSING.map(table => `--exclude-table-data=${table}`)
  const child = spawn(pgDump, [...args, ...passing, `--snapshot=${snapshot}`, `--file=${file}`, url], {
    env,
    signal,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let last = ''
  createInterface({ input: child.stderr }).on('line', line => {
    progress.line(line)
    last = line
  })
  try {
    const [code] = await once(child, 'close')
    if (code !== 0) throw new Error(`pg_dump failed: ${last.replace(/^pg_dump: (error: )?/, '')}`)
  } finally {
    progress.stop()
    bar.stop()
  }
}

async function statOf(file: string): Promise<{ size: number }> {
  const handle = await open(file, 'r')
  try {
    await handle.sync()
    return await handle.stat()
  } finally {
    await handle.close()
  }
}
