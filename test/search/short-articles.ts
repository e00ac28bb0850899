import type { NewArticle } from '../../search/indexing/article.ts'

/** Articles of a title alone, so that thousands are soon there. Each has the word "gemeente". */
export const shortArticles = (from: number, count: number): NewArticle[] =>
  Array.from({ length: count }, (_, at) => ({
    title: `Gemeente woord${from + at}`,
    body: null,
    url: `https://example.org/${from + at}`,
    addresses: [`https://example.org/${from + at}`],
    publishedAt: new Date(Date.parse('2026-03-01T12:00:00Z') + (from + at) * 1_000),
    authors: [],
    outlet: { name: 'Voorbeeld', domain: 'example.org' },
    country: 'NL',
    language: 'nl',
  }))
