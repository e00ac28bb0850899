import { join } from 'node:path'
import { type Config, ConfigError, readConfig, unknownSettings } from '../config/config.ts'
import { withEmbeddedKeys } from '../config/embedded-keys.ts'
import { createLogger, type Logger } from '../log/logger.ts'
import { printable } from '../log/printable.ts'
import { observeProcess } from '../metrics/registry.ts'
import { RUNNING } from './beside.ts'
import { sentenceOf } from './command.ts'
import { watchEventLoop } from './event-loop.ts'
import { type HealthServer, type Missing, startHealthServer } from './health.ts'
import { whenParentIsGone } from './parent.ts'
import { dropRights, firstOpenPort } from './rights.ts'
import { onStopSignal } from './signals.ts'

/** A service ends within 20 s of SIGTERM; this leaves room for the process to wind down. */
const STOP_TIMEOUT = 17_000

export interface ServiceContext {
  config: Config
  log: Logger
}

/** A started service. */
export interface Running {
  /** Finishes or hands back what is in hand. */
  stop(): Promise<void>
  /** Names of the dependencies that do not answer, and why; empty when all is well. */
  missing(): Promise<Missing>
}

/**
 * Runs one service of the fleet: configuration, logs, health and metrics on a port of their own,
 * and an orderly end. SIGTERM or SIGINT stops it (0), a second one ends it at once (143); an error
 * nobody handled is logged and ends it (1), because its state is then unknown and a supervisor
 * starts a fresh one. For the same reason a process whose event loop stands still ends itself
 * (SIGKILL).
 */
export async function runService(name: string, start: (context: ServiceContext) => Promise<Running>): Promise<void> {
  if (process.argv.length > 2) return explain(name, process.argv.slice(2))
  let config: Config
  try {
    config = readConfig(withEmbeddedKeys())
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    process.stderr.write(`${printable(`${name}: ${error.message}`)}\n`)
    process.exit(2)
  }
  const log = createLogger(name, config.LOG_LEVEL)
  for (const setting of unknownSettings()) log.warn(`There is no setting ${setting}; see docs/configuration.md.`)
  if (config.DATABASE_URL === '') {
    process.stderr.write(
      `${name}: set DATABASE_URL; \`npm run servers -- --write-env FILE\` starts servers and writes it to FILE, a running \`npm start\` keeps it in ${join(config.DATA_DIR, RUNNING)}.\n`,
    )
    process.exit(2)
  }
  observeProcess(name)
  watchEventLoop({ name, limit: config.EVENT_LOOP_TIMEOUT, words: 'json' }, error =>
    log.warn({ err: error.message }, 'nobody watches the event loop'),
  )

  let running: Running | undefined
  let health: HealthServer | undefined
  const stop = async (signal: string) => {
    log.info({ signal }, 'stopping')
    const timer = setTimeout(() => {
      log.warn('did not stop in time; what was in hand is given to another worker')
      process.exit(143)
    }, STOP_TIMEOUT)
    try {
      await running?.stop()
      await health?.close()
    } catch (error) {
      log.warn({ err: sentenceOf(error) }, 'stopped uncleanly')
    }
    clearTimeout(timer)
    log.info('stopped')
    process.exit(0)
  }
  onStopSignal(
    signal => void stop(signal),
    () => process.exit(143),
  )
  // A killed npm would leave us on our port, where the service that a supervisor starts instead
  // could not listen.
  whenParentIsGone(() => process.emit('SIGTERM'))
  const die = (error: unknown) => {
    log.fatal(
      { err: error instanceof Error ? { message: error.message, stack: error.stack } : String(error) },
      'ending',
    )
    process.exit(1)
  }
  process.on('uncaughtException', die)
  process.on('unhandledRejection', die)

  try {
    health = await startHealthServer(
      config.METRICS_PORT,
      config.METRICS_HOST,
      () => running?.missing() ?? Promise.resolve({ start: 'not finished' }),
    )
    // The API opens its port while it starts; else root's rights are gone before anything foreign
    // is read.
    const needsRoot = name === 'api' && config.PORT < firstOpenPort()
    if (!needsRoot) giveUpRights(log)
    running = await start({ config, log })
    if (needsRoot) giveUpRights(log)
    log.info({ metrics: health.port }, 'started')
  } catch (error) {
    process.stderr.write(`${printable(`${name}: ${sentenceOf(error)}`)}\n`)
    process.exit(1)
  }
}

function giveUpRights(log: Logger): void {
  const problem = dropRights()
  if (problem !== null) log.warn(problem)
}

/** A service takes no arguments. */
function explain(name: string, given: string[]): void {
  const asked = given.some(one => one === '--help' || one === '-h')
  const text = `A service of the fleet: runs until SIGTERM or SIGINT, and takes its settings from the environment (docs/configuration.md).

Usage: npm run ${name}
`
  if (asked) process.stdout.write(text)
  else process.stderr.write(`${name}: "${given[0]}" is not understood; see --help.\n`)
  process.exitCode = asked ? 0 : 2
}
