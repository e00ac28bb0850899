import { existsSync } from 'node:fs'
import { chown, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort } from '../../../../infra/embedded/data-directory/ports.ts'
import { giveTo, postgresAccount } from '../../../../infra/embedded/owner.ts'
import type { EmbeddedServers } from '../../../../infra/embedded/servers.ts'
import type { Supervised } from '../../../../infra/embedded/supervision/program.ts'
import { runTool } from '../../../../infra/embedded/supervision/tool.ts'
import { type Artifact, fetchArtifact, findJdk } from '../java.ts'
import type { Running } from '../line-program.ts'

export const OPENSEARCH_VERSION = '3.4.0'
/** MB. All of it is taken at the start, as OpenSearch's manual advises. */
export const OPENSEARCH_HEAP = 1_024
const UNPACK_MS = 120_000

/** The distribution without plugins. */
const ZIP: Artifact = {
  coordinates: `org.opensearch.distribution.integ-test-zip:opensearch:${OPENSEARCH_VERSION}:zip`,
  file: `opensearch-${OPENSEARCH_VERSION}.zip`,
  sha256: '6540e95fe8bfaedc3eb1c58e829912ea2203af2ac1f88f76411c20a2fc5254a6',
}

export interface OpensearchServer {
  port: number
  pid: number
  server: Supervised
}

/**
 * Starts a node with its data in `folder`, on loopback, under the watch of the other servers.
 *
 * @returns null, with a sentence to `report`, where it cannot run
 */
export async function startOpensearch(
  folder: string,
  servers: EmbeddedServers,
  running: Running,
): Promise<OpensearchServer | null> {
  const jdk = await findJdk('OpenSearch', running)
  if (jdk === null) return null
  await mkdir(folder, { recursive: true })
  const home = await install(folder, jdk, running)
  if (home === null) return null
  const owner = await postgresAccount(running.report)
  const port = await freePort()
  const transport = await freePort(candidate => candidate !== port)
  const settings = join(folder, 'config')
  for (const part of [settings, join(folder, 'data'), join(folder, 'logs'), join(folder, 'tmp')])
    await mkdir(part, { recursive: true })
  await configure(folder, home, settings, { port, transport })
  for (const part of [settings, join(folder, 'data'), join(folder, 'logs'), join(folder, 'tmp')])
    await giveTo(owner, part)
  if (owner) await chown(folder, owner.uid, owner.gid)
  const pidFile = join(folder, 'tmp', 'pid')
  const server = await servers.supervise({
    name: 'OpenSearch',
    command: '/bin/bash',
    args: [join(home, 'bin', 'opensearch'), '-p', pidFile],
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      OPENSEARCH_JAVA_HOME: jdk,
      OPENSEARCH_PATH_CONF: settings,
      OPENSEARCH_TMPDIR: join(folder, 'tmp'),
    },
    owner,
    log: join(folder, 'opensearch.log'),
    prepare: () => rm(pidFile, { force: true }),
    isReady: async () => {
      const health = await fetch(`http://127.0.0.1:${port}/_cluster/health?wait_for_status=yellow&timeout=1s`)
      return health.ok
    },
    stop: [{ signal: 'SIGTERM', wait: 30_000 }],
    gentle: 'SIGTERM',
  })
  return { port, pid: Number(await readFile(pidFile, 'utf8')), server }
}

async function install(folder: string, jdk: string, running: Running): Promise<string | null> {
  const home = join(folder, `opensearch-${OPENSEARCH_VERSION}`)
  if (existsSync(home)) return home
  const zip = await fetchArtifact('OpenSearch', ZIP, folder, running)
  if (zip === null) return null
  const { family, signal, report } = running
  const unpacked = join(folder, 'unpacked')
  await rm(unpacked, { recursive: true, force: true })
  await mkdir(unpacked)
  // A JDK unpacks zip files, so nothing else is needed for that.
  const { code, output } = await runTool(join(jdk, 'bin', 'jar'), ['--extract', '--file', zip], {
    ...{ family, signal, within: UNPACK_MS, cwd: unpacked },
  })
  if (code !== 0) {
    report(`OpenSearch is left out: it could not be unpacked (${output.trim().split('\n').at(-1)}).`)
    return null
  }
  await rename(join(unpacked, `opensearch-${OPENSEARCH_VERSION}`), home)
  await rm(unpacked, { recursive: true })
  await rm(zip)
  return home
}

/** One node by itself; its heap; all else as it is delivered. */
async function configure(
  folder: string,
  home: string,
  settings: string,
  { port, transport }: { port: number; transport: number },
): Promise<void> {
  const lines = {
    'cluster.name': 'perscope-bench',
    'node.name': 'bench',
    'path.data': join(folder, 'data'),
    'path.logs': join(folder, 'logs'),
    'network.host': '127.0.0.1',
    'http.port': port,
    'transport.port': transport,
    'discovery.type': 'single-node',
    // A bench may run on a disk that is nearly full.
    'cluster.routing.allocation.disk.threshold_enabled': false,
  }
  const yaml = Object.entries(lines).map(([name, value]) => `${name}: ${JSON.stringify(value)}`)
  await writeFile(join(settings, 'opensearch.yml'), `${yaml.join('\n')}\n`)
  const logging = await readFile(join(home, 'config', 'log4j2.properties'))
  await writeFile(join(settings, 'log4j2.properties'), logging)
  const delivered = await readFile(join(home, 'config', 'jvm.options'), 'utf8')
  const jvm = delivered.split('\n').filter(line => !/^-Xm|Xlog:gc/.test(line))
  await writeFile(
    join(settings, 'jvm.options'),
    [...jvm, `-Xms${OPENSEARCH_HEAP}m`, `-Xmx${OPENSEARCH_HEAP}m`, ''].join('\n'),
  )
}
