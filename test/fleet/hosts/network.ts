import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join, sep } from 'node:path'

/** Where the hosts of a run stand. Each has an address, and a way to run programs there. */
export interface Network {
  /** `loopback`: addresses of this machine's own, without links that could be broken. */
  kind: 'namespaces' | 'loopback'
  /** The addresses as CIDR, for settings such as `CRAWL_ALLOW_PRIVATE`. */
  range: string
  /** The address of the runner, which pollers and sites use; hosts reach it. */
  runner: string
  /** One more address of the runner, as for a simulated site or a proxy. */
  runnerAddress(): Promise<string>
  /**
   * The port that stands for a usual one. In namespaces it is the same; on loopback another one,
   * because somebody may listen on the usual port of all addresses.
   */
  port(usual: number): number
  attach(name: string): Promise<Place>
  /** Removes everything of it; the processes have ended. */
  close(): Promise<void>
}

/** What the network knows of one host. */
export interface Place {
  address: string
  /** Words before a command that runs it on the host. */
  enter: readonly string[]
  /** Processes on the host, whoever started them. */
  pids(): Promise<number[]>
  /** Nothing that is sent to the host or from it arrives; null on loopback. */
  links: Links | null
}

/** Breaks links silently, as a switch would: nobody is told, packets are lost. */
export interface Links {
  isolate(): Promise<void>
  rejoin(): Promise<void>
  /** Both ways between this host and an address; other links stay. */
  cut(address: string): Promise<void>
  mend(address: string): Promise<void>
  /** Forgets all connections, as a host that lost its power does. The address stays. */
  reset(): Promise<void>
}

/** Ports of this run lie in such a block below the range that the system gives out by itself. */
const BLOCK = 200
const BLOCKS = 60
const FIRST_PORT = 20_000

/**
 * Hosts as addresses 127.x.y.n of this machine, where network namespaces are not allowed. A host
 * can be killed and paused, but not cut off.
 *
 * @param folder the processes of a host are those that live below its folder
 */
export function createLoopbackNetwork(folder: string): Network {
  const net = `127.${between(64, 250)}.${between(1, 250)}`
  const firstPort = FIRST_PORT + between(0, BLOCKS) * BLOCK
  const ports = new Map<number, number>()
  let hosts = 10
  let addresses = 200
  return {
    kind: 'loopback',
    range: '127.0.0.0/8',
    runner: `${net}.1`,
    runnerAddress: async () => `${net}.${addresses++}`,
    port(usual) {
      const known = ports.get(usual) ?? firstPort + ports.size
      ports.set(usual, known)
      return known
    },
    async attach(name) {
      const own = join(folder, name)
      return {
        address: `${net}.${hosts++}`,
        enter: [],
        pids: async () => processesBelow(own),
        links: null,
      }
    },
    async close() {},
  }
}

/**
 * Processes whose working directory, or the HOME that they were started with, is `folder` or lies
 * below it. OpenSearch goes to a working directory of its own.
 */
export function processesBelow(folder: string): number[] {
  const isBelow = (path: string | undefined) => `${path}${sep}`.startsWith(folder + sep)
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .filter(pid => {
      try {
        return isBelow(readlinkSync(`/proc/${pid}/cwd`)) || isBelow(homeOf(pid))
      } catch {
        return false
      }
    })
    .map(Number)
    .filter(pid => pid !== process.pid)
}

const homeOf = (pid: string) =>
  /(?:^|\0)HOME=([^\0]*)/.exec(readFileSync(`/proc/${pid}/environ`, 'utf8'))?.[1]

const between = (low: number, high: number) => low + Math.floor(Math.random() * (high - low))
