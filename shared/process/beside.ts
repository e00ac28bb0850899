import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'

/**
 * The file in `DATA_DIR` with the settings that other commands need to reach a running `npm start`.
 */
export const RUNNING = 'env'

/** The settings in that file. It has no secrets except the passwords in addresses. */
const KEPT = [
  ...['DATABASE_URL', 'REDIS_URL', 'QDRANT_URL', 'QDRANT_COLLECTION'],
  ...['REDIS_SENTINELS', 'REDIS_SENTINEL_NAME', 'TLS_CA_FILE'],
  ...['QDRANT_SHARDS', 'QDRANT_REPLICAS', 'QDRANT_WRITE_CONSISTENCY'],
  ...['EMBEDDINGS_URL', 'EMBEDDINGS_API', 'EMBEDDINGS_MODEL', 'EMBED_DELAY'],
  ...['CRAWL_ALLOW_PRIVATE', 'HOST', 'PORT', 'PUBLIC_URL', 'METRICS_HOST'],
]

/** The lines of the file, for shells and for `settingsBeside`. */
export function runningLines(env: NodeJS.ProcessEnv): string {
  const lines = KEPT.map(name => [name, env[name]?.trim() ?? '']).filter(([, value]) => value !== '')
  return lines.map(([name, value]) => `${name}='${value}'\n`).join('')
}

/**
 * Completes `env` by the settings of the `npm start` that runs on `dataDir`. Returns `env` when
 * none runs, or when `env` names a database: the settings of two systems are never mixed.
 */
export function settingsBeside(dataDir: string, env: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  if (env.DATABASE_URL?.trim()) return env
  let text: string
  try {
    text = readFileSync(join(dataDir, RUNNING), 'utf8')
  } catch {
    return env
  }
  const own = Object.entries(env).filter(([, value]) => value?.trim())
  return { ...parseEnv(text), ...Object.fromEntries(own) }
}
