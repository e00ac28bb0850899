import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDataDirectory } from '../infra/embedded/data-directory.ts'
import { startServers } from '../infra/embedded/servers.ts'
import type { ServerName } from '../infra/embedded/starting.ts'
import type { Family } from '../infra/embedded/supervision/family.ts'

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

/**
 * Starts embedded servers in a temporary folder. They do not keep the process alive.
 *
 * @param options.servers which; all of them by default. Qdrant alone is up in a third of a second
 */
export async function startTestServers(
  options: {
    servers?: readonly ServerName[]
    report?: (sentence: string) => void
    signal?: AbortSignal
  } = {},
): Promise<TestServers> {
  const folder = await mkdtemp(join(tmpdir(), 'perscope-test-'))
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
      ...options,
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
