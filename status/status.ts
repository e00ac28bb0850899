import type { Flow, Machines, OutletHealth, QueueCounts } from '#shared/figures'
import { type BackFillFigures, readBackFills } from '#shared/outlets/back-fills'
import type { Pool } from '#shared/postgres/pool'
import type { QueueName, Queues } from '#shared/queues/queues'
import { usesRedis } from '#shared/queues/redis'
import { readFlow } from './flow.ts'
import { type Gaps, outletCounts, outletHealth, readGaps } from './health.ts'
import { type MachineSettings, readMachines } from './machines.ts'

/** The state of the whole system, in the form that `npm run status -- --json` prints. */
export interface Status {
  /** The number of articles. `npm run export` would write as many lines. */
  articles: number
  embedded: number
  embeddings: Omit<Flow['embeddings'], 'oldest'>
  /**
   * `waiting`: pages to fetch, to try again or to normalise. `refused`: pages that never become
   * articles.
   */
  pages: { waiting: number; done: number; refused: number; failed: number; resting: number }
  feeds: Flow['feeds']
  /** How many pages were refused or failed, by reason. */
  reasons: Record<string, number>
  /** null: the store of the queues does not answer. */
  queues: Record<string, QueueCounts> | null
  /** Articles that were taken out and wait to be cleared. */
  removals: Omit<Flow['removals'], 'oldest'>
  /** Pages of visible articles that were asked for again in the last day. */
  looks: Omit<Flow['looks'], 'oldest'>
  /** What outlets had before they were added, by domain. */
  back: BackFillFigures[]
  index: Flow['index']
  outlets: Record<OutletHealth['health'], number>
  /** Feeds that rolled on between two polls in the last seven days. */
  gaps: Omit<Gaps, 'latest'> & { latest: string | null }
  newest: { ingested_at: string | null; published_at: string | null }
  machines: Machines
}

/**
 * Reads the state from Postgres and the store of the queues. Counts every row, which takes long
 * with millions of rows.
 */
export async function readStatus(
  pool: Pool,
  queues: Pick<Queues, 'counts'>,
  config: MachineSettings,
): Promise<Status> {
  const [flow, embedded, pages, reasons, newest, counts, outlets, gaps, machines, back] =
    await Promise.all([
      readFlow(pool),
      pool.query<{ n: number }>(
        'select count(*)::int as n from embeddings where embedded_at is not null',
      ),
      pool.query<{ done: number; refused: number }>(
        `select count(*) filter (where state = 'done')::int as done, count(*) filter (where state = 'refused')::int as refused
         from pages`,
      ),
      pool.query<{ reason: string; n: number }>(
        `select coalesce(reason, 'unknown') as reason, count(*)::int as n
         from pages where state in ('refused', 'failed') group by 1 order by 2 desc, 1 limit 20`,
      ),
      pool.query<{ ingested_at: Date | null; published_at: Date | null }>(
        'select max(ingested_at) as ingested_at, max(published_at) as published_at from articles',
      ),
      usesRedis(config) ? queues.counts().catch(() => null) : queues.counts(),
      outletHealth(pool),
      readGaps(pool),
      readMachines(pool, config),
      readBackFills(pool),
    ])
  const { oldest: _, ...embeddings } = flow.embeddings
  const { waiting, stored } = flow.pages
  const { done = 0, refused = 0 } = pages.rows[0] ?? {}
  const latest = newest.rows[0]
  return {
    articles: flow.articles,
    embedded: embedded.rows[0]?.n ?? 0,
    embeddings,
    pages: {
      waiting: waiting + stored,
      done,
      refused,
      failed: flow.pages.failed,
      resting: flow.pages.resting,
    },
    feeds: flow.feeds,
    reasons: Object.fromEntries(reasons.rows.map(({ reason, n }) => [reason, n])),
    queues: counts && withDelayed(counts, embeddings.promised),
    removals: { waiting: flow.removals.waiting },
    looks: { asked: flow.looks.asked, waiting: flow.looks.waiting },
    back,
    index: flow.index,
    outlets: outletCounts(outlets),
    gaps: { ...gaps, latest: gaps.latest?.toISOString() ?? null },
    newest: {
      ingested_at: latest?.ingested_at?.toISOString() ?? null,
      published_at: latest?.published_at?.toISOString() ?? null,
    },
    machines,
  }
}

/**
 * Counts promised embeddings as delayed messages of the queue `embed`. They wait in Postgres, even
 * when the queues are in Redis.
 */
export const withDelayed = (
  counts: Record<QueueName, QueueCounts>,
  promised: number,
): Record<QueueName, QueueCounts> => ({
  ...counts,
  embed: { ...counts.embed, delayed: counts.embed.delayed + promised },
})
