import pg from 'pg'
import { serveSegments } from '../indexer.ts'

/** A pool as the engine wants it: the loss of an idle connection ends no process. */
export function openPool(url: string): pg.Pool {
  const pool = new pg.Pool({ connectionString: url, max: 4 })
  return pool.on('error', error => console.error(error.message))
}

// The engine also runs this module in a thread, to make segments.
serveSegments(openPool)
