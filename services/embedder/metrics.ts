import { counter, histogram } from '../../shared/metrics/registry.ts'

export const articlesEmbedded = counter('articles_embedded_total', 'Articles whose vector is stored and noted.')
/** `outcome`: again, quarantined */
export const articlesRefused = counter('articles_refused_total', 'Articles that model or vector store refused.', [
  'outcome',
])
export const outages = counter('embed_outages_total', 'Batches given back because model or vector store was away.')
export const embedLag = histogram(
  'embed_lag_seconds',
  'Time from the hour at which an article was to be embedded until it was.',
  [1, 2, 5, 10, 30, 60, 300, 900, 3_600, 14_400, 86_400],
)
