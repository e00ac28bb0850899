import { existsSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { giveTo, type Owner, postgresAccount } from '#infra/embedded/accounts'
import type { Family } from '#infra/embedded/supervision/family'
import { runTool } from '#infra/embedded/supervision/tool'
import { until } from '#test/fleet'
import { type Box, openBox } from '#test/fleet/hosts/box'
import type { Host } from '#test/fleet/hosts/host'
import { MissingProgram } from '#test/fleet/programs/debian'
import { type Artifact, fetchArtifact, findJdk } from '#test/java'
import { run } from '#test/script'
import { operatorsFile } from './operators-file.ts'

/** A JVM takes long to start where others work, too. */
const START_MS = 300_000
const ANSWER_MS = 5_000
/** Without so many it refuses to listen on addresses that are not loopback. */
const FILES = 65_535
/** MB. All of it is taken at the start, as OpenSearch's manual advises. */
const TEST_HEAP = 512

export interface OpensearchCluster {
  nodes: { host: Host; url: string }[]
  isWhole(): Promise<boolean>
}

/**
 * Starts a node of one cluster on each host (`infra/ha/opensearch/opensearch.yml`).
 *
 * @param heap MB of each node
 * @throws MissingProgram where OpenSearch cannot be had
 */
export async function startOpensearch(
  box: Box,
  hosts: readonly Host[],
  signal: AbortSignal,
  heap = TEST_HEAP,
): Promise<OpensearchCluster> {
  const files = Number((await run('/bin/sh', ['-c', 'ulimit -n'])).stdout)
  if (box.network.kind === 'namespaces' && files < FILES)
    throw new MissingProgram(
      `OpenSearch wants ${FILES} open files, and ${files} are allowed here; add --loopback.`,
    )
  // It refuses to run as root.
  const owner = await postgresAccount(() => {})
  const { home, jdk } = await installOpensearch(owner, box.family, signal)
  const port = box.network.port(9200)
  const transport = box.network.port(9300)
  for (const host of hosts) {
    const folder = join(host.folder, 'opensearch')
    const part = (name: string) => join(folder, name)
    for (const name of ['config', 'data', 'logs', 'tmp'])
      await mkdir(part(name), { recursive: true })
    await configure(home, part('config'), heap)
    await giveTo(owner, folder)
    // Settings that differ from the operators' file. They win over it on the command line.
    const settings = {
      'cluster.name': 'perscope-test',
      'http.port': port,
      'transport.port': transport,
      'path.data': part('data'),
      'path.logs': part('logs'),
      // Mapped files need a limit of the kernel that a test machine does not have.
      ...(hosts.length === 1 ? {} : { 'node.store.allow_mmap': false }),
      // A test may run on a disk that is nearly full.
      'cluster.routing.allocation.disk.threshold_enabled': false,
    }
    await host.start({
      name: 'opensearch',
      owner,
      command: '/bin/bash',
      args: [
        join(home, 'bin', 'opensearch'),
        ...Object.entries(settings).map(([key, value]) => `-E${key}=${value}`),
      ],
      env: {
        OPENSEARCH_JAVA_HOME: jdk,
        OPENSEARCH_PATH_CONF: part('config'),
        OPENSEARCH_TMPDIR: part('tmp'),
        NODE_NAME: host.name,
        NODE_ADDRESS: host.address,
        CLUSTER_ADDRESSES: hosts.map(({ address }) => `${address}:${transport}`).join(),
        CLUSTER_NAMES: hosts.map(({ name }) => name).join(),
      },
    })
  }
  const nodes = hosts.map(host => ({ host, url: `http://${host.address}:${port}` }))
  const isWhole = async () => {
    for (const { url } of nodes) {
      const answer = await fetch(`${url}/_cluster/health`, {
        signal: AbortSignal.timeout(ANSWER_MS),
      })
      const health = await answer.text()
      if (
        !health.includes('"status":"green"') ||
        !health.includes(`"number_of_nodes":${nodes.length}`)
      )
        return false
    }
    return true
  }
  await until(isWhole, START_MS, () => 'OpenSearch did not start on every host.')
  return { nodes, isWhole }
}

/** Starts one node with empty data, which ends with the test. `skip` says why there is none. */
export async function startTestOpensearch(
  test: Pick<Test, 'teardown'>,
): Promise<{ url: string; skip: string | false }> {
  const box = await openBox(() => {}, 'loopback')
  test.teardown(() => box.close(false))
  try {
    const { nodes } = await startOpensearch(
      box,
      [await box.addHost('one')],
      new AbortController().signal,
    )
    return { url: nodes[0]!.url, skip: false }
  } catch (error) {
    if (!(error instanceof MissingProgram)) throw error
    return { url: '', skip: error.message }
  }
}

async function configure(home: string, config: string, heap: number): Promise<void> {
  await copyFile(operatorsFile('opensearch/opensearch.yml'), join(config, 'opensearch.yml'))
  await copyFile(join(home, 'config', 'log4j2.properties'), join(config, 'log4j2.properties'))
  const delivered = await readFile(join(home, 'config', 'jvm.options'), 'utf8')
  const jvm = delivered.split('\n').filter(line => !/^-Xm|Xlog:gc/.test(line))
  // In a life of some minutes C2 costs more than it saves.
  const own = ['-XX:TieredStopAtLevel=1', `-Xms${heap}m`, `-Xmx${heap}m`]
  await writeFile(join(config, 'jvm.options'), [...jvm, ...own, ''].join('\n'))
}

const OPENSEARCH_VERSION = '3.4.0'
const UNPACK_MS = 120_000

/** The distribution without plugins. */
const ZIP: Artifact = {
  coordinates: `org.opensearch.distribution.integ-test-zip:opensearch:${OPENSEARCH_VERSION}:zip`,
  file: `opensearch-${OPENSEARCH_VERSION}.zip`,
  sha256: '6540e95fe8bfaedc3eb1c58e829912ea2203af2ac1f88f76411c20a2fc5254a6',
}

/**
 * Installs OpenSearch from Maven into the user's cache, unless it is there. A system in production
 * brings a cluster of its own.
 *
 * @param owner the account that it will run under, which cannot enter root's cache; null: ours
 * @returns its folder, and the Java that it runs on
 */
async function installOpensearch(owner: Owner | null, family: Family, signal: AbortSignal) {
  const said: string[] = []
  const running = { family, signal, report: (sentence: string) => void said.push(sentence) }
  const jdk = await findJdk('OpenSearch', running)
  if (jdk === null) throw new MissingProgram(said.join(' '))
  const own = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'perscope')
  const folder = owner === null ? own : join(tmpdir(), 'perscope-cache-root')
  await mkdir(folder, { recursive: true, mode: 0o755 })
  const home = join(folder, `opensearch-${OPENSEARCH_VERSION}`)
  if (existsSync(home)) return { home, jdk }
  // Another process may install it at the same time; the last step decides whose it is.
  const aside = await mkdtemp(join(folder, 'installing-'))
  try {
    const zip = await fetchArtifact('OpenSearch', ZIP, aside, running)
    if (zip === null) throw new MissingProgram(said.join(' '))
    // A JDK unpacks zip files, so nothing else is needed for that.
    const { code, output } = await runTool(join(jdk, 'bin', 'jar'), ['--extract', '--file', zip], {
      family,
      signal,
      within: UNPACK_MS,
      cwd: aside,
    })
    if (code !== 0)
      throw new MissingProgram(
        `OpenSearch could not be unpacked (${output.trim().split('\n').at(-1)}).`,
      )
    await rename(join(aside, `opensearch-${OPENSEARCH_VERSION}`), home).catch((error: unknown) => {
      if (!existsSync(home)) throw error
    })
    return { home, jdk }
  } finally {
    await rm(aside, { recursive: true, force: true })
  }
}
