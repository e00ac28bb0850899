import { open, readFile, rename } from 'node:fs/promises'
import type { PollState } from '../../clients/typescript/src/index.ts'

/** Where `npm run poll` stands. */
export interface Place {
  /** Null before the first answer. */
  state: PollState | null
  /** Bytes written to the output file by then. */
  bytes: number
}

/** As it stands in the file. Files of earlier versions have no `etag`. */
interface KeptPlace {
  /** The search that it belongs to: another one needs another place. */
  query: string
  ingestedAfter: string | null
  ids: string[]
  etag?: string | null
  bytes: number
}

/** The place kept in a file; a new one when there is none. */
export async function readPlace(file: string, query: string): Promise<Place> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return { state: null, bytes: 0 }
    throw error
  }
  const { query: own, ingestedAfter, ids, etag = null, bytes }: KeptPlace = JSON.parse(text)
  if (sorted(own) !== query) {
    throw new Error(`${file} is the place of another question (${own}); name another file for this one.`)
  }
  return { state: { query, ingested_after: ingestedAfter, ids, etag }, bytes }
}

/**
 * Keeps the place: written beside, synced, then renamed, so that a crash leaves the old or the new.
 */
export async function keepPlace(file: string, { state, bytes }: { state: PollState; bytes: number }): Promise<void> {
  const { query, ingested_after: ingestedAfter, ids, etag } = state
  const kept: KeptPlace = { query, ingestedAfter, ids, etag, bytes }
  const draft = `${file}.new`
  const handle = await open(draft, 'w')
  try {
    await handle.writeFile(`${JSON.stringify(kept)}\n`)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(draft, file)
}

/** A query with its parameters in order: earlier versions kept them as they were typed. */
export function sorted(query: string): string {
  const parameters = new URLSearchParams(query)
  parameters.sort()
  return parameters.toString()
}
