import type { SegmentSource } from '../segment/builder.ts'
import { type DocIdSet, passing, rangeSet } from '../segment/doc-id-set.ts'
import { filterTerms } from '../terms.ts'
import type { DocReader } from './collectors/collector.ts'

/** Articles that a collector takes in at a time. */
const MOST = 65_536

/** A collector that looks at values alone, and not at where a document is. */
interface ValueCollector {
  collect(matches: DocIdSet, values: DocReader): void
}

/** Hands some articles to a collector, as if they were the matches of segments. */
export function collectArticles(articles: SegmentSource[], collector: ValueCollector): void {
  for (let from = 0; from < articles.length; from += MOST) {
    const part = articles.slice(from, from + MOST)
    collector.collect(rangeSet(0, part.length, part.length), readerOf(part))
  }
}

function readerOf(articles: SegmentSource[]): DocReader {
  const size = articles.length
  const terms = articles.map(article => new Set(filterTerms(article)))
  return {
    published: Float64Array.from(articles, article => article.published ?? Number.NaN),
    ingested: Float64Array.from(articles, article => article.ingested ?? Number.NaN),
    dated: null,
    outlets: null,
    values: {
      publisherNo: doc => articles[doc]!.publisherNo,
      eachAuthor(doc, visit) {
        for (const no of articles[doc]!.authorNos) visit(no)
      },
    },
    list: term => passing(rangeSet(0, size, size), doc => terms[doc]!.has(term)),
  }
}
