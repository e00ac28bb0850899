import { chown, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { giveTo, type Owner } from '../owner.ts'
import type { EmbeddedServers } from '../servers.ts'
import type { Supervised } from '../supervision/program.ts'
import type { InstalledOpensearch } from './install.ts'

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
  await configure(home, { config, data, logs }, node)
  for (const part of [config, data, logs, temporary]) await giveTo(owner, part)
  if (owner) await chown(folder, owner.uid, owner.gid)
  const pidFile = join(temporary, 'pid')
  return {
    command: '/bin/bash',
    args: [join(home, 'bin', 'opensearch'), '-p', pidFile],
    env: {
      PATH: process.env.PATH,
      OPENSEARCH_JAVA_HOME: jdk,
      OPENSEARCH_PATH_CONF: config,
      OPENSEARCH_TMPDIR: temporary,
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

async function configure(
  home: string,
  { config, data, logs }: Record<'config' | 'data' | 'logs', string>,
  { name, cluster, host, port, transport, members, heap }: OpensearchNode,
): Promise<void> {
  const alone = members.length === 1
  const lines = {
    ...{ 'cluster.name': cluster, 'node.name': name, 'path.data': data, 'path.logs': logs },
    ...{ 'network.host': host, 'http.port': port, 'transport.port': transport },
    ...(alone
      ? { 'discovery.type': 'single-node' }
      : {
          'discovery.seed_hosts': members.map(one => one.address),
          'cluster.initial_cluster_manager_nodes': members.map(one => one.name),
          // A host that vanishes without a word is given up after 6 s instead of half a minute.
          'cluster.fault_detection.follower_check.timeout': '2s',
          'cluster.fault_detection.leader_check.timeout': '2s',
        }),
    // Mapped files need a limit of the kernel that a test machine does not have.
    ...(alone ? {} : { 'node.store.allow_mmap': false }),
    // A test or a bench may run on a disk that is nearly full.
    'cluster.routing.allocation.disk.threshold_enabled': false,
  }
  const yaml = Object.entries(lines).map(([key, value]) => `${key}: ${JSON.stringify(value)}`)
  await writeFile(join(config, 'opensearch.yml'), `${yaml.join('\n')}\n`)
  await writeFile(join(config, 'log4j2.properties'), await readFile(join(home, 'config', 'log4j2.properties')))
  const delivered = await readFile(join(home, 'config', 'jvm.options'), 'utf8')
  const jvm = delivered.split('\n').filter(line => !/^-Xm|Xlog:gc/.test(line))
  await writeFile(join(config, 'jvm.options'), [...jvm, `-Xms${heap}m`, `-Xmx${heap}m`, ''].join('\n'))
}
