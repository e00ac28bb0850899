import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { isRecord } from '#shared/encoding/is-record'
import { parseJson } from '#shared/encoding/json'
import { SETTINGS } from './settings.ts'

/** The file in `DATA_DIR` with the ports of the embedded servers, by name. */
export const PORTS = 'ports.json'

/**
 * The embedded servers that ask for a key. By name: the file of `DATA_DIR` with the key, and the
 * settings for the server's address and key.
 */
export const KEYED_SERVERS = {
  qdrant: { file: 'qdrant.key', address: 'QDRANT_URL', key: 'QDRANT_API_KEY' },
  model: { file: 'model.key', address: 'EMBEDDINGS_URL', key: 'EMBEDDINGS_API_KEY' },
} as const

/**
 * Adds the keys of the embedded servers from `DATA_DIR` to `env`, if `env` has the servers'
 * addresses. A server with another address gets no key from here. The key replaces a key that `env`
 * already has.
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

/** The port of an address on this machine's loopback interface; null for other addresses. */
function loopbackPort(address: string): number | null {
  if (!URL.canParse(address)) return null
  const { hostname, port } = new URL(address)
  return hostname === '127.0.0.1' || hostname === 'localhost' ? Number(port) : null
}

function portOf(name: string, dataDir: string): unknown {
  const ports = parseJson(textOf(join(dataDir, PORTS)))
  return isRecord(ports) ? ports[name] : null
}

/**
 * The text of a file. Empty when the file does not exist, or when this account may not read it.
 * Without the key, the embedded server refuses the client, and the client reports that.
 */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/**
 * The file in `DATA_DIR` with the settings that other commands need to use a running `npm start`.
 */
export const RUNNING = 'env'

/** The settings in `RUNNING`. Some are keys of services, so only the owner may read the file. */
const KEPT = [
  'DATABASE_URL',
  'REDIS_URL',
  'QDRANT_URL',
  'QDRANT_API_KEY',
  'QDRANT_COLLECTION',
  'REDIS_SENTINELS',
  'REDIS_SENTINEL_NAME',
  'TLS_CA_FILE',
  'QDRANT_SHARDS',
  'QDRANT_REPLICAS',
  'QDRANT_WRITE_CONSISTENCY',
  'EMBEDDINGS_URL',
  'EMBEDDINGS_API_KEY',
  'EMBEDDINGS_API',
  'EMBEDDINGS_MODEL',
  'EMBED_DELAY',
  'CRAWL_ALLOW_PRIVATE',
  'HOST',
  'PORT',
  'PUBLIC_URL',
  'METRICS_HOST',
]

/** The lines of the file `RUNNING`. */
export const runningLines = (env: NodeJS.ProcessEnv): string =>
  envLines(Object.fromEntries(KEPT.map(name => [name, env[name]?.trim()])))

/**
 * Lines `NAME=value`. They have no quotes, so a shell, `docker --env-file` and systemd's
 * `EnvironmentFile` all read them. Settings without a value are left out.
 */
export const envLines = (settings: Readonly<Record<string, string | undefined>>): string =>
  Object.entries(settings)
    .filter(([, value]) => (value ?? '') !== '')
    .map(([name, value]) => `${name}=${value}\n`)
    .join('')

/**
 * Completes `env` with the settings of the `npm start` that runs on `dataDir`. Returns `env` when
 * none runs. Also returns `env` when it has its own DATABASE_URL, so that the settings of two
 * systems are never mixed.
 */
export function settingsBeside(
  dataDir: string,
  env: NodeJS.ProcessEnv = process.env,
): NodeJS.ProcessEnv {
  if (env.DATABASE_URL?.trim()) return env
  const text = textOf(join(dataDir, RUNNING))
  if (text === '') return env
  const own = Object.entries(env).filter(([, value]) => value?.trim())
  return { ...parseEnv(text), ...Object.fromEntries(own) }
}
