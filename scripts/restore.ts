import { openDataDirectory } from '../infra/embedded/data-directory.ts'
import { postgresTools } from '../infra/embedded/postgres-tools.ts'
import { startServers } from '../infra/embedded/servers.ts'
import { migrate, migrationFiles } from '../infra/migrations/migrate.ts'
import type { Config } from '../shared/config/config.ts'
import { counted } from '../shared/log/counted.ts'
import { createPool, type Pool } from '../shared/postgres/pool.ts'
import { type CommandContext, runCommand, UsageError } from '../shared/process/command.ts'
import { checkNobodyConnected } from './backup/connected.ts'
import { asksForTls, majorVersion } from './backup/connection.ts'
import { loadBackup } from './backup/load.ts'
import { type Manifest, readManifest, sumOf } from './backup/manifest.ts'
import { compareVectors } from './backup/vectors.ts'
import { confirm } from './terminal/confirm.ts'
import { bytesBar } from './terminal/progress-bar.ts'

await runCommand(
  {
    name: 'restore',
    about: [
      'Replaces the contents of the database by those of FILE, which `npm run backup` wrote, in one transaction. End all',
      'services first. Without DATABASE_URL it starts the embedded Postgres of DATA_DIR for as long as it runs. Vectors are',
      'not in FILE: vectors of other articles are removed, and embedders embed missing ones again.',
    ].join('\n'),
    usage: ['FILE [--yes] [--json]'],
    options: {
      yes: { type: 'boolean', about: 'replaces what the database holds without asking' },
      json: { type: 'boolean', about: 'prints {"file", "articles", "schema", "made_at", "seconds"}' },
    },
    beside: true,
  },
  async context => {
    const [file, ...rest] = context.positionals
    if (file === undefined || rest.length > 0) throw new UsageError('Name the file to restore.')
    const manifest = await readManifest(file)
    const newest = Number((await migrationFiles()).at(-1)?.slice(0, 4))
    if (manifest.schema > newest) {
      throw new Error(`${file} is at migration ${manifest.schema}, newer than this checkout; update the checkout.`)
    }
    await checkSum(context, file, manifest)
    if (context.config.DATABASE_URL !== '') return restore(context, context.config, file, manifest)
    await withEmbedded(context, settings => restore(context, { ...context.config, ...settings }, file, manifest))
  },
)

async function checkSum({ signal }: CommandContext, file: string, { bytes, sha256 }: Manifest): Promise<void> {
  const bar = bytesBar(bytes, 'checking the file')
  const sum = await sumOf(file, bytes, bar.update, signal).finally(bar.stop)
  if (sum !== sha256) throw new Error(`${file} is damaged: its contents do not have the checksum that its end names.`)
}

/** Runs the embedded Postgres and Qdrant of `DATA_DIR` meanwhile. */
async function withEmbedded(
  { config, say, signal }: CommandContext,
  work: (settings: Partial<Config>) => Promise<void>,
): Promise<void> {
  const dataDir = await openDataDirectory(config.DATA_DIR, `npm run restore (process ${process.pid})`)
  try {
    const names = config.QDRANT_URL === '' ? (['postgres', 'qdrant'] as const) : (['postgres'] as const)
    const servers = await startServers(dataDir, { servers: [...names], report: say, signal })
    process.on('exit', servers.kill)
    await work(servers.settings).finally(servers.stop)
  } finally {
    dataDir.release()
  }
}

type Settings = Pick<Config, 'DATABASE_URL' | 'QDRANT_URL' | 'QDRANT_API_KEY'>

async function restore(context: CommandContext, config: Settings, file: string, manifest: Manifest): Promise<void> {
  const { options, print, say, signal } = context
  const start = performance.now()
  const pool = createPool(config.DATABASE_URL, 'restore', () => {}, { max: 2, statementTimeout: 0 })
  try {
    const server = await checkServer(pool, file, manifest)
    await consent(context, pool, file, manifest)
    const tools = await postgresTools(server, { tls: asksForTls(config.DATABASE_URL), signal, report: say })
    await loadBackup({ databaseUrl: config.DATABASE_URL, ...{ pool, tools, file, manifest, signal } })
    await migrate(config.DATABASE_URL)
    await pool.query('analyze')
    const { articles, schema, made_at } = manifest
    const seconds = Math.round((performance.now() - start) / 1_000)
    if (options.json === true) print(JSON.stringify({ file, articles, schema, made_at, seconds }))
    say(`Restored ${counted(articles, 'article')} as of ${made_at}, in ${seconds} s.`)
    say(await compareVectors(pool, config, 'this backup', signal))
  } finally {
    await pool.end()
  }
}

/** @returns the major version of the server */
async function checkServer(pool: Pool, file: string, { postgres }: Manifest): Promise<number> {
  const { rows } = await pool.query<{ server_version_num: string }>('show server_version_num')
  const server = majorVersion(rows[0]!.server_version_num)
  if (server < postgres) {
    throw new Error(`${file} is of Postgres ${postgres}, and the server is Postgres ${server}; take a newer server.`)
  }
  await checkNobodyConnected(pool, 'restore')
  return server
}

/** @throws UsageError when the database holds something and nobody agrees to replace it */
async function consent(
  { options, signal }: CommandContext,
  pool: Pool,
  file: string,
  { schemas }: Manifest,
): Promise<void> {
  if (options.yes === true) return
  const held = await contentsOf(pool, schemas)
  if (held === null) return
  const sentence = `The database holds ${held}, and ${file} replaces all of it.`
  if (await confirm(`${sentence} Go on?`, signal)) return
  throw new UsageError(`${sentence} Nothing was changed; add --yes to replace it.`)
}

/** What a restore would replace; null: nothing, or a Perscope without articles. */
async function contentsOf(pool: Pool, schemas: string[]): Promise<string | null> {
  const { rows } = await pool.query<{ ours: boolean; tables: number }>(
    `select to_regclass('public.article_ids') is not null as ours, count(*)::int as tables
     from pg_class where relkind in ('r', 'p', 'v', 'm') and relnamespace::regnamespace::name = any($1)`,
    [schemas],
  )
  const { ours, tables } = rows[0]!
  if (!ours) return tables === 0 ? null : `${counted(tables, 'table')} of another program`
  const counts = await pool.query<{ articles: number }>('select count(*)::int as articles from article_ids')
  const articles = counts.rows[0]?.articles ?? 0
  return articles === 0 ? null : counted(articles, 'article')
}
