/** The work queues between the services. Messages carry identifiers, never text. */
export interface QueueMessages {
  /**
   * A host to visit. The crawler polls its due feeds and fetches its waiting pages, one polite
   * request after another.
   */
  visit: { host: string }
  /** A stored page to make an article of. */
  normalise: { pageNo: string }
  /** Articles whose time for embedding has come, at most a batch. */
  embed: { seqs: string[] }
}

export type QueueName = keyof QueueMessages
export const QUEUE_NAMES = ['visit', 'normalise', 'embed'] as const satisfies QueueName[]
