/** The result that the pipeline should produce from the sample outlets, for tests. */

import { type Country, SNIPPET_LENGTH } from '../../../shared/articles/article.ts'
import { type SampleOutlet, textsOf } from './outlet.ts'
import { SAMPLE_OUTLETS } from './outlets.ts'
import { type SampleText, summaryOf, type TextLanguage } from './texts.ts'

/**
 * `article`: made from its page. `article-from-feed`: the page is refused, and the article is made
 * from the feed. `refused`: never indexed (another language, gone, robots.txt). `failing`: tried
 * again and again, never indexed.
 */
export type Expectation = 'article' | 'article-from-feed' | 'refused' | 'failing'

export interface SampleTruth {
  domain: string
  /** The canonical path at the outlet's address, with the query if that names the article. */
  path: string
  title: string
  /** The first 200 code points of the body, white space collapsed; null without a body. */
  body: string | null
  authors: string[]
  /** ISO 8601, UTC. */
  published_at: string
  language: TextLanguage
  country: Country
  /** The event that it reports; null when no other outlet reports it. */
  event: string | null
  expectation: Expectation
}

/** One entry for every text, in the order of the outlets, newest first. */
export function sampleTruth(): SampleTruth[] {
  return SAMPLE_OUTLETS.flatMap(outlet => textsOf(outlet).map(text => truthOf(outlet, text)))
}

function truthOf(outlet: SampleOutlet, text: SampleText): SampleTruth {
  const expectation = expectationOf(outlet, text)
  const feed = outlet.feeds.find(candidate => candidate.takes(text))
  const fromFeed = expectation === 'article-from-feed'
  const body = fromFeed
    ? { none: null, summary: summaryOf(text), full: whole(text) }[feed?.body ?? 'none']
    : whole(text)
  return {
    domain: outlet.domain,
    path: outlet.address(text),
    title: text.title,
    body: body === null ? null : [...body].slice(0, SNIPPET_LENGTH).join('').trimEnd(),
    authors: fromFeed && !feed?.authors ? [] : text.authors,
    published_at: text.publishedAt.toISOString(),
    language: text.language,
    country: outlet.country,
    event: text.event,
    expectation,
  }
}

function whole(text: SampleText): string {
  return text.paragraphs.join(' ')
}

function expectationOf(outlet: SampleOutlet, text: SampleText): Expectation {
  if (!outlet.languages.some(language => language === text.language)) return 'refused'
  switch (text.answer) {
    case 'page':
    case 'fails-once':
      return 'article'
    case 'forbidden':
    case 'consent-wall':
    case 'consent-redirect':
    case 'paywall':
      return 'article-from-feed'
    case 'disallowed':
    case 'gone':
      return 'refused'
    case 'fails':
      return 'failing'
  }
}
