import { openArchiveClearing } from '../../search/archive/writer.ts'
import { archiveSettingsOf } from '../config/archive.ts'
import type { Config } from '../config/config.ts'
import { countOf, type Pool } from '../postgres/pool.ts'
import { UsageError } from '../process/command.ts'
import { openVectorStore } from '../vectors/qdrant-store.ts'
import { readCollections } from '../vectors/registry.ts'

/** A store beside Postgres, from which articles are cleared by their numbers. */
export interface ClearStore {
  clear(seqs: bigint[]): Promise<void>
  /** Called once, when all are cleared. */
  end(signal: AbortSignal): Promise<void>
}

/**
 * Opens all stores that may have something of an article.
 *
 * @throws UsageError when the address of one is not set
 */
export async function openStores(pool: Pool, config: Config): Promise<ClearStore[]> {
  const stores: ClearStore[] = []
  const collections = await readCollections(pool)
  if (collections.length > 0) {
    if (config.QDRANT_URL === '') throw new UsageError('Set QDRANT_URL: vectors are to go.')
    const vectors = openVectorStore(config)
    stores.push({
      async clear(seqs) {
        for (const { name } of collections) await vectors.remove(name, seqs)
      },
      async end() {},
    })
  }
  if ((await countOf(pool, 'select count(*)::int from archive_indices')) > 0) {
    const settings = archiveSettingsOf(config)
    if (settings === null)
      throw new UsageError('Set OPENSEARCH_URL: documents of the archive index are to go.')
    stores.push(openArchiveClearing(pool, settings))
  }
  return stores
}
