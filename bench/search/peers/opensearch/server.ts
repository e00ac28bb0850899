import { postgresAccount } from '../../../../infra/embedded/accounts.ts'
import { freePort } from '../../../../infra/embedded/data-directory.ts'
import { installOpensearch, startOpensearchNode } from '../../../../infra/embedded/opensearch.ts'
import type { EmbeddedServers } from '../../../../infra/embedded/servers.ts'
import type { Supervised } from '../../../../infra/embedded/supervision/supervise.ts'
import type { Running } from '../line-program.ts'

/** MB. */
export const OPENSEARCH_HEAP = 1_024

export interface OpensearchServer {
  port: number
  pid: number
  server: Supervised
}

/**
 * Starts a node by itself with its data in `folder`, on loopback.
 *
 * @returns null, with a sentence to `report`, where it cannot run
 */
export async function startOpensearch(
  folder: string,
  servers: EmbeddedServers,
  running: Running,
): Promise<OpensearchServer | null> {
  const owner = await postgresAccount(running.report)
  const installed = await installOpensearch(owner, running)
  if (installed === null) return null
  const port = await freePort()
  const transport = await freePort(candidate => candidate !== port)
  const host = '127.0.0.1'
  const members = [{ name: 'bench', address: `${host}:${transport}` }]
  const node = { name: 'bench', cluster: 'perscope-bench', host, port, transport, members, heap: OPENSEARCH_HEAP }
  const { server, pid } = await startOpensearchNode(installed, folder, node, owner, servers)
  return { port, pid: await pid(), server }
}
