import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { writeWhole } from '../../infra/embedded/data-directory/file.ts'
import { Problem } from '../../infra/embedded/problem.ts'
import { readPorts, writePorts } from '../../infra/outlets/sample/ports.ts'
import { startSampleSites } from '../../infra/outlets/sample/server.ts'

const SCRIPT = fileURLToPath(new URL('../outlets.ts', import.meta.url))

/**
 * Serves the sample outlets on loopback, at the addresses of the last start. Returns the file of
 * their catalogue.
 */
export async function serveSample(dataDir: string): Promise<{ file: string; close(): Promise<void> }> {
  const portsFile = join(dataDir, 'sample-ports.json')
  const sites = await startSampleSites({ ports: await readPorts(portsFile) }).catch((error: Error) => {
    throw new Problem(error.message)
  })
  await writePorts(portsFile, sites.ports)
  const file = join(dataDir, 'sample-outlets.json')
  await writeWhole(file, JSON.stringify(sites.catalogue, null, 2), 0o644)
  return { file, close: sites.close }
}

/** Brings a catalogue into the database, as `npm run outlets -- sync FILE` does. */
export async function syncOutlets(file: string, databaseUrl: string, signal: AbortSignal): Promise<void> {
  try {
    await promisify(execFile)(process.execPath, [SCRIPT, 'sync', file], {
      env: { ...process.env, DATABASE_URL: databaseUrl },
      signal,
    })
  } catch (error) {
    signal.throwIfAborted()
    const words = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : String(error)
    throw new Problem(words || 'The outlets could not be loaded.')
  }
}
