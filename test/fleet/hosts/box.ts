import { access, chmod, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createFamily, type Family } from '#infra/embedded/supervision/family'
import { succeeds } from '#test/script'
import { createHost, type Host } from './host.ts'
import { createNamespaces, isRunner, removeForgotten } from './namespaces.ts'
import { createLoopbackNetwork, type Network, processesBelow } from './network.ts'

/** Several hosts on this machine, and what they have in common. */
export interface Box {
  network: Network
  /** Everything of the run: a folder for each host, and `logs`. */
  folder: string
  family: Family
  hosts: Host[]
  /** Makes a host. Its name is short, with letters, digits and hyphens alone. */
  addHost(name: string): Promise<Host>
  /**
   * Ends all processes at once and removes the network.
   * @param keep leaves the folder, for its logs
   */
  close(keep: boolean): Promise<void>
}

const PREFIX = 'perscope-fleet-'
/** Stands in a folder that a run has left on purpose. */
export const VERDICT = 'verdict.json'

/** @param only `loopback`: does without namespaces also where they are allowed */
export async function openBox(
  say: (sentence: string) => void,
  only: 'loopback' | null,
): Promise<Box> {
  await removeForgotten()
  await removeFolders()
  const folder = await mkdtemp(join(tmpdir(), `${PREFIX}${process.pid}-`))
  // Parts run under accounts of their own.
  await chmod(folder, 0o755)
  await mkdir(join(folder, 'logs'))
  const network = await openNetwork(folder, say, only)
  const family = await createFamily(folder)
  const hosts: Host[] = []
  return {
    network,
    folder,
    family,
    hosts,
    async addHost(name: string) {
      const host = await createHost(name, folder, network, family)
      hosts.push(host)
      return host
    },
    async close(keep: boolean) {
      await Promise.all(hosts.map(host => host.crash()))
      await network.close()
      family.disband()
      if (!keep) await rm(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

async function openNetwork(
  folder: string,
  say: (s: string) => void,
  only: 'loopback' | null,
): Promise<Network> {
  if (only === null) {
    try {
      return await createNamespaces()
    } catch (error) {
      const why = error instanceof Error ? error.message.trim().split('\n').at(-1) : String(error)
      say(`Network namespaces are not allowed here (${why}).`)
    }
  }
  say(
    'The hosts are addresses 127.x.y.n of this machine: they can be killed and paused, but not cut off.',
  )
  return createLoopbackNetwork(folder)
}

/** Removes the folders of runs whose process is gone, and ends what still runs there. */
async function removeFolders(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const owner = Number(new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1] ?? 0)
    if (!owner || isRunner(owner)) continue
    const folder = join(tmpdir(), name)
    if (await succeeds(access(join(folder, VERDICT)))) continue
    for (const pid of processesBelow(folder)) process.kill(pid, 'SIGKILL')
    await rm(folder, { recursive: true, force: true, maxRetries: 5 }).catch(() => {})
  }
}
