import { chown, copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { giveTo, type Owner } from '../owner.ts'
import type { EmbeddedServers } from '../servers.ts'
import type { Supervised } from '../supervision/program.ts'
import type { InstalledOpensearch } from './install.ts'

/** Operators copy this file; tests and benchmarks run on it. */
const OPERATORS_FILE = fileURLToPath(new URL('../../ha/opensearch/opensearch.yml', import.meta.url))

/** Where a node listens, and the cluster that it joins. */
export interface OpensearchNode {
  name: string
  cluster: string
  host: string
  port: number
  transport: number
  /** All nodes of the cluster with `host:transport`, itself included. One: it stays alone. */
  members: readonly { name: string; address: string }[]
  /** MB of heap. All of it is taken at the start, as OpenSearch's manual advises. */
  heap: number
}

export interface RunningOpensearch {
  url: string
  /** The process as it is now; a node that was killed has another one when it is back. */
  pid(): Promise<number>
  server: Supervised
}

/** The program of a node, whoever keeps it running. */
export interface OpensearchProgram {
  command: string
  args: string[]
  env: Record<string, string | undefined>
  url: string
  pidFile: string
  /** Before each start: what a crash left would stop it. */
  prepare(): Promise<void>
}

/**
 * Makes the files of a node in `folder`, where its data will be.
 *
 * @param owner the account that it runs under, because it refuses to run as root; null: ours
 */
export async function prepareOpensearch(
  { home, jdk }: InstalledOpensearch,
  folder: string,
  node: OpensearchNode,
  owner: Owner | null,
): Promise<OpensearchProgram> {
  const [config, data] = [join(folder, 'config'), join(folder, 'data')]
  const [logs, temporary] = [join(folder, 'logs'), join(folder, 'tmp')]
  for (const part of [config, data, logs, temporary]) await mkdir(part, { recursive: true })
  await configure(home, config, node.heap)
  for (const part of [config, data, logs, temporary]) await giveTo(owner, part)
  if (owner) await chown(folder, owner.uid, owner.gid)
  const pidFile = join(temporary, 'pid')
  return {
    command: '/bin/bash',
    args: [join(home, 'bin', 'opensearch'), '-p', pidFile, ...ownSettings(node, { data, logs })],
    env: {
      PATH: process.env.PATH,
      OPENSEARCH_JAVA_HOME: jdk,
      OPENSEARCH_PATH_CONF: config,
      OPENSEARCH_TMPDIR: temporary,
      NODE_NAME: node.name,
      NODE_ADDRESS: node.host,
      CLUSTER_ADDRESSES: node.members.map(one => one.address).join(),
      CLUSTER_NAMES: node.members.map(one => one.name).join(),
    },
    url: `http://${node.host}:${node.port}`,
    pidFile,
    prepare: () => rm(pidFile, { force: true }),
  }
}

/** Starts a node with its data in `folder`, under the watch of the other servers. */
export async function startOpensearchNode(
  installed: InstalledOpensearch,
  folder: string,
  node: OpensearchNode,
  owner: Owner | null,
  servers: Pick<EmbeddedServers, 'supervise'>,
): Promise<RunningOpensearch> {
  const { command, args, env, url, pidFile, prepare } = await prepareOpensearch(installed, folder, node, owner)
  const server = await servers.supervise({
    ...{ name: `OpenSearch ${node.name}`, command, args, env, prepare, owner },
    cwd: folder,
    log: join(folder, 'opensearch.log'),
    isReady: async () => {
      const alone = node.members.length === 1
      const asked = alone ? '?wait_for_status=yellow&timeout=1s' : '?timeout=1s'
      return (await fetch(`${url}/_cluster/health${asked}`, { signal: AbortSignal.timeout(5_000) })).ok
    },
    stop: [{ signal: 'SIGTERM', wait: 30_000 }],
    gentle: 'SIGTERM',
  })
  return { url, pid: async () => Number(await readFile(pidFile, 'utf8')), server }
}

/** Settings that differ from the operators' file. They win over it on the command line. */
function ownSettings(
  { cluster, port, transport, members }: OpensearchNode,
  { data, logs }: Record<'data' | 'logs', string>,
): string[] {
  const settings = {
    ...{ 'cluster.name': cluster, 'http.port': port, 'transport.port': transport },
    ...{ 'path.data': data, 'path.logs': logs },
    // Mapped files need a limit of the kernel that a test machine does not have.
    ...(members.length === 1 ? {} : { 'node.store.allow_mmap': false }),
    // A test or a bench may run on a disk that is nearly full.
    'cluster.routing.allocation.disk.threshold_enabled': false,
  }
  return Object.entries(settings).map(([key, value]) => `-E${key}=${value}`)
}

async function configure(home: string, config: string, heap: number): Promise<void> {
  await copyFile(OPERATORS_FILE, join(config, 'opensearch.yml'))
  await copyFile(join(home, 'config', 'log4j2.properties'), join(config, 'log4j2.properties'))
  const delivered = await readFile(join(home, 'config', 'jvm.options'), 'utf8')
  const jvm = delivered.split('\n').filter(line => !/^-Xm|Xlog:gc/.test(line))
  await writeFile(join(config, 'jvm.options'), [...jvm, `-Xms${heap}m`, `-Xmx${heap}m`, ''].join('\n'))
}
