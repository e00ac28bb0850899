import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import {
  type DataDirectory,
  openDataDirectory,
  rememberedPorts,
} from '#infra/embedded/data-directory'
import { writeWhole } from '#infra/embedded/files'
import { MAJOR } from '#infra/embedded/postgres'
import { postgresTools } from '#infra/embedded/postgres-tools'
import { type EmbeddedServers, startServers } from '#infra/embedded/servers'
import type { ServerName } from '#infra/embedded/starting'
import type { Program } from '#infra/embedded/supervision/supervise'
import { migrate } from '#infra/migrations/migrate'
import { SAMPLE_OUTLETS } from '#infra/outlets/sample/outlets'
import { startSampleSites } from '#infra/outlets/sample/server'
import { renewKeys, renewTexts } from '#scripts/reindex/renew'
import { causesBefore, serversAway } from '#scripts/terminal/causes'
import { type Config, readConfig } from '#shared/config/config'
import { RUNNING, runningLines } from '#shared/config/embedded'
import { createLogger } from '#shared/log/logger'
import { createPool, type Pool } from '#shared/postgres/pool'
import { runCommand } from '#shared/process/command'
import { watchEventLoop } from '#shared/process/event-loop'
import { whenParentIsGone } from '#shared/process/signals'
import { openQueues } from '#shared/queues/queues'
import { createCauseNews, watchCauses } from '#status/cause-watch'
import {
  checkCatalogue,
  checkPort,
  checkRights,
  loadOutlets,
  metricsAddress,
  readyMadeOperatorKey,
  SERVICES,
  serviceProgram,
} from './services.ts'
import { createProgress, type Progress, readCounts, showSearches } from './show.ts'

/*
 * `npm start`: the whole system on this machine, in the order of dependence: servers, schema,
 * outlets, services. Then it shows three searches, once they return articles.
 */

const LOOK_MS = 15_000
/** Every fourth check, once a minute, also searches for causes of trouble. */
const LOOKS_FOR_CAUSES = 4

await runCommand(
  {
    name: 'start',
    lasting: true,
    about:
      'Runs the whole system on this machine until Ctrl-C: servers under DATA_DIR, sample outlets (or OUTLETS), crawler, normaliser, embedder, notifier, API.',
  },
  async ({ config, say, print, signal }) => {
    const ending = new AbortController()
    const ended = AbortSignal.any([signal, ending.signal])
    whenParentIsGone(() => ending.abort())
    watchEventLoop({ name: 'start', limit: config.EVENT_LOOP_TIMEOUT, words: 'sentence' }, error =>
      say(error.message),
    )
    const dataDir = await openDataDirectory(config.DATA_DIR, `npm start (process ${process.pid})`)
    try {
      await checkPort(config)
      for (const { text } of await causesBefore(config)) say(text)
      if (config.OUTLETS !== '') await checkCatalogue(config.OUTLETS)
      await run({ config, dataDir, say, print, signal: ended })
    } catch (error) {
      if (!ended.aborted) throw error
    } finally {
      dataDir.release()
    }
  },
)

interface Start {
  config: Config
  dataDir: DataDirectory
  say(sentence: string): void
  print(line: string): void
  signal: AbortSignal
}

async function run(start: Start): Promise<void> {
  const { config, dataDir, say, print, signal } = start
  const progress = createProgress(print)
  const report = (sentence: string) => {
    // During the shutdown, the end of a part is expected.
    if (signal.aborted) return
    progress.pause()
    say(sentence)
  }
  // Closed in reverse order: services, sample outlets, connections, servers.
  await using open = new AsyncDisposableStack()
  print('Starting the servers …')
  const servers = await startServers(dataDir, {
    servers: missingServers(config),
    report,
    signal,
    keepTrying: true,
  })
  process.on('exit', servers.kill)
  open.defer(servers.stop)
  signal.addEventListener('abort', () => {
    progress.pause()
    print('Ending …')
  })
  const env = serviceEnvironment(start, servers)
  env.OPERATOR_KEY = config.OPERATOR_KEY || (await readyMadeOperatorKey(dataDir.path))
  const databaseUrl = config.DATABASE_URL || (env.DATABASE_URL ?? '')
  print('Bringing the database to the present schema …')
  await migrate(databaseUrl)
  const pool = createPool(databaseUrl, 'start', () => {}, { max: 2 })
  open.defer(() => pool.end())
  // What former versions derived may take longer to renew than a statement of a service.
  const patient = createPool(databaseUrl, 'start', () => {}, { max: 3, statementTimeout: 0 })
  open.defer(() => patient.end())
  await renewKeys(patient, signal)
  let catalogue = config.OUTLETS
  if (catalogue === '') {
    const sample = await serveSample(pool, dataDir.path, report)
    open.defer(sample.close)
    catalogue = sample.file
  }
  await loadOutlets({ pool, file: catalogue, dataDir: dataDir.path, report })
  const running = join(dataDir.path, RUNNING)
  await writeWhole(running, runningLines(env))
  open.defer(() => rm(running, { force: true }))
  await checkRights(report)
  print('Starting crawler, normaliser, embedder, notifier and API …')
  const { programs, metrics } = await servicePrograms(env, dataDir.path, report)
  await writeWhole(join(dataDir.path, 'prometheus.yml'), prometheusSettings(metrics), 0o644)
  const services = await Promise.all(programs.map(servers.supervise))
  open.defer(async () => {
    await Promise.all(services.map(service => service.stop()))
  })
  const renewing = renewTexts(patient, signal).catch((error: Error) =>
    report(
      `Words and snippets of a former version were not renewed: ${error.message}; the next start goes on.`,
    ),
  )
  open.defer(() => renewing)
  await showSearches({ ...start, env, pool, dataDir: dataDir.path, metrics, progress })
  // Downloads the tools that `npm run backup` needs, so that it later works without a network.
  void postgresTools(Number(MAJOR), { tls: false, signal, report: () => {} }).catch(() => {})
  await follow(start, env, pool, report, progress)
}

