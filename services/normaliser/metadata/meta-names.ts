/**
 * Names of meta tags in lower case, the most trusted first: Open Graph, Dublin Core, Parse.ly,
 * Sailthru, Cxense, Highwire Press (`citation_…`), and the names that content systems of newspapers
 * add.
 */

export const PUBLISHED_NAMES = words(`
  article:published_time og:article:published_time article:published article.published og:published_time
  rnews:datepublished vr:published_time bt:pubdate parsely-pub-date sailthru.date
  cxenseparse:recs:publishtime cxenseparse:publishtime cxenseparse:recs:articlepublishtime
  published_time published_at published-date publication_date publication-date publish_date publish-date publishdate
  pubdate pub_date pubdatetime publishtime originalpublicationdate article_date_original article:post_date
  dc.date.issued dcterms.issued dcterms.available citation_publication_date citation_online_date citation_date
  releasedate release_date dc.date.publication analyticsattributes.articledate ptime og:pubdate
  shareaholic:article_published_time`)

/**
 * Names that do not say which date they hold. Content systems write the last change into them, or
 * the day of the printed issue.
 */
export const VAGUE_DATE_NAMES = words(`
  date dc.date dcterms.date dc:date displaydate date.available created creation_date article:created
  dc.date.created dcterms.created`)

export const AUTHOR_NAMES = words(`
  article:author_name author article:author og:article:author parsely-author sailthru.author
  dc.creator dcterms.creator dc:creator dc.contributor byl byline authors cxenseparse:author
  citation_author article.author vr:author rbauthors creator shareaholic:article_author_name`)

export const TITLE_NAMES = words(
  'og:title twitter:title dc.title dcterms.title sailthru.title parsely-title citation_title',
)

export const LANGUAGE_NAMES = words('content-language language dc.language dcterms.language og:locale')

export const SITE_NAMES = words('og:site_name application-name publisher dc.publisher dcterms.publisher')

/** All values of these names, in the names' order. */
export function named(metas: Map<string, string[]>, names: readonly string[]): string[] {
  return names.flatMap(name => metas.get(name) ?? [])
}

function words(text: string): string[] {
  return text.trim().split(/\s+/)
}
