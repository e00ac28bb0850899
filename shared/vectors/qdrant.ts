import { QdrantClient } from '@qdrant/js-client-rest'
import { Agent, install } from 'undici'
import type { Config } from '../config/config.ts'
import { trustOf } from '../config/tls.ts'
import { createCircuit, type Obstacle } from '../resilience/circuit.ts'
import { openNearest, type QdrantAddress, vectorFailure } from './nearest.ts'
import { VectorFailure } from './store.ts'

/** The settings that lead to Qdrant. */
export type QdrantSettings = Pick<Config, 'QDRANT_URL' | 'QDRANT_API_KEY'> & Partial<Pick<Config, 'TLS_CA_FILE'>>

/** The two ways to ask Qdrant. */
export type Server = ReturnType<typeof openServer>

/** Asks Qdrant through its circuit breaker. Throws `VectorFailure`. */
export type Ask = <T>(work: (server: Server) => Promise<T>) => Promise<T>

/** Most connections to Qdrant: as many as its own client opens. */
const CONNECTIONS = 25

/** @param timeout ms that a request may take */
export function openQdrant(
  config: QdrantSettings,
  timeout: number,
): { ask: Ask /** Why Qdrant is not asked at present; null: it is asked. */; obstacle: () => Obstacle | null } {
  if (config.QDRANT_URL === '') {
    return {
      ask: () => Promise.reject(new VectorFailure('unavailable', 'There is no vector store; set QDRANT_URL.')),
      obstacle: () => ({ reason: 'QDRANT_URL is not set', wait: 60_000 }),
    }
  }
  const server = openServer(config, timeout)
  const circuit = createCircuit('Qdrant', error => error instanceof VectorFailure && error.kind === 'unavailable')
  return {
    obstacle: circuit.obstacle,
    async ask(work) {
      try {
        return await circuit.run(() => work(server).catch(error => Promise.reject(vectorFailure(error))))
      } catch (error) {
        throw vectorFailure(error)
      }
    },
  }
}

function openServer(config: QdrantSettings, timeout: number) {
  const trust = trustOf({ TLS_CA_FILE: config.TLS_CA_FILE ?? '' })
  const dispatcher = new Agent({ connections: CONNECTIONS, allowH2: false, connect: { timeout, ...trust } })
  const address = addressOf(config)
  // Qdrant's client calls the global `fetch`. Node's own `fetch` ends the process when a server
  // closes early, so undici's takes its place.
  install()
  // Node's types do not describe our dispatcher.
  const via: object = { dispatcher }
  return {
    /**
     * Qdrant's own client. Each call takes `via` as its second argument: the client opens
     * connections of its own otherwise, which do not know TLS_CA_FILE.
     */
    api: createClient(config, address, timeout).api(),
    via,
    nearest: openNearest(config, address, timeout, dispatcher),
  }
}

const createClient = ({ QDRANT_API_KEY }: QdrantSettings, { origin, port, prefix }: QdrantAddress, timeout: number) =>
  new QdrantClient({
    url: origin,
    port,
    ...(prefix === '' ? {} : { prefix }),
    timeout,
    headers: {
      // See nearest.ts.
      'accept-encoding': 'identity',
      // The option `apiKey` is not used: with it the client prints a warning into our log.
      ...(QDRANT_API_KEY === '' ? {} : { 'api-key': QDRANT_API_KEY }),
    },
    // The check asks for the version before any request, and warns of the version that we pin.
    checkCompatibility: false,
  })

/** Qdrant's address. Without a port in it, the port is 443 with https, else Qdrant's own, 6333. */
function addressOf({ QDRANT_URL }: QdrantSettings): QdrantAddress {
  const url = new URL(QDRANT_URL)
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 6333)
  return { origin: `${url.protocol}//${url.hostname}`, port, prefix: url.pathname.replace(/\/+$/, '') }
}
