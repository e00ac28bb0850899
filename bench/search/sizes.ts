import pg from 'pg'

/** Tables by what they are for; a partitioned one with its partitions. */
const PARTS = {
  texts: ['article_texts'],
  words: ['article_words'],
  segments: ['segments', 'segment_buckets'],
  articles: ['articles', 'article_ids', 'article_addresses'],
  promises: ['embeddings'],
}

/** What an archive takes on disk, in MB with all indexes: as a whole, and what for. */
export async function measureSizes(url: string): Promise<Record<string, number>> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    const { rows } = await client.query<{ mb: number }>(
      'select (pg_database_size(current_database()) / 1e6)::float8 as mb',
    )
    const figures: Record<string, number> = { disk_mb: Math.round(rows[0]!.mb) }
    for (const [part, tables] of Object.entries(PARTS)) {
      const { rows: sizes } = await client.query<{ mb: number }>(
        `select (sum(pg_total_relation_size(c.oid)) / 1e6)::float8 as mb
         from pg_class c
         left join pg_inherits i on i.inhrelid = c.oid
         left join pg_class parent on parent.oid = i.inhparent
         where c.relkind = 'r' and (c.relname = any ($1) or parent.relname = any ($1))`,
        [tables],
      )
      figures[`disk_${part}_mb`] = Math.round(sizes[0]!.mb)
    }
    return figures
  } finally {
    await client.end()
  }
}
