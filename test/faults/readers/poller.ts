import { setTimeout as sleep } from 'node:timers/promises'
import type { Findings } from '#test/faults/findings'
import type { Random } from '#test/faults/random'
import type { Client, Page } from './client.ts'

/** A client that follows the polling contract to the letter, and remembers what it was given. */
export interface Poller {
  name: string
  seen: Map<
    string,
    {
      id: string
      title: string
      url: string
      published_at: string | null
      ingested_at: string | null
    }
  >
  /** Polls until it is told to stop. */
  run(): Promise<void>
  stop(): void
}

export interface PollerOptions {
  name: string
  client: Client
  apis: number
  random: Random
  findings: Findings
  /** Whether it keeps its place after every page, or only after a whole poll. */
  keepsPlace: 'page' | 'poll'
  filter?: Record<string, string>
}

const PAUSE_MS = 1_000

export function createPoller(options: PollerOptions): Poller {
  const { name, client, random, findings } = options
  const seen = new Map<string, Page['articles'][number]>()
  let stopping = false
  /** The latest `ingested_at` processed, as the contract has it. */
  let latest: string | null = null
  /**
   * The latest of the last poll that was read to its end: nothing new may carry it or an earlier
   * one.
   */
  let settled = ''

  function take(page: Page, before: string): string {
    let last = before
    for (const article of page.articles) {
      const at = article.ingested_at ?? ''
      if (at === '') findings.add(`${name} was given ${article.id} without a time of ingestion.`)
      if (at < last)
        findings.add(
          `${name} was given ${article.id} of ${at} after one of ${last}: the order is wrong.`,
        )
      const known = seen.get(article.id)
      if (!known) {
        if (at <= settled)
          findings.add(
            `${article.id} became visible with ${at} after a whole poll had ended at ${settled}: a poller could have missed it.`,
          )
        seen.set(article.id, article)
      } else if (
        known.ingested_at !== at ||
        known.title !== article.title ||
        known.url !== article.url
      )
        findings.add(`${article.id} changed between two polls of ${name}.`)
      last = at
    }
    return last
  }

  /** One poll to its last page; false when it was interrupted. */
  async function poll(): Promise<boolean> {
    const query = new URLSearchParams({
      sort: 'ingested_at',
      order: 'asc',
      per_page: '100',
      ...options.filter,
    })
    if (latest) query.set('ingested_after', latest)
    let last = latest ?? ''
    for (;;) {
      const page = await client.page(Math.floor(random.next() * options.apis), query)
      if (!page) return false
      last = take(page, last)
      if (options.keepsPlace === 'page') latest = last || null
      if (page.next_cursor === null) break
      query.set('cursor', page.next_cursor)
    }
    latest = last || null
    settled = last
    return true
  }

  return {
    name,
    seen,
    async run() {
      while (!stopping) {
        await poll()
        await sleep(PAUSE_MS)
      }
    },
    stop() {
      stopping = true
    },
  }
}
