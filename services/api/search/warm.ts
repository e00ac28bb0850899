import type { Queryable } from '../../../shared/postgres/pool.ts'
import { readPrelude } from './prelude.ts'
import { readCatalogue } from './segments/catalogue.ts'
import { shelfOf } from './segments/shelf.ts'

/**
 * Reads what every search of the older articles needs, the newest first, so that the first clients need not wait for it.
 * Some 30 MB for each million articles.
 */
export async function warmSearch(db: Queryable): Promise<void> {
  const { version } = await readPrelude(db, null, null)
  const { segments, version: seen } = await readCatalogue(db, version)
  for (const segment of segments.toReversed()) await shelfOf(db).columns(db, [segment], seen)
}
