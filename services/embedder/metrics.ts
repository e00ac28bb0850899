import { counter, histogram, LAG_BUCKETS } from '../../shared/log/registry.ts'

const articlesEmbedded = counter('articles_embedded_total', 'Articles whose vector is stored, and noted in Postgres.')
/** `outcome`: again, quarantined */
export const articlesRefused = counter(
  'articles_refused_total',
  'Articles that the model or the vector store refused.',
  ['outcome'],
)
export const outages = counter(
  'embed_outages_total',
  'Batches given back because the model or the vector store did not answer.',
)
const overdue = histogram(
  'embed_overdue_seconds',
  'Time from the moment at which the embedding of an article was due until it was done.',
  [1, 2, 5, 10, 30, 60, 300, 900, 3_600, 14_400, 86_400],
)
const vectorLag = histogram(
  'vector_lag_seconds',
  'Time from the indexing of an article to its vector, EMBED_DELAY included.',
  LAG_BUCKETS,
)

/** Counts an article whose vector is stored. Times in ms since 1970. */
export function observeArticle({ dueAt, ingestedAt }: { dueAt: number; ingestedAt: number | null }): void {
  articlesEmbedded.inc()
  overdue.observe(Math.max(0, (Date.now() - dueAt) / 1_000))
  if (ingestedAt !== null) vectorLag.observe(Math.max(0, (Date.now() - ingestedAt) / 1_000))
}
