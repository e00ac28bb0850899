import { existsSync } from 'node:fs'
import { chmod, chown, copyFile, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { homedir, tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { giveTo, type Owner, ownerCan, postgresAccount } from '../infra/embedded/accounts.ts'
import { freePort, openDataDirectory } from '../infra/embedded/data-directory.ts'
import { type EmbeddedServers, startServers } from '../infra/embedded/servers.ts'
import type { Supervised } from '../infra/embedded/supervision/supervise.ts'
import { runTool } from '../infra/embedded/supervision/tool.ts'
import { type Artifact, fetchArtifact, findJdk, type Reporting } from './java.ts'

/** Operators copy this file; tests and benchmarks run on it. */
const OPERATORS_FILE = fileURLToPath(new URL('../infra/ha/opensearch/opensearch.yml', import.meta.url))

/** Where a node listens, and the cluster that it joins. */
interface OpensearchNode {
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
interface OpensearchProgram {
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
async function startOpensearchNode(
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

const OPENSEARCH_VERSION = '3.4.0'
const UNPACK_MS = 120_000

/** The distribution without plugins. */
const ZIP: Artifact = {
  coordinates: `org.opensearch.distribution.integ-test-zip:opensearch:${OPENSEARCH_VERSION}:zip`,
  file: `opensearch-${OPENSEARCH_VERSION}.zip`,
  sha256: '6540e95fe8bfaedc3eb1c58e829912ea2203af2ac1f88f76411c20a2fc5254a6',
}

/** OpenSearch and the Java that it runs on. */
interface InstalledOpensearch {
  home: string
  jdk: string
}

/**
 * Installs OpenSearch from Maven into the user's cache, unless it is there. Benchmarks and tests
 * use it; a system in production brings a cluster of its own.
 *
 * @param owner the account that it will run under; null: ours
 * @returns null, with a sentence to `report`, where it cannot be had
 */
export async function installOpensearch(owner: Owner | null, running: Reporting): Promise<InstalledOpensearch | null> {
  const jdk = await findJdk('OpenSearch', running)
  if (jdk === null) return null
  const folder = await cacheFolder(owner)
  const home = join(folder, `opensearch-${OPENSEARCH_VERSION}`)
  if (existsSync(home)) return { home, jdk }
  // Another process may install it at the same time; the last step decides whose it is.
  const own = await mkdtemp(join(folder, 'installing-'))
  try {
    const zip = await fetchArtifact('OpenSearch', ZIP, own, running)
    if (zip === null || !(await unpack(zip, own, jdk, running))) return null
    await rename(join(own, `opensearch-${OPENSEARCH_VERSION}`), home).catch((error: unknown) => {
      if (!existsSync(home)) throw error
    })
    return { home, jdk }
  } finally {
    await rm(own, { recursive: true, force: true })
  }
}

/** The user's cache; the temporary folder when `owner` cannot enter that. */
async function cacheFolder(owner: Owner | null): Promise<string> {
  const user = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'perscope')
  const made = await mkdir(user, { recursive: true }).then(
    () => true,
    () => false,
  )
  if (made && (owner === null || (await ownerCan(owner, '-x', user)))) return user
  const other = join(tmpdir(), `perscope-cache-${userInfo().username}`)
  await mkdir(other, { recursive: true, mode: 0o755 })
  if (owner !== null) await chown(other, owner.uid, owner.gid)
  return other
}

/** A JDK unpacks zip files, so nothing else is needed for that. */
async function unpack(zip: string, folder: string, jdk: string, running: Reporting): Promise<boolean> {
  const { family, signal, report } = running
  const { code, output } = await runTool(join(jdk, 'bin', 'jar'), ['--extract', '--file', zip], {
    ...{ family, signal, within: UNPACK_MS, cwd: folder },
  })
  if (code !== 0) report(`OpenSearch is left out: it could not be unpacked (${output.trim().split('\n').at(-1)}).`)
  return code === 0
}

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
