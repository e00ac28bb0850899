import { open, readFile, rename } from 'node:fs/promises'

/** The position of a poller. */
export interface Place {
  /** The query that it polls: another query needs another place. */
  query: string
  /** Latest `ingested_at` processed; null before the first article. */
  ingestedAfter: string | null
  /** Articles of that very moment. The bound is inclusive, so they come again. */
  ids: string[]
  /** Bytes written to the output file by then. */
  bytes: number
}

/** Reads the place from a file; a new place when the file does not exist. */
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
 * Writes the place to a second file, syncs and renames it, so that a crash leaves the old place or
 * the new one.
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
