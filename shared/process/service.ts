import { flushCompileCache } from 'node:module'
import { join } from 'node:path'
import {
  type Config,
  ConfigError,
  readConfig,
  settingsInDoubt,
  settingsWithoutUse,
} from '#shared/config/config'
import { RUNNING, withEmbeddedKeys } from '#shared/config/embedded'
import { createLogger, type Logger } from '#shared/log/logger'
import { describe, printable } from '#shared/log/printable'
import { observeProcess, registry } from '#shared/metrics'
import { refuseLacking } from '#shared/postgres/migrations'
import { sentenceOf } from './command.ts'
import { noteEnd } from './ends.ts'
import { watchEventLoop } from './event-loop.ts'
import { type HealthServer, type Missing, reasonOf, startHealthServer } from './health.ts'
import { makeCompiledFolder, processNumber } from './node.ts'
import { ACCOUNTS, dropPrivileges, firstOpenPort } from './privileges.ts'
import { onStopSignal, whenParentIsGone } from './signals.ts'

/** In ms. A service ends within 20 s of SIGTERM. The other 3 s are for the end of its process. */
const STOP_TIMEOUT = 17_000

export interface ServiceContext {
  config: Config
  log: Logger
}

export interface ProcessContext extends ServiceContext {
  /** Ends the service, as SIGTERM does. Does nothing if the service is already ending. */
  end(reason: string): void
}

/** A started service. */
export interface RunningService {
  /** Finishes or gives back the running work. */
  stop(): Promise<void>
  /** The dependencies that do not answer, with reasons; empty when all answer. */
  missing(): Promise<Missing>
  /** The text of `/metrics`; absent: the metrics of this process alone. */
  metrics?(): Promise<string>
}

/** Imports the modules of a service, and returns the function that starts it. */
export type LoadService = (
  config: Config,
) => Promise<(context: ProcessContext) => Promise<RunningService>>

/**
 * Runs one service of the fleet: configuration, logs, health and metrics on their own port, and an
 * orderly end. If several processes share a service, they have no such port: their primary shows
 * health and metrics of all.
 *
 * - SIGTERM or SIGINT stops it (exit code 0). A second signal ends it at once (143).
 * - An unhandled error is logged and ends it (1). Its state is then unknown, and a supervisor
 *   starts a fresh process. `ends.ts` notes the work that caused the error.
 * - A process whose event loop stands still ends itself (SIGKILL), for the same reason.
 */
export async function runService(name: string, load: LoadService): Promise<void> {
  // Only Node's own warnings use this stream; the log does not. So an error of the stream must not
  // end the process.
  process.stderr.on('error', () => {})
  if (process.argv.length > 2) return explain(name, process.argv.slice(2))
  const config = readServiceConfig(name)
  const number = processNumber()
  const log = createLogger(name, config.LOG_LEVEL, number)
  for (const sentence of [...settingsWithoutUse(), ...settingsInDoubt(config)]) log.warn(sentence)
  if (config.DATABASE_URL === '') {
    refuseStart(
      name,
      `set DATABASE_URL; \`npm run servers -- --write-env FILE\` starts servers and writes it to FILE, a running \`npm start\` keeps it in ${join(config.DATA_DIR, RUNNING)}.`,
    )
  }
  watchEventLoop({ name, number, limit: config.EVENT_LOOP_TIMEOUT, words: 'json' }, error =>
    log.warn({ err: error.message }, 'the event loop is not watched'),
  )
  const service: Service = { running: null, health: null, isEnding: false }
  endOnSignal(service, log)
  endOnUnhandledError(log, config.DATABASE_URL)
  try {
    observeProcess(name, number)
    // Root loads the modules from its own cache. It must not run code that the account of the
    // services can write.
    const start = await load(config)
    // This blocks the event loop, so it comes before the first request. At the end of the process
    // it would come too late if the process is killed.
    flushCompileCache()
    if (number === null) service.health = await openHealth(config, service)
    // The API opens its port while it starts. All other services give up root's rights before they
    // read any data from outside.
    const needsRoot = name === 'api' && number === null && config.PORT < firstOpenPort()
    if (!needsRoot) giveUpRights(log)
    if (number === null) {
      const newer = await refuseLacking(config.DATABASE_URL, error =>
        log.warn(
          `Postgres ${reasonOf(error)}, and nothing goes on without it: start Postgres, or mend DATABASE_URL; this process waits`,
        ),
      )
      if (newer !== null) log.warn(newer)
    }
    service.running = await start({ config, log, end: reason => void stop(service, reason, log) })
    if (needsRoot) giveUpRights(log)
    log.info(service.health ? { metrics: service.health.port } : {}, 'started')
  } catch (error) {
    process.stderr.write(`${printable(`${name}: ${sentenceOf(error)}`)}\n`)
    process.exit(1)
  }
}

