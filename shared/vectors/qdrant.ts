import type { QdrantClient } from '@qdrant/js-client-rest'
import type { Config } from '#shared/config/config'
import { type Trust, trustOf } from '#shared/config/tls'
import { createCircuit } from '#shared/resilience/circuit'
import { type AskNearest, openNearest, type QdrantAddress, vectorFailure } from './nearest.ts'
import { VectorFailure } from './store.ts'

/** The settings that lead to Qdrant. */
export type QdrantSettings = Pick<Config, 'QDRANT_URL' | 'QDRANT_API_KEY'> &
  Partial<Pick<Config, 'TLS_CA_FILE'>>

/** Two ways to send requests to Qdrant: its own client, and `nearest`. */
export interface Server {
  /**
   * Qdrant's own client. Pass `via` as the second argument of each call. Otherwise the client
   * opens connections of its own, which do not use TLS_CA_FILE.
   */
  api: ReturnType<QdrantClient['api']>
  via: object
  nearest: AskNearest
}

/** Runs requests to Qdrant within its circuit breaker. Throws `VectorFailure`. */
export type Ask = <T>(work: (server: Server) => Promise<T>) => Promise<T>

/** The most connections to Qdrant: as many as Qdrant's own client opens. */
const CONNECTIONS = 25

/** @param timeout ms that a request may take */
export function openQdrant(
  config: QdrantSettings,
  timeout: number,
): {
  ask: Ask /** Why Qdrant is not asked at present; null: it is asked. */
  obstacle: () => string | null
} {
  if (config.QDRANT_URL === '') {
    return {
      ask: () =>
        Promise.reject(
          new VectorFailure('unavailable', 'There is no vector store; set QDRANT_URL.'),
        ),
      obstacle: () => 'QDRANT_URL is not set',
    }
  }
  const server = openServer(config, timeout, trustOf({ TLS_CA_FILE: config.TLS_CA_FILE ?? '' }))
  server.catch(() => {}) // `ask` reports it
  const circuit = createCircuit(
    'Qdrant',
    error => error instanceof VectorFailure && error.kind === 'unavailable',
  )
  return {
    obstacle: circuit.obstacle,
    async ask(work) {
      try {
        return await circuit.run(async () => {
          try {
            return await work(await server)
          } catch (error) {
            throw vectorFailure(error)
          }
        })
      } catch (error) {
        throw vectorFailure(error)
      }
    },
  }
}

/** Loads the clients here, because many processes have no vector store. */
async function openServer(config: QdrantSettings, timeout: number, trust: Trust): Promise<Server> {
  const [{ QdrantClient }, { Agent, install }] = await Promise.all([
    import('@qdrant/js-client-rest'),
    import('undici'),
  ])
  const dispatcher = new Agent({
    connections: CONNECTIONS,
    allowH2: false,
    connect: { timeout, ...trust },
  })
  const address = addressOf(config)
  const { origin, port, prefix } = address
  // Qdrant's client calls the global `fetch`. Node's own `fetch` ends the process when a server
  // closes a connection early, so undici's `fetch` replaces it.
  install()
  const client = new QdrantClient({
    url: origin,
    port,
    ...(prefix === '' ? {} : { prefix }),
    timeout,
    headers: {
      // `nearest.ts` says why.
      'accept-encoding': 'identity',
      // This does not use the option `apiKey`, because the client would then print a warning into
      // our log.
      ...(config.QDRANT_API_KEY === '' ? {} : { 'api-key': config.QDRANT_API_KEY }),
    },
    // The check would ask for the version before any request, and warn about the version that we
    // pin.
    checkCompatibility: false,
  })
  // Node's types do not have our `dispatcher`.
  const via: object = { dispatcher }
  return { api: client.api(), via, nearest: openNearest(config, address, timeout, dispatcher) }
}

/**
 * Qdrant's address. If QDRANT_URL has no port, the port is 443 for https, otherwise Qdrant's own,
 * 6333.
 */
function addressOf({ QDRANT_URL }: QdrantSettings): QdrantAddress {
  const url = new URL(QDRANT_URL)
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 6333)
  return {
    origin: `${url.protocol}//${url.hostname}`,
    port,
    prefix: url.pathname.replace(/\/+$/, ''),
  }
}