/** Embedded servers replace servers whose address is not configured. */
function missingServers(config: Config): ServerName[] {
  const hosted =
    config.EMBEDDINGS_URL !== '' || config.EMBEDDINGS_API === 'hf' || config.HF_TOKEN !== ''
  return [
    ...(config.DATABASE_URL === '' ? (['postgres'] as const) : []),
    ...(config.QDRANT_URL === '' ? (['qdrant'] as const) : []),
    ...(hosted ? [] : (['model'] as const)),
  ]
}

/** The environment of the services. Settings of the user take precedence. */
function serviceEnvironment(
  { config, dataDir }: Start,
  servers: EmbeddedServers,
): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    ...servers.settings,
    DATA_DIR: dataDir.path,
    // One process of the API for each core.
    WEB_CONCURRENCY: process.env.WEB_CONCURRENCY?.trim() || '0',
  }
  if (config.OUTLETS !== '') return env
  return {
    ...env,
    // The sample's sites run on this machine, so the crawler may request pages quickly.
    CRAWL_ALLOW_PRIVATE: [...config.CRAWL_ALLOW_PRIVATE, '127.0.0.0/8'].join(','),
    CRAWL_HOST_DELAY: process.env.CRAWL_HOST_DELAY || '100ms',
    EMBED_DELAY: process.env.EMBED_DELAY || '0',
  }
}

/** The services as programs, and the address of each service's metrics for people. */
async function servicePrograms(
  env: NodeJS.ProcessEnv,
  dataDir: string,
  report: (sentence: string) => void,
) {
  const portOf = await rememberedPorts(dataDir, report)
  const programs: Program[] = []
  const metrics: string[] = []
  for (const name of SERVICES) {
    const port = await portOf(name)
    programs.push(serviceProgram(name, env, port, dataDir))
    metrics.push(`${name} ${metricsAddress(env, port)}/metrics`)
  }
  return { programs, metrics }
}

/**
 * Settings for a Prometheus on this machine, which then scrapes the services and has our alarms.
 * JSON is also YAML.
 */
function prometheusSettings(metrics: readonly string[]): string {
  const rules = fileURLToPath(new URL('../../infra/monitoring/rules/*.yml', import.meta.url))
  const jobs = metrics.map(one => {
    const [name, address = ''] = one.split(' ')
    return { job_name: `perscope-${name}`, static_configs: [{ targets: [new URL(address).host] }] }
  })
  const settings = {
    global: { scrape_interval: '15s' },
    rule_files: [rules],
    alerting: { alertmanagers: [{ static_configs: [{ targets: ['127.0.0.1:9093'] }] }] },
    scrape_configs: jobs,
  }
  return `${JSON.stringify(settings, null, 2)}\n`
}

/** Shows the progress until the end, and reports when causes of trouble begin and when they end. */
async function follow(
  { signal }: Start,
  env: NodeJS.ProcessEnv,
  pool: Pool,
  report: (sentence: string) => void,
  progress: Progress,
): Promise<void> {
  const config = readConfig(env)
  await using open = new AsyncDisposableStack()
  const queues = openQueues(config, createLogger('start', 'silent'))
  open.defer(() => queues.close())
  const look = watchCauses({
    pool,
    queues,
    config,
    missing: () => serversAway(config, pool, false),
  })
  const newsOf = createCauseNews()
  for (let looks = 0; ; looks++) {
    if (looks % LOOKS_FOR_CAUSES === 0) {
      const causes = await look().catch(() => null)
      const { begun, over } = causes === null ? { begun: [], over: [] } : newsOf(causes)
      for (const { text } of begun) report(text)
      for (const { text } of over) report(`Over: ${text}`)
    }
    await pause(LOOK_MS, undefined, { signal })
    await readCounts(pool).then(progress.show, () => {})
  }
}

/**
 * Serves the sample outlets on loopback, at the addresses that the database knows, because an
 * article is known by its address. So a restored backup finds them on another machine, too. Returns
 * the file of their catalogue.
 */
async function serveSample(pool: Pool, dataDir: string, report: (sentence: string) => void) {
  const domains = SAMPLE_OUTLETS.map(({ domain }) => domain)
  // $1 domains. The latest feeds come last. Only ports that a start chooses.
  const { rows } = await pool.query<{ domain: string; port: number }>(
    `select domain, substring(url from '^http://127[.]0[.]0[.]1:([23][0-9]{4})/')::int as port
       from outlets join feeds using (outlet_no)
      where domain = any ($1) and url ~ '^http://127[.]0[.]0[.]1:[23][0-9]{4}/' order by feeds.active, feed_no`,
    [domains],
  )
  const known = Object.fromEntries(rows.map(({ domain, port }) => [domain, port]))
  const portOf = await rememberedPorts(dataDir, report, 'sample-ports.json', known)
  const sites = await startSampleSites(portOf)
  const file = join(dataDir, 'sample-outlets.json')
  await writeWhole(file, JSON.stringify(sites.catalogue, null, 2), 0o644)
  return { file, close: sites.close }
}
