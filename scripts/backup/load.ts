import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { PostgresTools } from '../../infra/embedded/postgres-tools.ts'
import type { Pool } from '../../shared/postgres/pool.ts'
import { bytesBar } from '../terminal/progress-bar.ts'
import { toolConnection } from './connection.ts'
import type { Manifest } from './manifest.ts'
import { followTables } from './progress.ts'

export interface LoadOptions {
  databaseUrl: string
  /** Watches the progress. */
  pool: Pool
  tools: PostgresTools
  file: string
  manifest: Manifest
  signal: AbortSignal
}

/**
 * Replaces the contents of the database by those of a backup, in one transaction: when it fails, or
 * any of the processes is killed, nothing has changed.
 */
export async function loadBackup({ databaseUrl, pool, tools, file, manifest, signal }: LoadOptions): Promise<void> {
  const { url, env } = toolConnection(databaseUrl, 'perscope restore')
  const total = Object.values(manifest.tables).reduce((sum, bytes) => sum + bytes, 0)
  const bar = bytesBar(total, '')
  const progress = followTables(pool, manifest.tables, bar)
  const errors: string[] = []
  const archive = spawn(
    tools.pgRestore,
    ['--file=-', '--no-owner', '--no-privileges', '--exit-on-error', '--verbose', file],
    { env, signal, stdio: ['ignore', 'pipe', 'pipe'] },
  )
  const target = spawn(tools.psql, ['--no-psqlrc', '--quiet', '--set=ON_ERROR_STOP=1', '--file=-', url], {
    env,
    signal,
    stdio: ['pipe', 'ignore', 'pipe'],
  })
  for (const child of [archive, target]) child.on('error', error => errors.push(error.message))
  createInterface({ input: archive.stderr }).on('line', line => {
    progress.line(line)
    if (/error:/.test(line)) errors.push(line)
  })
  createInterface({ input: target.stderr }).on('line', line => {
    if (/ERROR|FATAL|error:/.test(line)) errors.push(line)
  })
  // psql ends at an error before it has read all.
  target.stdin.on('error', () => archive.kill())
  target.stdin.write(opening(manifest.schemas))
  archive.stdout.pipe(target.stdin, { end: false })
  const ended = once(target, 'close')
  // An error of pg_restore is thrown before anybody waits for this.
  ended.catch(() => {})
  try {
    const [archiveCode] = await once(archive, 'close')
    // Only this makes the contents visible. Without it psql ends, and Postgres rolls back.
    target.stdin.end(archiveCode === 0 ? '\ncommit;\n' : '')
    const [targetCode] = await ended
    if (archiveCode !== 0 || targetCode !== 0) {
      throw new Error(`The database is as it was; the restore failed: ${errors[0] ?? 'it was ended'}`)
    }
  } catch (error) {
    if (!signal.aborted) throw error
    throw new Error('Interrupted; the database is as it was.')
  } finally {
    progress.stop()
    bar.stop()
  }
}

/**
 * The statements before the archive's own. They drop whole schemas, because a newer schema may hold
 * more than the archive, and pg_restore would drop only what the archive holds. A dump does not
 * create `public`, which every database has.
 */
function opening(schemas: string[]): string {
  const names = schemas.map(schema => `"${schema.replaceAll('"', '""')}"`)
  return [
    'begin;',
    "set local lock_timeout = '10s';",
    ...names.map(name => `drop schema if exists ${name} cascade;`),
    'create schema public;\n',
  ].join('\n')
}
