import { QdrantClient } from '@qdrant/js-client-rest'
import type { Config } from '../../../shared/config/config.ts'
import type { Pool } from '../../../shared/postgres/pool.ts'

const BATCH = 1_000

/**
 * Points of the collection that serves, counted by the number of their article; null when there is
 * none.
 */
export async function readPoints(
  { QDRANT_URL: url, QDRANT_API_KEY: apiKey }: Pick<Config, 'QDRANT_URL' | 'QDRANT_API_KEY'>,
  pool: Pool,
): Promise<ReadonlyMap<bigint, number> | null> {
  const { rows } = await pool.query<{ name: string }>("select name from vector_collections where state = 'serving'")
  const name = rows[0]?.name
  if (!name) return null
  const client = new QdrantClient({ url, apiKey, checkCompatibility: false })
  const counts = new Map<bigint, number>()
  let offset: string | number | undefined
  do {
    const { points, next_page_offset } = await client.scroll(name, {
      limit: BATCH,
      with_payload: false,
      with_vector: false,
      ...(offset !== undefined && { offset }),
    })
    for (const { id } of points) {
      const seq = BigInt(id)
      counts.set(seq, (counts.get(seq) ?? 0) + 1)
    }
    offset = typeof next_page_offset === 'string' || typeof next_page_offset === 'number' ? next_page_offset : undefined
  } while (offset !== undefined)
  return counts
}
