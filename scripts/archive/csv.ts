import type { ExportedArticle } from './exported.ts'

export const CSV_COLUMNS = [
  'id',
  'title',
  'url',
  'snippet',
  'body',
  'published_at',
  'ingested_at',
  'authors',
  'language',
  'country',
  'outlet_name',
  'outlet_domain',
] as const
export type Column = (typeof CSV_COLUMNS)[number]

/** A record of CSV (RFC 4180). What is null is empty; several authors are joined by `; `. */
export function csvLine(article: ExportedArticle, columns: readonly Column[]): string {
  return `${columns.map(column => cell(textOf(article, column))).join(',')}\r\n`
}

function textOf(article: ExportedArticle, column: Column): string {
  switch (column) {
    case 'authors':
      return article.authors.join('; ')
    case 'outlet_name':
      return article.outlet.name ?? ''
    case 'outlet_domain':
      return article.outlet.domain ?? ''
    default:
      return article[column] ?? ''
  }
}

const cell = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
