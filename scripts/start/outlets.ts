import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Problem, readIfThere, writeWhole } from '../../infra/embedded/files.ts'
import { readPorts, startSampleSites, writePorts } from '../../infra/outlets/sample/server.ts'
import { readCatalogue, sharedFeedSentence } from '../../shared/outlets/catalogue.ts'
import { syncOutlets } from '../../shared/outlets/sync.ts'
import type { Pool } from '../../shared/postgres/pool.ts'

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

/** Where a start keeps the domains that it loaded, so that the next start knows them again. */
const LOADED = 'start-outlets.json'

/**
 * Brings a catalogue into the database. Outlets that somebody added by hand stay. Outlets that an
 * earlier start loaded leave when the catalogue does not name them any more.
 *
 * @param report called with a sentence about outlets that left, and about those that stay
 */
export async function loadOutlets(options: {
  pool: Pool
  file: string
  dataDir: string
  report(sentence: string): void
}): Promise<void> {
  const { pool, file, dataDir, report } = options
  const { outlets } = readCatalogue(await readFile(file, 'utf8'))
  const state = join(dataDir, LOADED)
  const loaded = domainsIn(await readIfThere(state))
  const { removed, kept, shared } = await syncOutlets(pool, outlets, { remove: loaded })
  await writeWhole(state, `${JSON.stringify(outlets.map(({ domain }) => domain))}\n`)
  if (removed.length > 0) report(`No longer crawled, because the catalogue does not name them: ${removed.join(', ')}.`)
  if (kept.length > 0) {
    report(
      `Outlets outside the catalogue are crawled too: ${kept.join(', ')}. "npm run outlets -- remove DOMAIN" removes one.`,
    )
  }
  for (const one of shared) report(sharedFeedSentence(one))
}

/** The domains in the file; none when it is missing or damaged. */
function domainsIn(text: string | null): string[] {
  try {
    const value: unknown = JSON.parse(text ?? '[]')
    return Array.isArray(value) ? value.filter(domain => typeof domain === 'string') : []
  } catch {
    return []
  }
}
