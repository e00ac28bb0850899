import { chmod, mkdtemp, readdir, readFile, rm, stat, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDataDirectory } from '#infra/embedded/data-directory'
import { lockFile } from '#infra/embedded/lock'
import { startServers } from '#infra/embedded/servers'
import type { ServerName } from '#infra/embedded/starting'
import type { Family } from '#infra/embedded/supervision/family'

/** Real servers for one test or one run of tests, with empty data. */
export interface TestServers {
  addresses: { DATABASE_URL?: string; QDRANT_URL?: string; EMBEDDINGS_URL?: string }
  /** DATABASE_URL with the rights of a superuser. */
  superuser: string
  /** The same with their keys: what a service needs. */
  settings: Partial<Record<'DATABASE_URL' | 'QDRANT_URL' | 'EMBEDDINGS_URL', string>> &
    Partial<Record<'QDRANT_API_KEY' | 'EMBEDDINGS_API_KEY', string>>
  /** Their temporary `DATA_DIR`. */
  dataDir: string
  /** Ends them and removes their data. */
  stop(): Promise<void>
  /** Ends them at once, for use when the process ends; their data stays. */
  kill(): void
  /** Processes that end with the servers when we are killed. */
  family: Family
}

const PREFIX = 'perscope-test-'

/** Files here are in memory. */
const MEMORY = '/dev/shm'
/** Bytes that must be free there. Quick and slow tests have some hundred megabytes at a time. */
const ROOM = 6 * 1024 ** 3
/** ms after which a folder that nobody owns was left by a run that was killed. */
const LEFT_MS = 60_000

/**
 * The folder for test data: in memory, if there is room. A database is 900 small files. ext4 reuses
 * no inode for a minute after its file was deleted, and each new file looks at all of these. With
 * the databases of many tests that takes ten times as long as the copy.
 */
async function folderFor(inMemory: boolean): Promise<string> {
  if (!inMemory) return tmpdir()
  try {
    // First, since what killed runs have left may be what takes the room.
    for (const name of await readdir(MEMORY))
      if (name.startsWith(PREFIX)) await removeLeft(name).catch(() => {})
    const { bavail, bsize } = await statfs(MEMORY)
    const room = Math.min(process.availableMemory(), bavail * bsize)
    return room < ROOM ? tmpdir() : MEMORY
  } catch {
    return tmpdir()
  }
}

/** Removes what a killed run has left in memory. */
async function removeLeft(name: string): Promise<void> {
  const folder = join(MEMORY, name)
  if (Date.now() - (await stat(folder)).mtimeMs < LEFT_MS) return
  // The lock alone, because a full memory has no room for what a data folder needs.
  const lock = await lockFile(join(folder, 'lock'), 'its removal')
  if (!lock.held) return
  await rm(folder, { recursive: true, force: true })
  lock.release()
}

/**
 * Starts embedded servers in a temporary folder. They do not keep the process alive.
 *
 * @param options.servers which; all of them by default. Qdrant alone is up in a third of a second
 * @param options.inMemory whether the data may be in memory
 */
export async function startTestServers(
  options: {
    servers?: readonly ServerName[]
    inMemory?: boolean
    report?: (sentence: string) => void
    signal?: AbortSignal
  } = {},
): Promise<TestServers> {
  const { inMemory = false, ...more } = options
  const folder = await mkdtemp(join(await folderFor(inMemory), PREFIX))
  // mkdtemp's folders are closed to everybody else, and as root the database runs as another user.
  await chmod(folder, 0o755)
  const dataDir = await openDataDirectory(folder, `a test (process ${process.pid})`)
  const remove = async () => {
    dataDir.release()
    await rm(folder, { recursive: true, force: true, maxRetries: 3 })
  }
  try {
    const servers = await startServers(dataDir, {
      report: () => {},
      throwaway: true,
      keepTrying: true,
      ...more,
    })
    return {
      addresses: servers.addresses,
      superuser: await superuserUrl(dataDir.path, servers.addresses.DATABASE_URL ?? ''),
      settings: servers.settings,
      dataDir: dataDir.path,
      async stop() {
        await servers.stop()
        await remove()
      },
      kill: servers.kill,
      family: servers.family,
    }
  } catch (error) {
    await remove()
    throw error
  }
}

/** An address with the rights of the embedded server's superuser; tests change its settings. */
export async function superuserUrl(dataDir: string, databaseUrl: string): Promise<string> {
  if (databaseUrl === '') return ''
  const url = new URL(databaseUrl)
  url.username = 'perscope'
  url.password = (await readFile(join(dataDir, 'postgres.password'), 'utf8')).trim()
  return url.href
}
