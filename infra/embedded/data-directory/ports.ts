import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { PORTS } from '../../../shared/config/embedded-keys.ts'
import { Problem } from '../problem.ts'
import { readRecord, writeWhole } from './file.ts'

/**
 * The ports lie below 32768, where Linux begins to give ports to outgoing connections, and above
 * the ports of well-known servers.
 */
const LOWEST = 20_000
const HIGHEST = 32_767

/** The remembered ports of the servers of `DATA_DIR`, so that services find them again. */
export interface Ports {
  /**
   * The port that server `name` had before. A free port when it had none, or when that is taken.
   */
  of(name: string): Promise<number>
}

/** @param report called with a sentence when a port had to change */
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
 * A free port, drawn at random, so that two starts at the same moment do not try the same ports.
 */
export async function freePort(allowed: (port: number) => boolean = () => true): Promise<number> {
  for (let attempt = 0; attempt < 200; attempt++) {
    const port = randomInt(LOWEST, HIGHEST + 1)
    if (allowed(port) && (await isFree(port))) return port
  }
  throw new Problem(`No free port was found between ${LOWEST} and ${HIGHEST} on 127.0.0.1; end some servers first.`)
}

/** Whether a server could listen on `port` of `host` now. */
export function isFree(port: number, host = '127.0.0.1'): Promise<boolean> {
  return new Promise(resolve => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)))
  })
}
