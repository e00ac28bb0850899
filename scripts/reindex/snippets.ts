import { snippetOf } from '../../shared/articles/snippet.ts'
import type { Pool } from '../../shared/postgres/pool.ts'
import { noteDone, type RateLimit, type Run } from './run.ts'
import { type Chosen, chosenSeqs } from './selection.ts'
import type { Progress } from './words.ts'

/** Articles that are read at a time; their bodies are in memory. */
const PART = 200

/**
 * Makes the snippets of the chosen articles anew from their bodies, and writes those that differ.
 * Processes of the API show articles that they hold in memory with their old snippets until they
 * restart.
 *
 * @param tell called whenever more is done
 * @returns whether it is complete
 */
export async function reindexSnippets(
  pool: Pool,
  chosen: Chosen,
  run: Run,
  limit: RateLimit,
  tell: (progress: Progress) => void,
  signal: AbortSignal,
): Promise<boolean> {
  let articles = 0
  for (let doneTo = run.doneTo; doneTo < run.last; ) {
    if (signal.aborted) return false
    const seqs = await chosenSeqs(pool, chosen, doneTo, run.last, PART)
    const { rows } = await pool.query<{ seq: bigint; snippet: string | null; body: string | null }>(TEXTS, [seqs])
    const changed = rows
      .map(({ seq, snippet, body }) => ({ seq, before: snippet, snippet: snippetOf(body) }))
      .filter(({ before, snippet }) => before !== snippet)
    await pool.query(WRITE, [changed.map(({ seq }) => seq), changed.map(({ snippet }) => snippet)])
    doneTo = seqs.length < PART ? run.last : seqs.at(-1)!
    await noteDone(pool, chosen.selection, doneTo)
    articles += seqs.length
    tell({ articles, segments: 0 })
    await limit(seqs.length)
  }
  return true
}

// $1 seqs. Indexes: the primary keys. Snippets that outlets bound stay (decision 41).
const TEXTS = `
  select seq, t.snippet, body from article_texts t join articles a using (seq)
   where seq = any ($1::bigint[])
     and not exists (select from article_rights r where r.id = a.id and r.snippet)`

// $1 seqs, $2 their snippets. Index: the primary key.
const WRITE = `
  update article_texts t set snippet = n.snippet
    from unnest($1::bigint[], $2::text[]) as n (seq, snippet)
   where t.seq = n.seq`
