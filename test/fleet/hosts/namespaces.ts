import { readdirSync, readFileSync, statSync } from 'node:fs'
import { signalProcess } from '#test/faults/machine/member'
import { run } from '#test/script'
import type { Network, Place } from './network.ts'

const NAMESPACES = '/run/netns'
/** A hardware address that nobody has: what is sent to it is lost without a word. */
const NOBODY = '02:00:00:00:00:01'
const ATTEMPTS = 20

/** Names carry the process that made them, so that a later run knows whom they belong to. */
const bridgeOf = (pid: number) => `pfleet${pid}`
const prefixOf = (pid: number) => `perscope-fleet-${pid}-`
const OWN_NAME = /^perscope-fleet-(\d+)-/
const OWN_LINK = /^(?:pfleet|pf)(\d+)(?:-\d+)?$/
const portOf = (pid: number, number: number) => `pf${pid}-${number}`

/**
 * Hosts as network namespaces, each joined to one bridge. The runner stands on the bridge, too.
 *
 * @throws Error when namespaces are not allowed here
 */
export async function createNamespaces(): Promise<Network> {
  const pid = process.pid
  const net = await makeBridge(pid)
  const names: string[] = []
  let addresses = 200
  return {
    kind: 'namespaces',
    range: `${net}.0/24`,
    runner: `${net}.1`,
    async runnerAddress() {
      const address = `${net}.${addresses++}`
      await ip('addr', 'add', `${address}/24`, 'dev', bridgeOf(pid))
      return address
    },
    port: usual => usual,
    async attach(name) {
      names.push(name)
      return attach(pid, name, names.length, net)
    },
    async close() {
      // A namespace lives on while a connection of it waits for answers; its link does not.
      for (const [index, name] of names.entries()) {
        await ip('link', 'del', portOf(pid, index + 1)).catch(() => {})
        await ip('netns', 'del', prefixOf(pid) + name).catch(() => {})
      }
      await ip('link', 'del', bridgeOf(pid)).catch(() => {})
    },
  }
}

/** Makes the bridge with addresses that nobody uses here; returns their first three numbers. */
async function makeBridge(pid: number): Promise<string> {
  const name = bridgeOf(pid)
  await ip('link', 'add', name, 'type', 'bridge')
  try {
    await ip('link', 'set', name, 'up')
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const net = `10.${between(64, 250)}.${between(1, 250)}`
      const taken = (await ip('-4', 'route')) + (await ip('-4', '-o', 'addr'))
      if (taken.includes(`${net}.`)) continue
      await ip('addr', 'add', `${net}.1/24`, 'dev', name)
      return net
    }
    throw new Error('There is no free range of addresses for the hosts.')
  } catch (error) {
    await ip('link', 'del', name).catch(() => {})
    throw error
  }
}

async function attach(pid: number, name: string, number: number, net: string): Promise<Place> {
  const namespace = prefixOf(pid) + name
  const port = portOf(pid, number)
  const address = `${net}.${9 + number}`
  const inside = (...words: string[]) => ip('-n', namespace, ...words)
  async function make() {
    await ip('netns', 'add', namespace)
    // The same hardware address after a loss of power: others remember it.
    const hardware = `02:00:00:00:01:${number.toString(16).padStart(2, '0')}`
    await ip(
      'link',
      'add',
      port,
      'type',
      'veth',
      'peer',
      'name',
      'eth0',
      'address',
      hardware,
      'netns',
      namespace,
    )
    await ip('link', 'set', port, 'master', bridgeOf(pid), 'up')
    await inside('addr', 'add', `${address}/24`, 'dev', 'eth0')
    await inside('link', 'set', 'lo', 'up')
    await inside('link', 'set', 'eth0', 'up')
  }
  await make()
  return {
    address,
    enter: ['nsenter', `--net=${NAMESPACES}/${namespace}`],
    pids: () => processesIn(namespace),
    links: {
      isolate: () => bridge('link', 'set', 'dev', port, 'state', '0'),
      rejoin: () => bridge('link', 'set', 'dev', port, 'state', '3'),
      cut: async other => {
        await inside('neigh', 'replace', other, 'lladdr', NOBODY, 'nud', 'permanent', 'dev', 'eth0')
      },
      mend: async other => {
        await inside('neigh', 'del', other, 'dev', 'eth0')
      },
      async reset() {
        await ip('link', 'del', port).catch(() => {})
        await ip('netns', 'del', namespace)
        await make()
      },
    },
  }
}

async function processesIn(namespace: string): Promise<number[]> {
  const printed = await ip('netns', 'pids', namespace)
  return printed.split('\n').filter(Boolean).map(Number)
}

/**
 * Removes the namespaces, links and bridges of runs whose process is gone, with all processes in
 * them. A run that was killed cannot do it.
 */
export async function removeForgotten(): Promise<void> {
  for (const name of listed(NAMESPACES)) {
    const owner = Number(OWN_NAME.exec(name)?.[1] ?? 0)
    if (!owner || isRunner(owner)) continue
    for (const pid of await processesIn(name).catch(() => [])) signalProcess(pid, 'SIGKILL')
    await ip('netns', 'del', name).catch(() => {})
  }
  for (const name of listed('/sys/class/net')) {
    const owner = Number(OWN_LINK.exec(name)?.[1] ?? 0)
    if (owner && !isRunner(owner)) await ip('link', 'del', name).catch(() => {})
  }
}

function listed(folder: string): string[] {
  try {
    return statSync(folder).isDirectory() ? readdirSync(folder) : []
  } catch {
    return []
  }
}

/** Whether the process still runs, and is one of Node's: ids are used again. */
export function isRunner(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8') === readFileSync('/proc/self/comm', 'utf8')
  } catch {
    return false
  }
}

const between = (low: number, high: number) => low + Math.floor(Math.random() * (high - low))

const LIMIT_MS = 10_000

/** Runs `ip` (iproute2) with these words and returns what it printed. */
async function ip(...words: string[]): Promise<string> {
  const { stdout } = await run('ip', words, { timeout: LIMIT_MS, maxBuffer: 16 * 1024 * 1024 })
  return stdout
}

/** Runs `bridge` (iproute2) with these words. */
async function bridge(...words: string[]): Promise<void> {
  await run('bridge', words, { timeout: LIMIT_MS })
}
