import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { checkPassage, postgresAccount } from './accounts.ts'
import { type DataDirectory, rememberedPorts } from './data-directory.ts'
import { diskProblem, Problem } from './files.ts'
import { lockData } from './lock.ts'
import { startModel } from './model.ts'
import { startPostgres } from './postgres.ts'
import { startQdrant } from './qdrant.ts'
import type { Addresses, Keys, ServerName, Starting } from './starting.ts'
import { createFamily, type Family } from './supervision/family.ts'
import { type Program, type Supervised, supervise } from './supervision/supervise.ts'

export interface EmbeddedServers {
  addresses: Addresses
  /** All settings that a service needs to use the servers. */
  settings: Addresses & Keys
  /** Keeps another program running as well. It is ended with the servers, if not before. */
  supervise(program: Program): Promise<Supervised>
  family: Family
  /** Resolves when a server is gone and does not come back. */
  lost: Promise<Problem>
  /** Ends all, below 11 s. */
  stop(): Promise<void>
  /** Ends all at once. */
  kill(): void
}

interface ServerOptions {
  servers?: readonly ServerName[]
  /**
   * Called with sentences about the progress, and about the servers that this machine cannot run.
   */
  report: (sentence: string) => void
  signal?: AbortSignal
  /**
   * Servers for a test: they take little memory, may lose data in a crash of the machine, and do
   * not keep our process alive.
   */
  throwaway?: boolean
  /** Try for ever to bring a server back, instead of resolving `lost` after 40 s. */
  keepTrying?: boolean
}

/**
 * A server that died is back, or given up, within 45 s. The rest of that is for ending the others.
 */
const GIVE_UP_MS = 40_000

/**
 * Starts real servers of our own on loopback, with their data in `dataDir`, and keeps them running.
 * Resolves when all accept connections. A machine that cannot run Qdrant or the model gets a
 * sentence that says why. Everything but semantic search works there.
 *
 * @throws Problem when Postgres cannot run
 */
export async function startServers(dataDir: DataDirectory, options: ServerOptions): Promise<EmbeddedServers> {
  const running = await createRunning(dataDir.path, options)
  try {
    const settings = await startAll(running, options.servers ?? ['postgres', 'qdrant', 'model'])
    const { QDRANT_API_KEY, EMBEDDINGS_API_KEY, ...addresses } = settings
    return {
      ...{ addresses, settings, lost: running.lost },
      ...{ supervise: running.starting.run, family: running.starting.family },
      stop: () => stop(running),
      kill() {
        running.interrupted.abort()
        for (const supervised of running.supervised) supervised.kill()
      },
    }
  } catch (error) {
    await stop(running)
    if (error instanceof Problem) throw error
    throw diskProblem(error, dataDir.path) ?? error
  }
}

/** The servers that were started, and what ends them. */
interface Running {
  starting: Starting
  supervised: Supervised[]
  locks: { release(): void }[]
  /** Aborted when the servers are to end. */
  interrupted: AbortController
  lost: Promise<Problem>
}

async function createRunning(path: string, options: ServerOptions): Promise<Running> {
  const { report, throwaway = false } = options
  const interrupted = new AbortController()
  const signal = AbortSignal.any([interrupted.signal, ...(options.signal ? [options.signal] : [])])
  const family = await createFamily(path).catch(error => {
    throw diskProblem(error, path) ?? error
  })
  const { promise: lost, resolve: onLost } = Promise.withResolvers<Problem>()
  const giveUpAfter = options.keepTrying ? null : GIVE_UP_MS
  const supervised: Supervised[] = []
  const locks: Running['locks'] = []
  const starting: Starting = {
    ...{ dataDir: path, throwaway, family, signal, report },
    logOf: server => join(path, 'logs', `${server}.log`),
    async lock(server, name) {
      const lock = await lockData(join(path, `${server}.lock`), name, signal)
      locks.push(lock)
      return lock.fd
    },
    async run(program) {
      const one = await supervise(program, { family, report, signal, giveUpAfter, onLost, background: throwaway })
      supervised.push(one)
      return one
    },
  }
  return { starting, supervised, locks, interrupted, lost }
}

async function startAll({ starting, interrupted }: Running, servers: readonly ServerName[]): Promise<Addresses & Keys> {
  const { dataDir, report } = starting
  await mkdir(join(dataDir, 'logs'), { recursive: true })
  const ports = await rememberedPorts(dataDir, report)
  // This check comes first: where the account cannot enter, nothing else needs to be tried.
  const owner = servers.includes('postgres') ? await postgresAccount(report) : null
  await checkPassage(owner, dataDir, 'The database')
  const port = { postgres: 0, qdrant: 0, model: 0 }
  for (const name of servers) port[name] = await ports.of(name)
  const start = {
    postgres: () => startPostgres(starting, port.postgres, owner),
    qdrant: () => optional(starting, startQdrant(starting, port.qdrant)),
    model: () => optional(starting, startModel(starting, port.model)),
  }
  const starts = servers.map(name => start[name]())
  return Object.assign({}, ...(await allOrFirstError(starts, interrupted)))
}

/** For a server that only semantic search needs: reports why it is missing, and goes on. */
function optional({ signal, report }: Starting, start: Promise<Addresses & Keys>): Promise<Addresses & Keys> {
  return start.catch(error => {
    if (!(error instanceof Problem) || signal.aborted) throw error
    report(error.message)
    return {}
  })
}

async function stop({ starting, supervised, locks, interrupted }: Running): Promise<void> {
  interrupted.abort(new Problem('The servers were ended.'))
  await Promise.all(supervised.map(server => server.stop()))
  starting.family.disband()
  for (const lock of locks) lock.release()
}

/**
 * As `Promise.all`. But when one fails, it interrupts the others and waits for them, so that
 * nothing is left running.
 */
async function allOrFirstError<T>(starts: Promise<T>[], interrupted: AbortController): Promise<T[]> {
  try {
    return await Promise.all(starts)
  } catch (error) {
    interrupted.abort(error)
    await Promise.allSettled(starts)
    throw error
  }
}
