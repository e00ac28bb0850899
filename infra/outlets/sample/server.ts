import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { SampleResponse } from './answer.ts'
import { SAMPLE_OUTLETS } from './outlets.ts'
import { type Site, siteOf } from './site.ts'
import { catalogueEntry, type OutletsFile, type SampleOutlet } from './texts.ts'

/**
 * The sample outlets as twelve real web servers on 127.0.0.1. Each has a port of its own, so that it
 * is a host of its own for robots.txt and permits.
 */

/** One request that a site answered. Tests read which requests a crawler made. */
export interface Visit {
  domain: string
  /** With its query. */
  path: string
  status: number
  userAgent: string
}

interface SampleOptions {
  /**
   * The ports of an earlier start, by domain. An article's address holds its port, so the articles
   * are the same only with the same ports. A domain without a port gets a free one.
   */
  ports?: Ports
  onVisit?: (visit: Visit) => void
}

interface SampleSites {
  /** The caller should keep them for the next start. */
  ports: Ports
  catalogue: OutletsFile
  close: () => Promise<void>
}

/** Starts all sites. When a remembered port is taken, rejects with a sentence and ends all sites. */
export async function startSampleSites(options: SampleOptions = {}): Promise<SampleSites> {
  const servers: Server[] = []
  const close = async () => {
    await Promise.all(servers.map(stop))
  }
  const ports: Ports = {}
  const remembered = options.ports ?? {}
  // Two checkouts rarely begin at the same random port.
  const from = randomInt(20_000, 32_000)
  try {
    for (const outlet of SAMPLE_OUTLETS) {
      const port = remembered[outlet.domain]
      const server = createServer()
      ports[outlet.domain] =
        port === undefined
          ? await choosePort(server, from, Object.values({ ...remembered, ...ports }))
          : await takeRememberedPort(server, port, outlet.domain)
      servers.push(server)
      server.on('request', listener(outlet, siteOf(outlet, originOf(ports[outlet.domain]!)), options.onVisit))
    }
  } catch (error) {
    await close()
    throw error
  }
  const outlets = SAMPLE_OUTLETS.map(outlet => catalogueEntry(outlet, originOf(ports[outlet.domain]!)))
  return { ports, catalogue: { outlets }, close }
}

function originOf(port: number): string {
  return `http://127.0.0.1:${port}`
}

async function stop(server: Server): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  server.closeAllConnections()
  await closed
}

function listener(outlet: SampleOutlet, site: Site, onVisit: SampleOptions['onVisit']): RequestListener {
  return (request, response) => {
    const path = request.url ?? '/'
    const answer = request.method === 'GET' || request.method === 'HEAD' ? site(path, request.headers) : NOT_ALLOWED
    onVisit?.({
      domain: outlet.domain,
      path,
      status: answer.status,
      userAgent: request.headers['user-agent'] ?? '',
    })
    const length = answer.status === 304 || answer.status === 204 ? {} : { 'Content-Length': answer.body.length }
    response.writeHead(answer.status, { ...answer.headers, ...length })
    response.end(request.method === 'HEAD' ? undefined : answer.body)
  }
}

const NOT_ALLOWED: SampleResponse = { status: 405, headers: { Allow: 'GET, HEAD' }, body: Buffer.alloc(0) }

/** The port of each sample outlet, by domain. */
type Ports = Record<string, number>

/** Linux gives ports from here on to outgoing connections. They could be taken at the next start. */
const FIRST_EPHEMERAL_PORT = 32_768

/** Listens on the first free port that is at least `from`, below 32,768 and none of `except`; returns it. */
async function choosePort(server: Server, from: number, except: readonly number[]): Promise<number> {
  for (let port = from; port < FIRST_EPHEMERAL_PORT; port += 1) {
    if (!except.includes(port) && (await listens(server, port))) return port
  }
  throw new Error(`No port between ${from} and ${FIRST_EPHEMERAL_PORT - 1} is free.`)
}

/** Listens on the port that the outlet had before. Rejects with a sentence when it is taken. */
async function takeRememberedPort(server: Server, port: number, domain: string): Promise<number> {
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

// `node infra/outlets/sample/server.ts` serves the sample outlets by themselves until SIGTERM.
if (import.meta.main) {
  const sites = await startSampleSites()
  process.once('SIGTERM', () => void sites.close())
  process.stdout.write(`${JSON.stringify(sites.catalogue, null, 2)}\n`)
}
