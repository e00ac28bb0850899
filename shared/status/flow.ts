import { type IndexState, readIndexState } from '../../search/indexer.ts'
import type { Pool } from '../postgres/pool.ts'
import { type Looks, readLooks } from './looks.ts'

/**
 * The open work between the services. It is read from indexes that hold open work alone, so the
 * number of articles does not matter.
 */
export interface Flow {
  /** Lines that `export` would write. */
  articles: number
  embedded: number
  embeddings: {
    /** Delayed: the time of their embedding has not come yet. */
    promised: number
    due: number
    /** In quarantine: `npm run queues -- list`. */
    failed: number
    /** Seconds that the longest due has been due. */
    oldest: number
  }
  pages: {
    /** To be fetched, now or later. */
    waiting: number
    /** Of these, due now: they wait for the pace of their hosts. */
    due: number
    /** Fetched, to be normalised. */
    stored: number
    failed: number
    /** Seconds since the oldest stored page was fetched. */
    oldest: number
  }
  /** Looks at pages whose articles are there. */
  looks: Looks
  /** Segments of the index: how many are stored, and the articles that have none yet. */
  index: IndexState
  /** When an article last became visible. */
  newest: Date | null
}

// `last_seq` counts articles, `shown_seq` those that searches show: numbers are drawn in the
// transaction that inserts them, and none is ever removed. Every article has its row in
// `embeddings`, except the few that an operator gave up (`queues -- drain quarantine`); those
// without a vector are in its partial indexes. Indexes: pages_waiting, pages_stored, pages_failed,
// embeddings_due, embeddings_failed.
const READ = `
  with articles as (
    select shown_seq as shown, last_seq as known, case when last_seq > 0 then last_at end as newest from ingest_clock
  ), open as (
    select count(*) as all, count(*) filter (where due_at <= now()) as due,
           extract(epoch from now() - min(due_at)) as oldest
      from embeddings where embedded_at is null and failed_at is null
  )
  select shown as articles, newest,
         greatest(0, known - open.all - embeddings_failed) as embedded,
         open.all - open.due as promised, open.due, greatest(0, open.oldest)::float8 as embed_oldest, embeddings_failed,
         waiting, waiting_due, (select count(*) from pages where state = 'stored') as stored, greatest(0, normalise_oldest)::float8 as normalise_oldest,
         (select count(*) from pages where state = 'failed') as pages_failed
    from articles, open,
         (select count(*) as embeddings_failed from embeddings where failed_at is not null) f,
         (select count(*) as waiting, count(*) filter (where next_try_at <= now()) as waiting_due
            from pages where state = 'waiting') w,
         (select extract(epoch from now() - min(fetched_at)) as normalise_oldest
            from page_sources
           where page_no in (select page_no from pages where state = 'stored' order by next_try_at limit 2000)) s`

export async function readFlow(db: Pick<Pool, 'query'>): Promise<Flow> {
  const [{ rows }, index, looks] = await Promise.all([
    db.query<Row>({ name: 'status-flow', text: READ }),
    readIndexState(db),
    readLooks(db),
  ])
  const row = rows[0]!
  return {
    articles: Number(row.articles),
    embedded: Number(row.embedded),
    embeddings: {
      promised: Number(row.promised),
      due: Number(row.due),
      failed: Number(row.embeddings_failed),
      oldest: row.embed_oldest ?? 0,
    },
    pages: {
      waiting: Number(row.waiting),
      due: Number(row.waiting_due),
      stored: Number(row.stored),
      failed: Number(row.pages_failed),
      oldest: row.normalise_oldest ?? 0,
    },
    looks,
    index,
    newest: row.newest,
  }
}

interface Row {
  articles: bigint
  newest: Date | null
  embedded: bigint
  promised: bigint
  due: bigint
  embed_oldest: number | null
  embeddings_failed: bigint
  waiting: bigint
  waiting_due: bigint
  stored: bigint
  normalise_oldest: number | null
  pages_failed: bigint
}
