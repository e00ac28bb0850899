import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDataDirectory } from '../infra/embedded/data-directory.ts'
import { startServers } from '../infra/embedded/servers.ts'
import type { ServerName } from '../infra/embedded/starting.ts'

/** Real servers for one test or one run of tests, with empty data. */
export type TestServers = Awaited<ReturnType<typeof startTestServers>>

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
) {
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
      /** DATABASE_URL with the rights of a superuser. */
      superuser: await superuserUrl(dataDir.path, servers.addresses.DATABASE_URL ?? ''),
      /** The same with their keys: what a service needs. */
      settings: servers.settings,
      /** Their temporary `DATA_DIR`. */
      dataDir: dataDir.path,
      /** Ends them and removes their data. */
      async stop() {
        await servers.stop()
        await remove()
      },
      /** Ends them at once, for use when the process ends; their data stays. */
      kill: servers.kill,
      /** Processes that end with the servers when we are killed. */
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
