import { setTimeout } from 'node:timers/promises'
import {
  type ArticleQuery,
  NO_FILTERS,
  type Position,
  type SearchIndex,
  type SearchPage,
} from '#search/index'

export const EVERYTHING: ArticleQuery = {
  match: { kind: 'all' },
  searchIn: 'title',
  ...NO_FILTERS,
  reach: {
    historyStart: new Date('1900-01-01T00:00:00Z'),
    publishedAfter: null,
    publishedBefore: null,
  },
  sort: 'published_at',
  order: 'desc',
  perPage: 100,
}

export interface Follower {
  seen: Set<string>
  /** Times told at each poll, ascending within it. */
  disorder: string[]
  /** From the latest time seen, oldest first, until there are no more pages. */
  poll(): Promise<void>
}

/** Who polls as the contract says ("Polling for new articles"), and holds its place meanwhile. */
export function createFollower(index: SearchIndex): Follower {
  const seen = new Set<string>()
  const disorder: string[] = []
  let latest: Date | null = null
  return {
    seen,
    disorder,
    async poll() {
      const query: ArticleQuery = {
        ...EVERYTHING,
        sort: 'ingested_at',
        order: 'asc',
        perPage: 20,
        ingestedAfter: latest,
      }
      let position: Position | null = null
      do {
        const page: SearchPage = await index.search(query, position)
        for (const { id, ingestedAt } of page.rows) {
          seen.add(id)
          if (ingestedAt === null) disorder.push(`${id} has no time`)
          else if (latest !== null && ingestedAt < latest)
            disorder.push(`${id} comes after a later one`)
          else latest = ingestedAt
        }
        position = page.next
      } while (position !== null)
    },
  }
}

export interface Poller {
  seen: Set<string>
  disorder: string[]
  finish(): Promise<void>
}

/** Polls again and again. `finish` polls once more and stops. */
export function startPoller(index: SearchIndex): Poller {
  const { seen, disorder, poll } = createFollower(index)
  let last = false
  const running = (async () => {
    while (!last) {
      await poll()
      await setTimeout(5)
    }
    await poll()
  })()
  return {
    seen,
    disorder,
    async finish() {
      last = true
      await running
    },
  }
}
