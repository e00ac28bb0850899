import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { SETTINGS } from './settings.ts'

/** The file in `DATA_DIR` with the ports of the embedded servers, by name. */
export const PORTS = 'ports.json'

/**
 * An embedded server that asks for a key: its name, the file of `DATA_DIR` with its key, and the
 * settings that reach it.
 */
export const KEYED_SERVERS = {
  qdrant: { file: 'qdrant.key', address: 'QDRANT_URL', key: 'QDRANT_API_KEY' },
  model: { file: 'model.key', address: 'EMBEDDINGS_URL', key: 'EMBEDDINGS_API_KEY' },
} as const

/**
 * Adds the keys of the embedded servers to `env`, when `env` has their addresses. The keys are read
 * from `DATA_DIR`. Only the address of an embedded server gets its key, which replaces any other.
 */
export function withEmbeddedKeys(env: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  const dataDir = env.DATA_DIR?.trim() || SETTINGS.DATA_DIR.default
  const found: NodeJS.ProcessEnv = {}
  for (const [name, { file, address, key }] of Object.entries(KEYED_SERVERS)) {
    const port = loopbackPort(env[address]?.trim() ?? '')
    if (port === null || port !== portOf(name, dataDir)) continue
    const own = textOf(join(dataDir, file)).trim()
    if (own !== '') found[key] = own
  }
  return { ...env, ...found }
}

/** The port of an address on this machine's loopback; null for other addresses. */
function loopbackPort(address: string): number | null {
  if (!URL.canParse(address)) return null
  const { hostname, port } = new URL(address)
  return hostname === '127.0.0.1' || hostname === 'localhost' ? Number(port) : null
}

function portOf(name: string, dataDir: string): unknown {
  try {
    const ports: unknown = JSON.parse(textOf(join(dataDir, PORTS)))
    return typeof ports === 'object' && ports !== null ? Object.entries(ports).find(([key]) => key === name)?.[1] : null
  } catch {
    return null
  }
}

/**
 * The text of a file. Empty when the file does not exist, or when this account may not read it.
 * Without its key, an embedded server refuses a client, and the client reports the refusal.
 */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/**
 * The file in `DATA_DIR` with the settings that other commands need to reach a running `npm start`.
 */
export const RUNNING = 'env'

/** The settings in that file, with the keys that services need: only its owner may read it. */
const KEPT = [
  ...['DATABASE_URL', 'REDIS_URL', 'QDRANT_URL', 'QDRANT_API_KEY', 'QDRANT_COLLECTION'],
  ...['REDIS_SENTINELS', 'REDIS_SENTINEL_NAME', 'TLS_CA_FILE'],
  ...['QDRANT_SHARDS', 'QDRANT_REPLICAS', 'QDRANT_WRITE_CONSISTENCY'],
  ...['EMBEDDINGS_URL', 'EMBEDDINGS_API_KEY', 'EMBEDDINGS_API', 'EMBEDDINGS_MODEL', 'EMBED_DELAY'],
  ...['CRAWL_ALLOW_PRIVATE', 'HOST', 'PORT', 'PUBLIC_URL', 'METRICS_HOST'],
]

/** The lines of the file `RUNNING`. */
export const runningLines = (env: NodeJS.ProcessEnv): string =>
  envLines(Object.fromEntries(KEPT.map(name => [name, env[name]?.trim()])))

/**
 * Lines `NAME=value`. Without quotes they can be read by a shell, by `docker --env-file` and as
 * systemd's `EnvironmentFile` alike. What is not set is left out.
 */
export const envLines = (settings: Readonly<Record<string, string | undefined>>): string =>
  Object.entries(settings)
    .filter(([, value]) => (value ?? '') !== '')
    .map(([name, value]) => `${name}=${value}\n`)
    .join('')

/**
 * Completes `env` by the settings of the `npm start` that runs on `dataDir`. Returns `env` when
 * none runs, or when `env` names a database: the settings of two systems are never mixed.
 */
export function settingsBeside(dataDir: string, env: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  if (env.DATABASE_URL?.trim()) return env
  const text = textOf(join(dataDir, RUNNING))
  if (text === '') return env
  const own = Object.entries(env).filter(([, value]) => value?.trim())
  return { ...parseEnv(text), ...Object.fromEntries(own) }
}
