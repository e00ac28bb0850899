import { dirname } from 'node:path'
import { openDataDirectory } from '#infra/embedded/data-directory'
import { startServers } from '#infra/embedded/servers'
import { migrate } from '#infra/migrations/migrate'
import type { Config } from '#shared/config/config'
import { counted } from '#shared/log/printable'
import { migrationFiles } from '#shared/postgres/migrations'
import {
  createPool,
  FIRST_SCHEMA,
  type Pool,
  readRow,
  readValue,
  UNFINISHED,
} from '#shared/postgres/pool'
import { type CommandContext, runCommand, UsageError } from '#shared/process/command'
import { COMMAND_FOLDER_MS, folderAnswers } from '#shared/resilience/folders'
import {
  begin,
  checkNobodyConnected,
  compareVectors,
  goOn,
  holdMoment,
  keepRefusals,
  serverVersion,
} from './backup/database.ts'
import {
  type Backup,
  checkFormat,
  checkWhole,
  describeBackup,
  load,
  QUEUE_SCHEMAS,
  toolsFor,
} from './backup/dump.ts'
import { addKept, readRemovals, takeOutAgain } from './backup/removals.ts'
import { renewKeys, renewTexts } from './reindex/renew.ts'
import { confirm } from './terminal/terminal.ts'
import { prove } from './verify/checks.ts'

/**
 * The end of an error message. After such an error the mark of an unfinished restore stays, so
 * services do not start.
 */
const HALF =
  'is half restored: the file ended the transaction that keeps it whole. Do not trust the file; restore another backup, and services stay out until then'

await runCommand(
  {
    name: 'restore',
    words: true,
    about: [
      'Replaces the contents of the database by those of FILE, which `npm run backup` wrote, in one transaction. End all',
      'services first. Without DATABASE_URL it starts the embedded Postgres of DATA_DIR for as long as it runs. Vectors are',
      'not in FILE: vectors of other articles are removed, and embedders embed missing ones again. Cursors from before end.',
    ].join('\n'),
    usage: ['FILE [--yes] [--json]'],
    options: {
      yes: { about: 'goes on without asking: FILE may be of another installation' },
      json: { about: 'prints {"file", "articles", "schema", "made_at", "seconds"}' },
    },
    beside: true,
  },
  async context => {
    const [file, ...rest] = context.positionals
    if (file === undefined || rest.length > 0) throw new UsageError('Name the file to restore.')
    if (!(await folderAnswers(dirname(file), COMMAND_FOLDER_MS)))
      throw new UsageError(
        `${dirname(file)} does not answer: mend its mount, or name a copy of the file elsewhere.`,
      )
    await checkFormat(file)
    if (context.config.DATABASE_URL !== '') return restore(context, context.config, file)
    return withEmbedded(context, settings =>
      restore(context, { ...context.config, ...settings }, file),
    )
  },
)

/** Runs work while the embedded Postgres and Qdrant of `DATA_DIR` run. */
async function withEmbedded<T>(
  { config, say, signal }: CommandContext,
  work: (settings: Partial<Config>) => Promise<T>,
): Promise<T> {
  const dataDir = await openDataDirectory(
    config.DATA_DIR,
    `npm run restore (process ${process.pid})`,
  )
  try {
    const names =
      config.QDRANT_URL === '' ? (['postgres', 'qdrant'] as const) : (['postgres'] as const)
    const servers = await startServers(dataDir, { servers: [...names], report: say, signal })
    process.on('exit', servers.kill)
    return await work(servers.settings).finally(servers.stop)
  } finally {
    dataDir.release()
  }
}

/** @returns 1: the index differs from the articles, or articles that were taken out may be back */
async function restore(context: CommandContext, config: Config, file: string): Promise<number> {
  const { options, print, say, signal } = context
  const start = performance.now()
  const databaseUrl = config.DATABASE_URL
  const pool = createPool(databaseUrl, 'restore', () => {}, {
    max: 2,
    statementTimeout: 0,
    mayBeUnfinished: true,
  })
  try {
    const server = await serverVersion(pool)
    const tools = await toolsFor(databaseUrl, server, { signal, say })
    const backup = await describeBackup(tools, file)
    await checkVersions(file, backup, server)
    await checkWhole(tools, file, signal)
    const removals = await readRemovals([...config.BACKUP_FOLDERS, dirname(file)])
    await checkNobodyConnected(pool, 'restore')
    const target = await readTarget(pool)
    await consent(context, target, file, backup)
    // pg_restore drops only the tables of the backup. A schema with another number has more or
    // other tables, so the database is emptied first.
    const isEmptied = target.schema !== null && target.schema !== backup.schema
    await begin(pool, target.schema ?? 0)
    const undo = async () => {
      if (!target.isUnfinished) await pool.query(`drop schema ${UNFINISHED} cascade`)
    }
    // From now on the mark keeps other processes out. But some may have started while the question
    // was open.
    await checkNobodyConnected(pool, 'restore').catch(async error => {
      await undo()
      throw error
    })
    if (isEmptied) await pool.query('drop schema if exists public cascade; create schema public')
    const moment = await holdMoment(pool)
    await load({ databaseUrl, tools, signal }, file)
      .catch(async error => {
        const failed = signal.aborted
          ? 'Interrupted; the database'
          : 'The restore failed, and the database'
        const why = signal.aborted ? '.' : `: ${error.message}`
        if (!(await moment.isNow())) throw new Error(`${failed} ${HALF}${why}`)
        if (!isEmptied) await undo()
        throw new Error(
          `${failed} is ${isEmptied ? 'empty now; run this again' : 'as it was'}${why}`,
        )
      })
      .finally(moment.end)
    await pool.query(`drop schema if exists ${QUEUE_SCHEMAS.join()} cascade`)
    await migrate(databaseUrl, { mayBeUnfinished: true })
    await keepRefusals(pool)
    await renewKeys(pool, signal)
    await renewTexts(pool, signal)
    await addKept(pool, removals)
    const again = await takeOutAgain(pool, removals)
    await goOn(pool, target.clock)
    await pool.query('analyze')
    const { articles, schema, made_at } = backup
    const seconds = Math.round((performance.now() - start) / 1_000)
    if (options.json) print(JSON.stringify({ file, articles, schema, made_at, seconds }))
    say(
      `Restored ${counted(articles, 'article')} as of ${made_at}, in ${seconds} s. Cursors from before are refused.`,
    )
    say(await compareVectors(pool, config, 'this backup', signal))
    const isKnown = await again.end(config, say, signal)
    return (await prove(pool, say, signal)) && isKnown ? 0 : 1
  } finally {
    await pool.end()
  }
}

