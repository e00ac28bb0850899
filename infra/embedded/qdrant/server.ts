import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { giveTo, type Owner } from '../owner.ts'
import type { Program } from '../supervision/program.ts'
import { askHttp } from '../supervision/silence.ts'

/** Qdrant with its data in `dataDir`, on loopback, with a key and without telemetry. */
export async function qdrantProgram(
  dataDir: string,
  programs: string,
  port: number,
  key: string,
  owner: Owner | null,
  lock: number,
  log: string,
): Promise<Program> {
  const folder = join(dataDir, 'qdrant')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await giveTo(owner, folder)
  // JSON is also YAML. Qdrant reads a file named .json as empty, and would then listen on all
  // addresses.
  const config = join(dataDir, 'qdrant.yaml')
  await writeFile(config, JSON.stringify(settings(folder, port), null, 2), { mode: 0o644 })
  return {
    name: 'Qdrant',
    command: join(programs, 'bin', 'qdrant'),
    args: ['--config-path', config, '--disable-telemetry'],
    cwd: folder,
    // The key does not stand in the configuration, because every account can read that.
    env: {
      ...{ PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' },
      ...{ QDRANT__SERVICE__HOST: '127.0.0.1', QDRANT__SERVICE__API_KEY: key },
    },
    owner,
    lock,
    log,
    isReady: async () => (await fetch(`http://127.0.0.1:${port}/readyz`, { signal: AbortSignal.timeout(2_000) })).ok,
    isAlive: askHttp(`http://127.0.0.1:${port}/healthz`),
    stop: [{ signal: 'SIGTERM', wait: 7_000 }],
    gentle: 'SIGTERM',
  }
}

const settings = (folder: string, port: number) => ({
  log_level: 'WARN',
  telemetry_disabled: true,
  storage: { storage_path: join(folder, 'storage'), snapshots_path: join(folder, 'snapshots') },
  service: { host: '127.0.0.1', http_port: port, grpc_port: null, enable_static_content: false },
})
