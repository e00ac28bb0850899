import type { NewArticle } from '#search/types'
import { type Counter, counter, type Histogram, histogram, LAG_BUCKETS } from '#shared/metrics'

/** `outcome`: indexed, known, refused:…, retry:…, failed:… */
export const pagesNormalised: Counter<'outcome'> = counter(
  'pages_normalised_total',
  'Stored pages, by what became of them.',
  ['outcome'],
)
export const composeSeconds: Histogram = histogram(
  'compose_seconds',
  'Time that one page kept a thread.',
  [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 20],
)
export const batchSeconds: Histogram = histogram(
  'index_batch_seconds',
  'Time of one such transaction.',
  [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5],
)
const articlesIndexed = counter(
  'articles_indexed_total',
  'Articles that have become visible to searches.',
  ['country', 'language'],
)
const indexLag = histogram(
  'index_lag_seconds',
  'Time from the publication of an article to its indexing.',
  LAG_BUCKETS,
)

/** ms. An older article is of the past of its outlet, and says nothing of the way of new ones. */
const LATEST = 7 * 86_400_000

/**
 * Counts an article that has just become visible. An article without a time of publication has no
 * lag.
 */
export function observeArticle({ country, language, publishedAt }: NewArticle): void {
  articlesIndexed.inc({ country, language })
  const lag = publishedAt === null ? LATEST : Date.now() - publishedAt.getTime()
  if (lag < LATEST) indexLag.observe({}, Math.max(0, lag / 1_000))
}

/** `word`: `gone`, `refused`, `stands` or `nothing`; `deed`: `none`, `bounded` or `removed`. */
export const looksJudged: Counter<'word' | 'deed'> = counter(
  'second_looks_judged_total',
  'Answers of pages that were asked for again, by what they say of the article and what was done.',
  ['word', 'deed'],
)