/** The parts of a service that have started. */
interface Service {
  running: RunningService | null
  health: HealthServer | null
  isEnding: boolean
}

const openHealth = (config: Config, service: Service): Promise<HealthServer> =>
  startHealthServer(
    config.METRICS_PORT,
    config.METRICS_HOST,
    () => service.running?.missing() ?? Promise.resolve({ start: 'not finished' }),
    () => service.running?.metrics?.() ?? registry().metrics(),
  )

function readServiceConfig(name: string): Config {
  try {
    return readConfig(withEmbeddedKeys())
  } catch (error) {
    if (error instanceof ConfigError) refuseStart(name, error.message)
    throw error
  }
}

/** Ends the process before it has begun, because its settings are wrong. */
function refuseStart(name: string, reason: string): never {
  process.stderr.write(`${printable(`${name}: ${reason}`)}\n`)
  process.exit(2)
}

function endOnSignal(service: Service, log: Logger): void {
  onStopSignal(
    signal => void stop(service, signal, log),
    () => process.exit(143),
  )
  // If npm is killed, this process would go on and keep its port. The service that a supervisor
  // starts in its place could then not listen.
  whenParentIsGone(() => process.emit('SIGTERM'))
}

async function stop(service: Service, signal: string, log: Logger): Promise<void> {
  if (service.isEnding) return
  service.isEnding = true
  log.info({ signal }, 'stopping')
  const timer = setTimeout(() => {
    log.warn('did not stop in time; other workers take over its work')
    process.exit(143)
  }, STOP_TIMEOUT)
  try {
    await service.running?.stop()
    await service.health?.close()
  } catch (error) {
    log.warn({ err: sentenceOf(error) }, 'stopped uncleanly')
  }
  clearTimeout(timer)
  log.info('stopped')
  process.exit(0)
}

function endOnUnhandledError(log: Logger, databaseUrl: string): void {
  const die = (error: unknown) => {
    log.fatal(
      {
        err:
          error instanceof Error ? { message: error.message, stack: error.stack } : describe(error),
      },
      'ending',
    )
    noteEnd(databaseUrl, error)
    process.exit(1)
  }
  process.on('uncaughtException', die)
  process.on('unhandledRejection', die)
}

function giveUpRights(log: Logger): void {
  if (process.geteuid?.() !== 0) return
  const folder = makeCompiledFolder(ACCOUNTS.services)
  const problem = dropPrivileges()
  if (problem !== null) return void log.warn(problem)
  // Threads and child processes belong to the account, and cannot read root's cache.
  if (folder === null) delete process.env.NODE_COMPILE_CACHE
  else process.env.NODE_COMPILE_CACHE = folder
}

/** Answers arguments of a service: `--help` shows the help, others are an error. */
function explain(name: string, given: string[]): void {
  const asked = given.some(one => one === '--help' || one === '-h')
  const text = `A service of the fleet: runs until SIGTERM or SIGINT, and takes its settings from the environment
(docs/configuration.md).

Usage: npm run ${name}
`
  if (asked) process.stdout.write(text)
  else process.stderr.write(`${name}: "${given[0]}" is not understood; see --help.\n`)
  process.exitCode = asked ? 0 : 2
}
