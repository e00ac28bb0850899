import type { Pool } from '../../shared/postgres/pool.ts'
import { readFlow } from '../../shared/status/flow.ts'

/** The state of the work at a moment. */
export interface Sample {
  /** Of the simulated week. */
  hour: number
  published: number
  articles: number
  /** Pages that could be fetched now. */
  due: number
  /** Pages that were fetched and are to be normalised. */
  stored: number
}

export async function takeSample(pool: Pool, hour: number, published: number): Promise<Sample> {
  const { articles, pages } = await readFlow(pool)
  return { hour, published, articles: Number(articles), due: Number(pages.due), stored: Number(pages.stored) }
}
