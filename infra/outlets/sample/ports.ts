import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { readFile, rename, writeFile } from 'node:fs/promises'
import type { Server } from 'node:http'

/** The port of each sample outlet, by domain. */
export type Ports = Record<string, number>

/** Linux gives ports from here on to outgoing connections. They could be taken at the next start. */
const FIRST_EPHEMERAL_PORT = 32_768

/** A random port to begin the search at, so that two checkouts rarely choose the same. */
export function randomPlace(): number {
  return randomInt(20_000, 32_000)
}

/** Listens on the first free port that is at least `from`, below 32,768 and none of `except`; returns it. */
export async function choosePort(
  server: Server,
  { from, except }: { from: number; except: readonly number[] },
): Promise<number> {
  for (let port = from; port < FIRST_EPHEMERAL_PORT; port += 1) {
    if (!except.includes(port) && (await listens(server, port))) return port
  }
  throw new Error(`No port between ${from} and ${FIRST_EPHEMERAL_PORT - 1} is free: begin at a lower one.`)
}

/** Listens on the port that the outlet had before. Rejects with a sentence when it is taken. */
export async function takeRememberedPort(server: Server, port: number, domain: string): Promise<number> {
  if (await listens(server, port)) return port
  throw new Error(
    `Port ${port}, the address of the sample outlet ${domain} since its first start, is taken by another process: ` +
      'end that process, or remove the remembered ports (the articles of the sample outlets then count as new ones).',
  )
}

async function listens(server: Server, port: number): Promise<boolean> {
  try {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'EADDRINUSE' || error.code === 'EACCES')) {
      return false
    }
    throw error
  }
}

/** Reads the ports in a file; none when there is no such file. Throws when it holds anything else. */
export async function readPorts(file: string): Promise<Ports> {
  let source: string
  try {
    source = await readFile(file, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return {}
    throw error
  }
  const wrong = new Error(`${file} does not hold the ports of the sample outlets: remove it, and they get new ones.`)
  let parsed: unknown
  try {
    parsed = JSON.parse(source)
  } catch {
    throw wrong
  }
  if (typeof parsed !== 'object' || parsed === null) throw wrong
  const ports: Ports = {}
  for (const [domain, port] of Object.entries(parsed)) {
    if (typeof port !== 'number' || !Number.isInteger(port) || port < 1 || port > 65_535) throw wrong
    ports[domain] = port
  }
  return ports
}

/** Writes the file by a rename: a crash leaves the old file or the new one. */
export async function writePorts(file: string, ports: Ports): Promise<void> {
  const fresh = `${file}.${process.pid}.new`
  await writeFile(fresh, `${JSON.stringify(ports, null, 2)}\n`)
  await rename(fresh, file)
}
