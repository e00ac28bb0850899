import type { Queryable } from '../../../shared/postgres/pool.ts'
import { readFresh } from './fresh/store.ts'
import { readPrelude } from './prelude.ts'
import { readCatalogue } from './segments/catalogue.ts'
import { shelfOf } from './segments/shelf.ts'

/**
 * Reads what every search needs, the newest first, so that the first clients need not wait for it: the fresh articles, and some
 * 30 MB for each million of the others.
 */
export async function warmSearch(db: Queryable): Promise<void> {
  const { version, wordsVersion, lastSeq } = await readPrelude(db, null, null)
  const { segments, version: seen, covered } = await readCatalogue(db, version)
  await readFresh(db, { covered, last: lastSeq, wordsVersion })
  for (const segment of segments.toReversed()) await shelfOf(db).columns(db, [segment], seen)
}
