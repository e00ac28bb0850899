import type { Pool } from '../../shared/postgres/pool.ts'
import { transaction } from '../../shared/postgres/transaction.ts'
import { indexText } from '../analysis/word-list.ts'

/** Tokenises some articles anew that have no segment yet; searches then read their words again. */
export async function rebuildWords(pool: Pool, seqs: bigint[]): Promise<void> {
  if (seqs.length === 0) return
  const { rows } = await pool.query<{ seq: bigint; title: string; body: string | null }>(READ, [seqs])
  const made = rows.map(row => indexText(row.title, row.body))
  await transaction(pool, async client => {
    const { rowCount } = await client.query(WRITE, [
      rows.map(row => row.seq),
      made.map(words => words.title),
      made.map(words => words.body),
    ])
    if (rowCount !== 0) await client.query('update segments_version set words_version = words_version + 1')
  })
}

// $1 seqs. Index: the primary key.
const READ = 'select seq, title, body from article_texts where seq = any ($1::bigint[]) order by seq'

// $1 seqs, $2 $3 words. Index: the primary key.
const WRITE = `
  update article_words w set title = m.title, body = m.body
  from unnest($1::bigint[], $2::text[], $3::text[]) as m (seq, title, body)
  where w.seq = m.seq and (w.title, w.body) is distinct from (m.title, m.body)`
