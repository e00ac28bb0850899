import { counter, histogram } from '../../shared/metrics/registry.ts'

/** `outcome`: indexed, known, refused:…, retry:…, failed:… */
export const pagesNormalised = counter('pages_normalised_total', 'Stored pages, by what became of them.', ['outcome'])
export const wallsMet = counter('walls_total', 'Pages on which something else stood in the article’s place, by kind.', [
  'kind',
])
export const composeSeconds = histogram(
  'compose_seconds',
  'Time that one page kept a thread.',
  [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 20],
)
export const batchArticles = histogram(
  'index_batch_articles',
  'Articles indexed by one transaction.',
  [1, 2, 5, 10, 20, 50],
)
export const batchSeconds = histogram(
  'index_batch_seconds',
  'Time of one such transaction.',
  [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5],
)
