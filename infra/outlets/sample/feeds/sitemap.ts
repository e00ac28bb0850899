import { escapeMarkup } from '../markup.ts'
import type { SampleText } from '../texts.ts'
import { type FeedSource, isoDate, linkOf } from './entry.ts'

/** Path of the news sitemap of one month (`2026-11`). */
export function monthPath(month: string): string {
  return `/sitemaps/news-${month}.xml.gz`
}

export function monthsOf(texts: SampleText[]): string[] {
  return [...new Set(texts.map(text => text.publishedAt.toISOString().slice(0, 7)))]
}

/** An index of sitemaps (sitemaps.org 0.9), one a month. */
export function sitemapIndex({ texts, origin }: FeedSource): string {
  const entries = monthsOf(texts).map(month => `<sitemap><loc>${origin}${monthPath(month)}</loc></sitemap>`)
  return `<?xml version="1.0" encoding="UTF-8"?>
<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${entries.join('\n')}
</sitemapindex>
`
}

/** A news sitemap with the articles of one month. */
export function newsSitemap(source: FeedSource, month: string): string {
  const texts = source.texts.filter(text => text.publishedAt.toISOString().startsWith(month))
  return `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:news="http://www.google.com/schemas/sitemap-news/0.9">
${texts.map(text => entry(source, text)).join('\n')}
</urlset>
`
}

function entry(source: FeedSource, text: SampleText): string {
  return `<url><loc>${escapeMarkup(linkOf(source, text))}</loc><news:news>
<news:publication><news:name>${escapeMarkup(source.outlet.name)}</news:name><news:language>${text.language}</news:language></news:publication>
<news:publication_date>${isoDate(source, text)}</news:publication_date>
<news:title>${escapeMarkup(text.title)}</news:title></news:news></url>`
}
