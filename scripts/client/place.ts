import { open, readFile, rename } from 'node:fs/promises'

/** Where a poller stands. */
export interface Place {
  /** What it asks for: another question needs another place. */
  query: string
  /** Latest `ingested_at` processed; null before the first article. */
  ingestedAfter: string | null
  /** Articles of that very moment: the bound is inclusive, they come again. */
  ids: string[]
  /** Bytes written to the output file by then. */
  bytes: number
}

/** The place kept in a file; a new one when there is none. */
export async function readPlace(file: string, query: string): Promise<Place> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
      return { query, ingestedAfter: null, ids: [], bytes: 0 }
    }
    throw error
  }
  const place: Place = JSON.parse(text)
  if (place.query !== query) {
    throw new Error(`${file} is the place of another question (${place.query}); name another file for this one.`)
  }
  return place
}

/**
 * Keeps the place: written beside, synced, then renamed, so that a crash leaves the old or the new.
 */
export async function keepPlace(file: string, place: Place): Promise<void> {
  const draft = `${file}.new`
  const handle = await open(draft, 'w')
  try {
    await handle.writeFile(`${JSON.stringify(place)}\n`)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(draft, file)
}
