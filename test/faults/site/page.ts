import { escapeMarkup } from '../../../infra/outlets/sample/server.ts'
import type { SiteArticle } from './article.ts'

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
