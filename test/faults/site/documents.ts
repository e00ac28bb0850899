import { escapeMarkup } from '#shared/encoding/markup'
import { newsSitemap, rss } from '#test/crawler/crawl'
import type { SiteFeed } from './outlets.ts'
import type { SiteArticle } from './site-article.ts'

/**
 * The page of an article, with a canonical link: however it was reached, it is one article
 * (decision 37).
 */
export function writePage(article: SiteArticle, origin: string): string {
  const { outlet, title, paragraphs, authors } = article
  const story = {
    '@context': 'https://schema.org',
    '@type': 'NewsArticle',
    headline: title,
    ...(article.dated && { datePublished: article.publishedAt.toISOString() }),
    ...(authors.length > 0 && { author: authors.map(name => ({ '@type': 'Person', name })) }),
  }
  return `<!DOCTYPE html>
<html lang="${outlet.language}">
<head><meta charset="utf-8"><title>${escapeMarkup(title)} | ${escapeMarkup(outlet.name)}</title>
<link rel="canonical" href="${origin}${article.path}">
<script type="application/ld+json">${JSON.stringify(story).replaceAll('<', '\\u003c')}</script>
</head>
<body><header><a href="/">${escapeMarkup(outlet.name)}</a></header>
<main><article><h1>${escapeMarkup(title)}</h1>
${paragraphs.map(paragraph => `<p>${escapeMarkup(paragraph)}</p>`).join('\n')}
</article></main>
<footer><a href="/contact">Contact</a></footer></body>
</html>
`
}

/** Writes a feed, newest first. */
export function writeFeed(
  feed: SiteFeed,
  origin: string,
  articles: readonly SiteArticle[],
): string {
  const newestFirst = articles
    .toReversed()
    .map(article => ({ ...article, url: linkOf(feed, origin, article) }))
  switch (feed.format) {
    case 'rss':
      return rss(
        ...newestFirst.map(({ title, url, number, paragraphs, dated, publishedAt }) => ({
          title,
          link: url,
          guid: String(number),
          description: paragraphs[0] ?? '',
          ...(dated && { pubDate: publishedAt.toUTCString() }),
        })),
      )
    case 'atom':
      return atom(feed, origin, newestFirst)
    case 'sitemap':
      return newsSitemap(
        ...newestFirst.map(({ title, url, outlet, dated, publishedAt }) => ({
          url,
          title,
          language: outlet.language,
          ...(dated && { published: publishedAt.toISOString() }),
        })),
      )
  }
}

function linkOf(feed: SiteFeed, origin: string, article: SiteArticle): string {
  const path = {
    plain: article.path,
    tracked: `${article.path}?utm_source=feed&utm_medium=rss`,
    short: article.shortPath,
  }[feed.links]
  return origin + path
}

function atom(feed: SiteFeed, origin: string, articles: (SiteArticle & { url: string })[]): string {
  const entries = articles.map(article => {
    const at = article.publishedAt.toISOString()
    return `<entry><title>${escapeMarkup(article.title)}</title><id>tag:${article.number}</id><link href="${escapeMarkup(article.url)}"/>
${article.dated ? `<published>${at}</published><updated>${at}</updated>` : ''}
${article.authors.map(name => `<author><name>${escapeMarkup(name)}</name></author>`).join('')}
<summary>${escapeMarkup(article.paragraphs[0] ?? '')}</summary></entry>`
  })
  return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom"><title>Feed</title><id>${origin}${feed.path}</id>
${entries.join('\n')}
</feed>
`
}
