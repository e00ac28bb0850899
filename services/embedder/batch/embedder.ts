import type { Logger } from '../../../shared/log/logger.ts'
import type { OutageLog } from '../../../shared/log/outage.ts'
import type { Pool } from '../../../shared/postgres/pool.ts'
import type { VectorStore } from '../../../shared/vectors/store.ts'
import type { EmbeddingCollections } from '../collections/embedding-collections.ts'

export interface Embedder {
  pool: Pool
  vectors: VectorStore
  embeddingCollections: EmbeddingCollections
  log: Logger
  /** Met when the model or the vector store does not answer. */
  outage: OutageLog
}
