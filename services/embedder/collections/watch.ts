import type { Logger } from '../../../shared/log/logger.ts'
import type { Pool } from '../../../shared/postgres/pool.ts'
import { sentenceOf } from '../../../shared/process/command.ts'
import { repeatEvery } from '../../../shared/process/repeat.ts'
import { withTimeLimit } from '../../../shared/resilience/time-limit.ts'
import { readCollections } from '../../../shared/vectors/registry.ts'
import type { VectorStore } from '../../../shared/vectors/store.ts'
import { auditCollection } from './audit.ts'
import type { EmbeddingCollections } from './embedding-collections.ts'
import { dropRetired } from './retired.ts'

const LOOK = 10_000
const AUDIT = 3_600_000
const LAST_WORDS = 2_000

/**
 * Looks after the collections every ten seconds. It removes retired ones, and restores the serving
 * one when the vector store has lost it. Every hour, and soon after the start, it compares the
 * serving collection with Postgres.
 */
export function watchCollections(
  pool: Pool,
  vectors: VectorStore,
  embeddingCollections: EmbeddingCollections,
  log: Logger,
): { close(): Promise<void> } {
  let nextAudit = 0
  let complaint = ''
  let isOpen = false

  async function look(closing: AbortSignal): Promise<void> {
    await dropRetired(pool, vectors, log)
    const serving = (await readCollections(pool)).find(({ state }) => state === 'serving')
    if (!serving) return
    if ((await vectors.count(serving.name)) === null) {
      log.warn({ collection: serving.name }, 'the vector store has lost a collection')
      await embeddingCollections.restore()
    }
    // Warns at the start, not with the first article, of shards that differ from the settings.
    if (!isOpen) await embeddingCollections.current()
    isOpen = true
    if (Date.now() < nextAudit) return
    await auditCollection(pool, vectors, serving, log, closing)
    nextAudit = Date.now() + AUDIT
  }

  const outage = {
    over() {
      complaint = ''
    },
    met(error: unknown) {
      const said = sentenceOf(error)
      if (said !== complaint) log.warn({ err: said }, 'could not check the vector store')
      complaint = said
    },
  }
  const looks = repeatEvery(LOOK, look, { outage })
  return {
    // Does not wait longer for a vector store that hangs.
    close: () => withTimeLimit(looks.close(), LAST_WORDS, () => {}),
  }
}
