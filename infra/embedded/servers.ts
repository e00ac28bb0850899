import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { lockData } from './data-directory/data-lock.ts'
import type { DataDirectory } from './data-directory/open.ts'
import { rememberedPorts } from './data-directory/ports.ts'
import { serverKey } from './keys.ts'
import { makeEnvironment } from './model/environment.ts'
import { embeddingsUrl, modelProgram } from './model/server.ts'
import { accountOf, checkPassage, type Owner, postgresAccount } from './owner.ts'
import { postgresPackage } from './postgres/binaries.ts'
import { openCluster } from './postgres/cluster.ts'
import { databaseUrl, explainPostgres, postgresProgram } from './postgres/server.ts'
import { diskProblem, Problem } from './problem.ts'
import { openPrograms } from './programs.ts'
import { QDRANT_VERSION, qdrantPackage } from './qdrant/binary.ts'
import { qdrantProgram } from './qdrant/server.ts'
import { createFamily, type Family } from './supervision/family.ts'
import type { Program, Supervised } from './supervision/program.ts'
import { supervise } from './supervision/supervise.ts'

export type ServerName = 'postgres' | 'qdrant' | 'model'

/**
 * Where the servers are, under the names of the settings; a server that this machine cannot run is
 * missing.
 */
export interface Addresses {
  DATABASE_URL?: string
  QDRANT_URL?: string
  EMBEDDINGS_URL?: string
}

/** What they ask for there, under the names of the settings. */
export interface Keys {
  QDRANT_API_KEY?: string
  EMBEDDINGS_API_KEY?: string
}

export interface EmbeddedServers {
  addresses: Addresses
  /** All that a service needs to use them. */
  settings: Addresses & Keys
  /** Starts another program under the same watch; it is ended with the servers, if not before. */
  supervise(program: Program): Promise<Supervised>
  family: Family
  /** Resolves when a server is gone and does not come back. */
  lost: Promise<Problem>
  /** Ends all, below 11 s. */
  stop(): Promise<void>
  /** Ends all at once. */
  kill(): void
}

export interface ServerOptions {
  servers?: readonly ServerName[]
  /** Told in sentences what goes on, and what this machine cannot run. */
  report: (sentence: string) => void
  signal?: AbortSignal
  /**
   * Servers for a test: little memory, no care for a crash of the machine, and our process may end
   * without them.
   */
  throwaway?: boolean
  /** Keep trying for ever to bring a server back, instead of resolving `lost` after 40 s. */
  keepTrying?: boolean
}

/** A server that died is back, or given up, within 45 s; the rest is for ending the others. */
const GIVE_UP_MS = 40_000

/**
 * Starts real servers of our own on loopback, with their data in `dataDir`, and keeps them running.
 * Resolves when all accept connections. Without Qdrant or the model everything but semantic search
 * works: what keeps them from running is reported in a sentence.
 *
 * @throws Problem when Postgres cannot run
 */
