import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { postgresAccount } from '../../../infra/embedded/accounts.ts'
import { until } from '../../fleet.ts'
import { installOpensearch, prepareOpensearch } from '../../opensearch.ts'
import type { Box } from '../hosts/box.ts'
import type { Host } from '../hosts/host.ts'
import { MissingProgram } from '../programs/debian.ts'

const run = promisify(execFile)

/** A JVM takes long to start where others work, too. */
const START_MS = 300_000
const ANSWER_MS = 5_000
/** Without so many it refuses to listen on addresses that are not loopback. */
const FILES = 65_535
/** MB. */
const HEAP = 512

/** One cluster of OpenSearch, a node on each host. */
export interface OpensearchCluster {
  nodes: { host: Host; url: string }[]
  /** Resolves when every host's node is in the cluster and every shard has all copies. */
  isWhole(): Promise<boolean>
}

/**
 * Starts a node of one cluster on each host (`infra/ha/opensearch/opensearch.yml`).
 *
 * @throws MissingProgram where OpenSearch cannot be had
 */
export async function startOpensearch(
  box: Box,
  hosts: readonly Host[],
  signal: AbortSignal,
): Promise<OpensearchCluster> {
  const said: string[] = []
  const report = (sentence: string) => void said.push(sentence)
  const files = Number((await run('/bin/sh', ['-c', 'ulimit -n'])).stdout)
  if (box.network.kind === 'namespaces' && files < FILES)
    throw new MissingProgram(`OpenSearch wants ${FILES} open files, and ${files} are allowed here; add --loopback.`)
  const owner = await postgresAccount(report)
  const installed = await installOpensearch(owner, { family: box.family, signal, report })
  if (installed === null) throw new MissingProgram(said.at(-1) ?? 'OpenSearch cannot run here.')
  const [port, transport] = [box.network.port(9200), box.network.port(9300)]
  const members = hosts.map(({ name, address }) => ({ name, address: `${address}:${transport}` }))
  for (const host of hosts) {
    const node = { name: host.name, host: host.address, port, transport, members, cluster: 'fleet', heap: HEAP }
    const program = await prepareOpensearch(installed, join(host.folder, 'opensearch'), node, owner)
    const { command, args, env, prepare } = program
    await host.start({ name: 'opensearch', command, args, env, prepare, owner })
  }
  const nodes = hosts.map(host => ({ host, url: `http://${host.address}:${port}` }))
  const isWhole = async () => {
    for (const { url } of nodes) {
      const answer = await fetch(`${url}/_cluster/health`, { signal: AbortSignal.timeout(ANSWER_MS) })
      const health = await answer.text()
      if (!health.includes('"status":"green"') || !health.includes(`"number_of_nodes":${nodes.length}`)) return false
    }
    return true
  }
  await until(isWhole, START_MS, () => 'OpenSearch did not start on every host.')
  return { nodes, isWhole }
}
