import { setTimeout as sleep } from 'node:timers/promises'
import type { NewArticle } from '../../search/indexing/article.ts'

/**
 * Articles of one batch. Every process that searches takes in new articles before it answers, so a
 * search may wait for a batch.
 */
const BATCH = 16

/** Hands out articles in small batches, so that at most so many a second are indexed. */
export interface Rate {
  /** Waits before each batch. Ends early when the signal is aborted. */
  batches(articles: NewArticle[]): AsyncIterable<NewArticle[]>
  /** Articles of the latest batch were indexed. Known ones cost searches nothing. */
  note(indexed: number): void
}

/** @param perSecond null: all articles at once, without a wait */
export function createRate(perSecond: number | null, signal: AbortSignal): Rate {
  let due = performance.now()
  return {
    async *batches(articles) {
      const size = perSecond === null ? Math.max(articles.length, 1) : BATCH
      for (let from = 0; from < articles.length; from += size) {
        await sleep(Math.max(0, due - performance.now()), undefined, { signal }).catch(() => {})
        if (signal.aborted) return
        yield articles.slice(from, from + size)
      }
    },
    note(indexed) {
      // A delay is not made up for: batches would follow each other at once.
      if (perSecond !== null) due = Math.max(due, performance.now()) + (indexed / perSecond) * 1_000
    },
  }
}
