import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { postgresAccount } from '../infra/embedded/accounts.ts'
import { freePort, openDataDirectory } from '../infra/embedded/data-directory.ts'
import { installOpensearch, type RunningOpensearch, startOpensearchNode } from '../infra/embedded/opensearch.ts'
import { startServers } from '../infra/embedded/servers.ts'

/** Nodes of one cluster, each on an address of its own. */
export interface TestOpensearch {
  nodes: RunningOpensearch[]
  stop(): Promise<void>
}

/** MB. */
const HEAP = 512

/**
 * Starts OpenSearch with empty data.
 *
 * @returns a sentence that says why it cannot run here
 */
export async function startTestOpensearch(count = 1): Promise<TestOpensearch | string> {
  const said: string[] = []
  const report = (sentence: string) => void said.push(sentence)
  const folder = await mkdtemp(join(tmpdir(), 'perscope-opensearch-'))
  // As root the nodes run as another user.
  await chmod(folder, 0o755)
  const dataDir = await openDataDirectory(folder, `a test (process ${process.pid})`)
  const servers = await startServers(dataDir, { servers: [], report, throwaway: true, keepTrying: true })
  const stop = async () => {
    await servers.stop()
    dataDir.release()
    await rm(folder, { recursive: true, force: true, maxRetries: 3 })
  }
  try {
    const owner = await postgresAccount(report)
    const { signal } = new AbortController()
    const installed = await installOpensearch(owner, { family: servers.family, signal, report })
    if (installed === null) {
      await stop()
      return said.at(-1) ?? 'OpenSearch cannot run here.'
    }
    const port = await freePort()
    const transport = await freePort(candidate => candidate !== port)
    const names = Array.from({ length: count }, (_, at) => ({ name: `n${at + 1}`, host: `127.0.0.${at + 41}` }))
    const members = names.map(({ name, host }) => ({ name, address: `${host}:${transport}` }))
    const nodes = await Promise.all(
      names.map(({ name, host }) => {
        const node = { name, host, port, transport, members, cluster: 'perscope-test', heap: HEAP }
        return startOpensearchNode(installed, join(folder, name), node, owner, servers)
      }),
    )
    return { nodes, stop }
  } catch (error) {
    await stop()
    throw error
  }
}