export async function startServers(dataDir: DataDirectory, options: ServerOptions): Promise<EmbeddedServers> {
  const { report, throwaway = false, servers = ['postgres', 'qdrant', 'model'] } = options
  const path = dataDir.path
  const interrupted = new AbortController()
  const signal = AbortSignal.any([interrupted.signal, ...(options.signal ? [options.signal] : [])])
  const family = await createFamily(path).catch(error => {
    throw diskProblem(error, path) ?? error
  })
  const running: Supervised[] = []
  const locks: { release(): void }[] = []
  let tellLost: (problem: Problem) => void = () => {}
  const lost = new Promise<Problem>(resolve => {
    tellLost = resolve
  })
  const giveUpAfter = options.keepTrying ? null : GIVE_UP_MS

  async function run(program: Program): Promise<Supervised> {
    const supervised = await supervise(program, {
      ...{ family, report, signal, giveUpAfter },
      onLost: tellLost,
      background: throwaway,
    })
    running.push(supervised)
    return supervised
  }

  async function startPostgres(port: number, owner: Owner | null): Promise<Addresses> {
    const { folder, version } = await postgresPackage()
    const parts = ['bin/postgres', 'lib/libpq.so.5', 'share/postgresql/postgres.bki']
    const programs = await openPrograms(folder, parts, `postgres-${version}`, path, owner)
    const lock = await lockServer('postgres', 'Postgres')
    const cluster = await openCluster(path, programs, owner, throwaway, { family, signal, lock })
    family.sweep(cluster.folder)
    const program = postgresProgram(cluster, port, programs, owner, lock, logOf('postgres'), throwaway)
    await run({ ...program, explain: log => explainPostgres(log, path, port) })
    return { DATABASE_URL: databaseUrl(cluster, port) }
  }

  async function startQdrant(port: number): Promise<Addresses & Keys> {
    const owner = accountOf('qdrant')
    await checkPassage(owner, path, 'Qdrant')
    const folder = await qdrantPackage()
    const programs = await openPrograms(folder, ['bin/qdrant'], `qdrant-${QDRANT_VERSION}`, path, owner)
    const lock = await lockServer('qdrant', 'Qdrant')
    const key = await serverKey(path, 'qdrant')
    await run(await qdrantProgram(path, programs, port, key, owner, lock, logOf('qdrant')))
    return { QDRANT_URL: `http://127.0.0.1:${port}`, QDRANT_API_KEY: key }
  }

  async function startModel(port: number): Promise<Addresses & Keys> {
    await makeEnvironment({ family, signal, report })
    const key = await serverKey(path, 'model')
    await run(await modelProgram(path, port, key, logOf('model')))
    return { EMBEDDINGS_URL: embeddingsUrl(port), EMBEDDINGS_API_KEY: key }
  }

  async function lockServer(server: ServerName, name: string): Promise<number> {
    const lock = await lockData(join(path, `${server}.lock`), name, signal)
    locks.push(lock)
    return lock.fd
  }

  const logOf = (name: string) => join(path, 'logs', `${name}.log`)
  /** Semantic search can be missing; a sentence says why. */
  const optional = (start: Promise<Addresses & Keys>): Promise<Addresses & Keys> =>
    start.catch(error => {
      if (!(error instanceof Problem) || signal.aborted) throw error
      report(error.message)
      return {}
    })
  const stop = async () => {
    interrupted.abort(new Problem('The servers were ended.'))
    await Promise.all(running.map(server => server.stop()))
    family.disband()
    for (const lock of locks) lock.release()
  }

  try {
    await mkdir(join(path, 'logs'), { recursive: true })
    const ports = await rememberedPorts(path, report)
    // First of all: where it cannot enter, nothing else needs to be tried.
    const owner = servers.includes('postgres') ? await postgresAccount(report) : null
    await checkPassage(owner, path, 'The database')
    const port = { postgres: 0, qdrant: 0, model: 0 }
    for (const name of servers) port[name] = await ports.of(name)
    const start = {
      postgres: () => startPostgres(port.postgres, owner),
      qdrant: () => optional(startQdrant(port.qdrant)),
      model: () => optional(startModel(port.model)),
    }
    const starts = servers.map(name => start[name]())
    const settings: Addresses & Keys = Object.assign({}, ...(await allOrFirstError(starts, interrupted)))
    const { QDRANT_API_KEY, EMBEDDINGS_API_KEY, ...addresses } = settings
    return {
      addresses,
      settings,
      supervise: run,
      family,
      lost,
      stop,
      kill() {
        interrupted.abort()
        for (const supervised of running) supervised.kill()
      },
    }
  } catch (error) {
    await stop()
    if (error instanceof Problem) throw error
    throw diskProblem(error, path) ?? error
  }
}

/**
 * As `Promise.all`; but when one fails the others are interrupted and waited for, so that nothing
 * is left running.
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
