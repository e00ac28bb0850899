import { QdrantClient } from '@qdrant/js-client-rest'
import { install } from 'undici'
import { type Config, readConfig } from '#shared/config/config'
import { withEmbeddedKeys } from '#shared/config/embedded'
import type { Pool } from '#shared/postgres/pool'
import { runScript } from '#test/fleet'
import { jsonLines } from '#test/script'

/** A line of `npm run export`, as far as the verdict looks at it. */
export interface Exported {
  id: string
  url: string
  title: string
  country: string
  language: string
  published_at: string | null
  ingested_at: string | null
}

/** The articles, embeddings and vectors that the system holds. */
export interface Holdings {
  exported: Exported[]
  /** Every article in the order of its number. */
  order: { seq: bigint; id: string; ingested_at: Date | null }[]
  embeddings: {
    seq: bigint
    due_at: Date
    embedded_at: Date | null
    failed_at: Date | null
    error: string | null
  }[]
  /** Points in Qdrant by the number of their article; null: Qdrant has no collection. */
  points: ReadonlyMap<bigint, number> | null
  status: Status
}

/** `npm run status -- --json`. */
export interface Status {
  articles: number
  embedded: number
  pages: { waiting: number; done: number; refused: number; failed: number }
  queues: Record<string, { waiting: number; active: number }>
}

export async function readHoldings(env: NodeJS.ProcessEnv, pool: Pool): Promise<Holdings> {
  const status: Status = JSON.parse(await runScript(env, 'status', '--json'))
  const order = await pool.query<Holdings['order'][number]>(
    'select seq, id, ingested_at from articles order by seq',
  )
  const embeddings = await pool.query<Holdings['embeddings'][number]>(
    'select seq, due_at, embedded_at, failed_at, error from embeddings order by seq',
  )
  return {
    exported: jsonLines(await runScript(env, 'export')),
    order: order.rows,
    embeddings: embeddings.rows,
    points: await readPoints(readConfig(withEmbeddedKeys(env)), pool),
    status,
  }
}

const BATCH = 1_000

/**
 * Points of the collection that serves, counted by the number of their article; null when there is
 * none.
 */
async function readPoints(
  { QDRANT_URL: url, QDRANT_API_KEY: apiKey }: Pick<Config, 'QDRANT_URL' | 'QDRANT_API_KEY'>,
  pool: Pool,
): Promise<ReadonlyMap<bigint, number> | null> {
  const { rows } = await pool.query<{ name: string }>(
    "select name from vector_collections where state = 'serving'",
  )
  const name = rows[0]?.name
  if (!name) return null
  // Its client calls the global `fetch`, and Node's own does not know the agents of its undici.
  install()
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
    offset =
      typeof next_page_offset === 'string' || typeof next_page_offset === 'number'
        ? next_page_offset
        : undefined
  } while (offset !== undefined)
  return counts
}
