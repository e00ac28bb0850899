import type { Pool } from '../../shared/postgres/pool.ts'
import type { QueueCounts, Queues } from '../../shared/queues/queues.ts'

/** The state of the whole system, in the words of `npm run status -- --json`. */
export interface Status {
  /** Lines that `export` would write. */
  articles: number
  embedded: number
  embeddings: {
    /** Promised for an hour that has not come yet. */
    promised: number
    due: number
    /** In quarantine: `npm run queues -- list`. */
    failed: number
  }
  /** `waiting` holds pages to be fetched, tried again or normalised; `refused` those never to be indexed. */
  pages: { waiting: number; done: number; refused: number; failed: number }
  /** Why pages were refused or failed. */
  reasons: Record<string, number>
  queues: Record<string, QueueCounts>
  outlets: { healthy: number; silent: number; failing: number }
  newest: { ingested_at: string | null; published_at: string | null }
}

/** Reads the state from Postgres and the queues' store. */
export async function readStatus(pool: Pool, queues: Queues, outlets: Status['outlets']): Promise<Status> {
  const [articles, embeddings, pages, reasons, newest, counts] = await Promise.all([
    pool.query<{ n: number }>('select count(*)::int as n from articles'),
    pool.query<{ embedded: number; promised: number; due: number; failed: number }>(
      `select count(*) filter (where embedded_at is not null)::int as embedded,
              count(*) filter (where embedded_at is null and failed_at is null and due_at > now())::int as promised,
              count(*) filter (where embedded_at is null and failed_at is null and due_at <= now())::int as due,
              count(*) filter (where failed_at is not null)::int as failed
         from embeddings`,
    ),
    pool.query<Status['pages']>(
      `select count(*) filter (where state in ('waiting', 'stored'))::int as waiting,
              count(*) filter (where state = 'done')::int as done,
              count(*) filter (where state = 'refused')::int as refused,
              count(*) filter (where state = 'failed')::int as failed
         from pages`,
    ),
    pool.query<{ reason: string; n: number }>(
      `select coalesce(reason, 'unknown') as reason, count(*)::int as n
         from pages where state in ('refused', 'failed') group by 1 order by 2 desc, 1 limit 20`,
    ),
    pool.query<{ ingested_at: Date | null; published_at: Date | null }>(
      'select max(ingested_at) as ingested_at, max(published_at) as published_at from articles',
    ),
    queues.counts(),
  ])
  const { embedded = 0, promised = 0, due = 0, failed = 0 } = embeddings.rows[0] ?? {}
  const latest = newest.rows[0]
  return {
    articles: articles.rows[0]?.n ?? 0,
    embedded,
    embeddings: { promised, due, failed },
    pages: pages.rows[0] ?? { waiting: 0, done: 0, refused: 0, failed: 0 },
    reasons: Object.fromEntries(reasons.rows.map(({ reason, n }) => [reason, n])),
    // What is promised for a later hour is delayed work of the embedder, wherever it waits.
    queues: { ...counts, embed: { ...counts.embed, delayed: counts.embed.delayed + promised } },
    outlets,
    newest: {
      ingested_at: latest?.ingested_at?.toISOString() ?? null,
      published_at: latest?.published_at?.toISOString() ?? null,
    },
  }
}

/** The same for people: one short table. */
export function statusTable(status: Status): string {
  const number = (n: number) => n.toLocaleString('en')
  const rows: [string, string][] = [
    ['articles', `${number(status.articles)}, newest indexed ${status.newest.ingested_at ?? 'never'}`],
    [
      'embedded',
      `${number(status.embedded)}, promised ${number(status.embeddings.promised)}, due ${number(status.embeddings.due)}, failed ${number(status.embeddings.failed)}`,
    ],
    [
      'pages',
      `waiting ${number(status.pages.waiting)}, done ${number(status.pages.done)}, refused ${number(status.pages.refused)}, failed ${number(status.pages.failed)}`,
    ],
    ...Object.entries(status.reasons).map(([reason, n]): [string, string] => [`  ${reason}`, number(n)]),
    ...Object.entries(status.queues).map(([name, { waiting, active, delayed, failed }]): [string, string] => [
      `queue ${name}`,
      `waiting ${number(waiting)}, active ${number(active)}, delayed ${number(delayed)}, failed ${number(failed)}`,
    ]),
    [
      'outlets',
      `healthy ${status.outlets.healthy}, silent ${status.outlets.silent}, failing ${status.outlets.failing}`,
    ],
  ]
  const width = Math.max(...rows.map(([name]) => name.length))
  return rows.map(([name, text]) => `${name.padEnd(width)}  ${text}`).join('\n')
}
