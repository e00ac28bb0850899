import { raiseWordsVersion } from '#search/indexer'
import { leaveGroups } from '#shared/copies/pass'
import { type Client, columnsOf, readColumn } from '#shared/postgres/pool'

/** An article with the bounds that its rights set. */
export interface Bound {
  seq: bigint
  id: string
  pageNo: bigint | null
  snippet: string | null
  /** Whether the outlet bounds the snippet. Such a snippet must not be made again later. */
  isBounded: boolean
  hasVector: boolean
}

// $1 seqs, $2 ids. Index: the primary key.
const THERE = `
  select seq from articles join unnest($1::bigint[], $2::text[]) as n (seq, id) using (seq, id)
   where not exists (select from tombstones t where t.seq = articles.seq)`

/**
 * Records bounds of visible articles, and changes the articles accordingly. An earlier bound is
 * never undone. After a failover, another article may have the number of one; that one stays.
 * So does one that was taken out.
 *
 * @returns those that were bounded
 */
export async function boundArticles(client: Client, wanted: Bound[]): Promise<Bound[]> {
  const there = new Set(await readColumn<bigint>(client, THERE, columnsOf(wanted, 'seq', 'id')))
  const bounds = wanted.filter(({ seq }) => there.has(seq))
  await client.query(
    `insert into article_rights as r (id, snippet, vector, page_no, article_seq)
     select * from unnest($1::text[], $2::boolean[], $3::boolean[], $4::bigint[], $5::bigint[]) order by 1
     on conflict (id) do update set article_seq = excluded.article_seq, snippet = r.snippet or excluded.snippet, vector = r.vector and excluded.vector`,
    columnsOf(bounds, 'id', 'isBounded', 'hasVector', 'pageNo', 'seq'),
  )
  const shortened = bounds.filter(({ isBounded }) => isBounded)
  // Indexes: the primary keys.
  const { rowCount } = await client.query(
    `update article_texts t set snippet = n.snippet from unnest($1::bigint[], $2::text[]) as n (seq, snippet)
      where t.seq = n.seq and t.snippet is distinct from n.snippet`,
    columnsOf(shortened, 'seq', 'snippet'),
  )
  const silent = bounds.filter(({ hasVector }) => !hasVector)
  const seqs = silent.map(({ seq }) => seq)
  await client.query('delete from embeddings where seq = any ($1::bigint[])', [seqs])
  await leaveGroups(client, seqs)
  // This comes last, because processes that store segments wait for its row until the commit.
  if (rowCount !== 0) await raiseWordsVersion(client)
  return bounds
}
