import { setTimeout as pause } from 'node:timers/promises'
import { snippetOf } from '#search/analysis/text'
import { raiseWordsVersion } from '#search/indexer'
import { openCopyGroups } from '#shared/copies/pass'
import { counted } from '#shared/log/printable'
import { columnsOf, countOf, type Queryable, transaction } from '#shared/postgres/pool'
import { inParts, type Work } from './run.ts'

/** Articles that are read at a time. Their bodies are in memory. */
const SNIPPETS = 200

/**
 * Makes the snippets of the chosen articles again from their bodies, and writes those that differ.
 *
 * @returns whether it is complete
 */
export const reindexSnippets = (work: Work): Promise<boolean> =>
  inParts(work, SNIPPETS, async seqs => {
    const { rows } = await work.pool.query<{
      seq: bigint
      snippet: string | null
      body: string | null
    }>(TEXTS, [seqs])
    const changed = rows
      .map(({ seq, snippet, body }) => ({ seq, before: snippet, snippet: snippetOf(body) }))
      .filter(({ before, snippet }) => before !== snippet)
    if (changed.length === 0) return true
    await transaction(work.pool, async client => {
      await client.query(WRITE, columnsOf(changed, 'seq', 'snippet', 'before'))
      await raiseWordsVersion(client)
    })
    return true
  })

// $1 seqs. Indexes: the primary keys. Snippets that outlets bound stay (decision 41).
const TEXTS = `
  select seq, t.snippet, body from article_texts t join articles a using (seq)
   where seq = any ($1::bigint[])
     and not exists (select from article_rights r where r.id = a.id and r.snippet)`

// Snippets that were withdrawn meanwhile stay away. $1 seqs, $2 their snippets, $3 those before.
// Index: the primary key.
const WRITE = `
  update article_texts t set snippet = n.snippet
    from unnest($1::bigint[], $2::text[], $3::text[]) as n (seq, snippet, before)
   where t.seq = n.seq and t.snippet is not distinct from n.before`

/** Articles that are given to the embedders at a time. */
const VECTORS = 64
/**
 * The command gives more articles to the embedders only while at most this many wait there. New
 * articles must not wait behind all the old ones.
 */
const WAITING = 128
const LOOK_AGAIN = 1_000
/** ms without a new vector after which the command says why it waits. */
const PATIENCE = 30_000

/**
 * Returns the chosen articles to the embedders, a few at a time. Searches find the old vectors
 * until the new ones replace them. If no embedder runs, this waits.
 *
 * @returns whether it is complete
 */
export async function reindexVectors(work: Work): Promise<boolean> {
  const { pool, say, signal } = work
  const done = await inParts(work, VECTORS, async seqs => {
    if (!(await queueIsShort(pool, WAITING, say, signal))) return false
    await pool.query(RESCHEDULE, [seqs])
    return true
  })
  return done && queueIsShort(pool, 0, say, signal)
}

/** Waits until at most `most` articles wait for the embedders; false when interrupted. */
async function queueIsShort(
  db: Queryable,
  most: number,
  say: (sentence: string) => void,
  signal: AbortSignal,
) {
  let lowest = Infinity
  let since = performance.now()
  while (!signal.aborted) {
    const count = await countOf(db, WAITING_NOW, [VECTORS + WAITING + 1])
    if (count <= most) return true
    if (count < lowest) {
      lowest = count
      since = performance.now()
    } else if (performance.now() - since > PATIENCE) {
      say(
        `${counted(count, 'article waits', 'articles wait')} for an embedder; is one running, and does the model answer?`,
      )
      since = performance.now()
    }
    await pause(LOOK_AGAIN, undefined, { signal }).catch(() => {})
  }
  return false
}

// $1 limit. Index: embeddings_due.
const WAITING_NOW = `
  select count(*)::int as count from (
    select from embeddings
    where embedded_at is null and failed_at is null and due_at <= clock_timestamp() limit $1
  ) as waiting`

// $1 seqs. Index: the primary key. An embedding that is not due yet keeps its time.
const RESCHEDULE = `
  update embeddings
  set embedded_at = null, failed_at = null, error = null, attempts = 0, claimed_until = null,
      due_at = case when embedded_at is null then least(due_at, clock_timestamp()) else clock_timestamp() end
  where seq = any ($1::bigint[]) and (embedded_at is not null or failed_at is not null)`

/** Articles whose groups of copies are found again at a time. */
const COPIES = 2_000

/**
 * Finds the groups of copies of the chosen articles again. If the rules are the same, no row
 * changes.
 *
 * @returns whether it is complete
 */
export function reindexCopies(work: Work): Promise<boolean> {
  const groups = openCopyGroups(work.pool)
  return inParts(work, COPIES, seqs => groups.regroup(seqs, work.signal))
}
