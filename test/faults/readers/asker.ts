import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../random.ts'
import { TOPICS } from '../site/article.ts'
import type { Client } from './client.ts'

const PAUSE_MS = 350

/**
 * Sends one API requests of every kind, one after another, until `signal`; the client judges the
 * answers.
 */
export async function askAlways(client: Client, api: number, random: Random, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const q = random.pick(TOPICS)
    // The model has enough to do with articles.
    const semantic = random.chance(0.06)
    const query = random.pick<Record<string, string>>([
      {},
      { q },
      { q, search: 'boolean', search_in: 'title_body' },
      { country: 'BE,LU', has_author: 'true' },
      { outlet: 'baken', sort: 'ingested_at' },
    ])
    if (semantic) await client.page(api, new URLSearchParams({ q: `de kosten van ${q}`, search: 'semantic' }))
    else if (random.chance(0.2)) await client.feed(api, new URLSearchParams(query))
    else await client.page(api, new URLSearchParams(query))
    await sleep(PAUSE_MS)
  }
}