async function checkVersions(
  file: string,
  { schema, postgres }: Backup,
  server: number,
): Promise<void> {
  const newest = Number((await migrationFiles()).at(-1)?.slice(0, 4))
  if (schema > newest)
    throw new Error(
      `${file} is at migration ${schema}, newer than this checkout; update the checkout.`,
    )
  if (schema < FIRST_SCHEMA) {
    throw new Error(
      `${file} is at migration ${schema}, and upgrades begin at ${FIRST_SCHEMA}; restore it with its own version, and upgrade that one.`,
    )
  }
  if (server < postgres)
    throw new Error(
      `${file} is of Postgres ${postgres}, and the server is Postgres ${server}; take a newer server.`,
    )
}

/**
 * The content of a database before a restore. `schema` is the number of its last migration; null:
 * the database has no tables of Perscope. `others` counts tables of another program, `clock` is the
 * last time of ingestion. `isUnfinished`: an earlier restore did not end.
 */
interface Target {
  schema: number | null
  articles: number
  others: number
  installation: string | null
  clock: Date | null
  account: string
  isSuperuser: boolean
  isUnfinished: boolean
}

async function readTarget(pool: Pool): Promise<Target> {
  const found = await readRow<{
    ours: boolean
    marked: boolean
    tables: number
    account: string
    isSuperuser: boolean
    isUnfinished: boolean
  }>(
    pool,
    `select to_regclass('public.ingest_clock') is not null and to_regclass('public.migrations') is not null as ours, to_regclass('public.installation') is not null as marked,
            (select count(*)::int from pg_class where relkind in ('r', 'p', 'v', 'm')
                and relnamespace::regnamespace::name !~ '^(pg_|information_schema|${[...QUEUE_SCHEMAS, UNFINISHED].join('|')})') as tables,
            current_user::text as account, rolsuper as "isSuperuser", to_regnamespace('${UNFINISHED}') is not null as "isUnfinished"
       from pg_roles where rolname = current_user`,
  )
  const { ours, marked, tables, ...server } = found!
  const target = { ...server, installation: null, clock: null }
  // A half-finished earlier restore counts as schema 0. No backup has this schema, so everything is
  // emptied.
  const half = { ...target, schema: 0, articles: 0, others: 0 }
  if (!ours)
    return server.isUnfinished ? half : { ...target, schema: null, articles: 0, others: tables }
  const clock = await readRow<{ articles: number; last_at: Date; schema: number | null }>(
    pool,
    'select last_seq::int as articles, last_at, (select max(number) from migrations)::int as schema from ingest_clock',
  )
  if (clock === undefined) return half
  const { articles, last_at, schema } = clock
  const installation = marked ? await readValue<string>(pool, 'select id from installation') : null
  return { ...target, schema: schema ?? 0, articles, others: 0, installation, clock: last_at }
}

/** @throws UsageError when the user does not agree to the consequences of the restore */
async function consent(
  { options, say, signal }: CommandContext,
  { articles, others, installation, account, isSuperuser }: Target,
  file: string,
  backup: Backup,
): Promise<void> {
  const reasons = []
  if (installation !== null && installation !== backup.installation) {
    reasons.push(
      `${file} is a backup of another installation, and what it holds runs with the rights of "${account}".`,
    )
  }
  if (isSuperuser) {
    say(
      `The account "${account}" is a superuser, so a forged backup could run programs on the server; use another one.`,
    )
  }
  if (articles > 0)
    reasons.push(
      `The database holds ${counted(articles, 'article')}, and ${file} replaces all of it.`,
    )
  if (others > 0)
    reasons.push(
      `The database holds ${counted(others, 'table')} of another program, and ${file} joins them.`,
    )
  const sentence = reasons.join(' ')
  if (sentence === '') return
  if (options.yes) return say(sentence)
  if (await confirm(`${sentence} Go on?`, signal)) return
  throw new UsageError(`${sentence} Nothing was changed; add --yes to go on.`)
}
