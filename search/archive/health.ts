import { numberOf, recordOf } from './answers.ts'
import { type ArchiveSettings, openArchiveClient } from './client.ts'

/** The nodes of OpenSearch, and the copies of the shards of the archive's indices. */
export interface ArchiveHealth {
  nodes: number
  /** Copies that answer, the first of each shard included. */
  active: number
  /**
   * Copies that no node has. A node that was lost leaves them, until another one has taken them.
   */
  unassigned: number
}

/** ms. Another node is asked when one does not answer soon. */
const WITHIN = 3_000
const EACH = 1_000

/**
 * Asks OpenSearch how it is.
 *
 * @throws ArchiveFailure
 */
export async function readArchiveHealth(settings: ArchiveSettings): Promise<ArchiveHealth> {
  const client = openArchiveClient(settings)
  try {
    const path = `/_cluster/health/${settings.prefix}-*?expand_wildcards=all`
    const answer = recordOf(await client.send({ method: 'GET', path, within: WITHIN, each: EACH }))
    return {
      nodes: numberOf(answer.number_of_nodes),
      active: numberOf(answer.active_shards),
      unassigned: numberOf(answer.unassigned_shards),
    }
  } finally {
    await client.close()
  }
}
