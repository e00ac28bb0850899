/**
 * The sample outlets as twelve real web servers on 127.0.0.1. Each has a port of its own, so that it
 * is a host of its own for robots.txt and permits.
 */

import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { SampleResponse } from './answer.ts'
import { catalogueEntry, type OutletsFile, type SampleOutlet } from './outlet.ts'
import { SAMPLE_OUTLETS } from './outlets.ts'
import { choosePort, type Ports, randomPlace, takeRememberedPort } from './ports.ts'
import { type Site, siteOf } from './site.ts'

/** One request that a site answered. Tests read which requests a crawler made. */
export interface Visit {
  domain: string
  /** With its query. */
  path: string
  status: number
  userAgent: string
}

export interface SampleOptions {
  /**
   * The ports of an earlier start, by domain. An article's address holds its port, so the articles
   * are the same only with the same ports. A domain without a port gets a free one.
   */
  ports?: Ports
  /** Where the search for free ports begins. Default: at random between 20,000 and 32,000. */
  port?: number
  onVisit?: (visit: Visit) => void
}

export interface SampleSites {
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
  const from = options.port ?? randomPlace()
  try {
    for (const outlet of SAMPLE_OUTLETS) {
      const port = remembered[outlet.domain]
      const server = createServer()
      ports[outlet.domain] =
        port === undefined
          ? await choosePort(server, { from, except: Object.values({ ...remembered, ...ports }) })
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
