import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { PORTS } from '../../../shared/config/embedded-keys.ts'
import { Problem } from '../problem.ts'
import { readRecord, writeWhole } from './file.ts'

/**
 * Below 32768, where Linux begins to hand out ports to outgoing connections; above what well-known
 * servers use.
 */
const LOWEST = 20_000
const HIGHEST = 32_767

/**
 * Where servers of `DATA_DIR` listened the last time: services that know an address find it again.
 */
export interface Ports {
  /**
   * The port of `name`: the one it had, or a free one when it had none or somebody else has taken
   * it.
   */
  of(name: string): Promise<number>
}

/** @param report told in one sentence when a port had to change */
export async function rememberedPorts(dataDir: string, report: (sentence: string) => void): Promise<Ports> {
  const file = join(dataDir, PORTS)
  const known = await readRecord(file)
  return {
    async of(name) {
      const before = known[name]
      if (typeof before === 'number' && (await isFree(before))) return before
      const taken = Object.values(known)
      const port = await freePort(candidate => !taken.includes(candidate))
      if (typeof before === 'number') {
        report(`Port ${before}, where ${name} listened before, is taken by another program; it now listens on ${port}.`)
      }
      known[name] = port
      await writeWhole(file, `${JSON.stringify(known, null, 2)}\n`, 0o644)
      return port
    },
  }
}

/**
 * Drawn at random, so that two starts at the same moment do not try the same ports in the same
 * order.
 */
export async function freePort(allowed: (port: number) => boolean = () => true): Promise<number> {
  for (let attempt = 0; attempt < 200; attempt++) {
    const port = randomInt(LOWEST, HIGHEST + 1)
    if (allowed(port) && (await isFree(port))) return port
  }
  throw new Problem(`No free port was found between ${LOWEST} and ${HIGHEST} on 127.0.0.1; end some servers first.`)
}

/** Whether a server of ours could listen on `port` of `host` now. */
export function isFree(port: number, host = '127.0.0.1'): Promise<boolean> {
  return new Promise(resolve => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)))
  })
}
