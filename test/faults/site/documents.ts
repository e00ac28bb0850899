import { escapeMarkup } from '../../../infra/outlets/sample/server.ts'
import type { SiteArticle } from './article.ts'
import type { SiteFeed } from './outlets.ts'

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
export function writeFeed(feed: SiteFeed, origin: string, articles: readonly SiteArticle[]): string {
  const newestFirst = articles.toReversed()
  if (feed.format === 'rss') return rss(feed, origin, newestFirst)
  return feed.format === 'atom' ? atom(feed, origin, newestFirst) : sitemap(feed, origin, newestFirst)
}

function linkOf(feed: SiteFeed, origin: string, article: SiteArticle): string {
  const path = {
    plain: article.path,
    tracked: `${article.path}?utm_source=feed&utm_medium=rss`,
    short: article.shortPath,
  }[feed.links]
  return escapeMarkup(origin + path)
}

function rss(feed: SiteFeed, origin: string, articles: SiteArticle[]): string {
  const items = articles.map(
    article => `<item><title>${escapeMarkup(article.title)}</title><link>${linkOf(feed, origin, article)}</link>
<guid isPermaLink="false">${article.number}</guid><description>${escapeMarkup(article.paragraphs[0] ?? '')}</description>
${article.dated ? `<pubDate>${article.publishedAt.toUTCString()}</pubDate>` : ''}</item>`,
  )
  return `<?xml version="1.0" encoding="utf-8"?>
<rss version="2.0"><channel><title>Feed</title><link>${origin}/</link><description>News</description>
${items.join('\n')}
</channel></rss>
`
}

function atom(feed: SiteFeed, origin: string, articles: SiteArticle[]): string {
  const entries = articles.map(article => {
    const at = article.publishedAt.toISOString()
    return `<entry><title>${escapeMarkup(article.title)}</title><id>tag:${article.number}</id><link href="${linkOf(feed, origin, article)}"/>
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

function sitemap(feed: SiteFeed, origin: string, articles: SiteArticle[]): string {
  const urls = articles.map(
    article => `<url><loc>${linkOf(feed, origin, article)}</loc><news:news>
<news:publication><news:name>${escapeMarkup(article.outlet.name)}</news:name><news:language>${article.outlet.language}</news:language></news:publication>
${article.dated ? `<news:publication_date>${article.publishedAt.toISOString()}</news:publication_date>` : ''}
<news:title>${escapeMarkup(article.title)}</news:title></news:news></url>`,
  )
  return `<?xml version="1.0" encoding="utf-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:news="http://www.google.com/schemas/sitemap-news/0.9">
${urls.join('\n')}
</urlset>
`
}
