import { type ArchiveClearing, openArchiveClearing } from '#search/archive/writer'
import { archiveSettingsOf } from '#shared/config/archive'
import type { Config } from '#shared/config/config'
import { countOf, type Pool } from '#shared/postgres/pool'
import { UsageError } from '#shared/process/command'
import { openVectorStore } from '#shared/vectors/qdrant-store'
import { readCollections } from '#shared/vectors/registry'

/**
 * A store beside Postgres, from which articles are cleared by their numbers. `end` is called once,
 * when all are cleared.
 */
export type ClearStore = ArchiveClearing

/** Opens a store; null: nothing was ever put into it. */
type Open = (pool: Pool, config: Config) => Promise<ClearStore | null>

/** Opens the vectors in Qdrant. */
export const openVectors: Open = async (pool, config) => {
  const names = (await readCollections(pool)).map(({ name }) => name)
  if (names.length === 0) return null
  if (config.QDRANT_URL === '') throw new UsageError('Set QDRANT_URL: vectors are to go.')
  const vectors = openVectorStore(config)
  return {
    async clear(seqs) {
      for (const name of names) await vectors.remove(name, seqs)
    },
    async end() {},
    async count(seq) {
      const found = await Promise.all(
        names.map(async name => ((await vectors.count(name)) ? vectors.read(name, [seq]) : [])),
      )
      return found.flat().length
    },
  }
}

/** The stores that may have something of an article, by what they have. */
export const STORES: Record<string, Open> = {
  'vectors (Qdrant)': openVectors,
  async 'archive index (OpenSearch)'(pool, config) {
    if ((await countOf(pool, 'select count(*)::int from archive_indices')) === 0) return null
    const settings = archiveSettingsOf(config)
    if (settings === null)
      throw new UsageError('Set OPENSEARCH_URL: documents of the archive index are to go.')
    return openArchiveClearing(pool, settings)
  },
}

/**
 * Opens all stores that may have something of an article.
 *
 * @throws UsageError when the address of one is not set
 */
export async function openStores(pool: Pool, config: Config): Promise<ClearStore[]> {
  const stores = await Promise.all(Object.values(STORES).map(open => open(pool, config)))
  return stores.filter(store => store !== null)
}
