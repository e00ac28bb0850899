import { lineOf } from '#services/api/citations/citation'
import { bareLineOf, readBareLines, SAID, type Said } from '#shared/desk/cited-removals'
import type { Queryable } from '#shared/postgres/pool'

interface CitedArticle extends Said {
  id: string
  ingested_at: Date | null
  published_at: Date | null
}

// $1 seqs. Indexes: the primary keys, tombstones_seq_key.
const ARTICLES = `
  select case when t.seq is not null then a.id end as id, exists (select from tombstones o where o.seq = wanted.seq) as "isGone",
         a.ingested_at, a.published_at, ${SAID}
    from unnest($1::bigint[]) with ordinality as wanted (seq, at)
    left join articles a using (seq) left join article_texts t using (seq) left join publishers p using (publisher_no)
   order by at`

/**
 * The lines of articles as citations have them, in the order of `seqs`. '': there is no such
 * article. null: an operator took it out, and its line is lost.
 */
export async function readLines(db: Queryable, seqs: bigint[]): Promise<(string | null)[]> {
  const { rows } = await db.query<CitedArticle | { id: null; isGone: boolean }>(ARTICLES, [seqs])
  const bare = await readBareLines(db, seqs)
  return rows.map((article, at) => {
    if (article.id !== null)
      return lineOf({
        ...article,
        ingested_at: article.ingested_at?.toISOString() ?? null,
        published_at: article.published_at?.toISOString() ?? null,
      })
    const line = bare.get(seqs[at]!)
    if (line !== undefined) return bareLineOf(line)
    return article.isGone ? null : ''
  })
}
