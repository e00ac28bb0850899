import { printable } from '../log/printable.ts'

/** The columns of all CSV that is written here, in their order. */
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
  'relevance',
  'first',
  'agencies',
] as const
export type CsvColumn = (typeof CSV_COLUMNS)[number]

/** An article as the API or `export` writes it: authors are names, or objects with a `name`. */
export type CsvArticle = Partial<Record<Exclude<CsvColumn, 'outlet_name' | 'outlet_domain'> | 'outlet', unknown>>

export const csvHead = (columns: readonly CsvColumn[]): string => `${columns.join(',')}\r\n`

/** A record of CSV (RFC 4180). What is null is empty. Several authors are joined by `; `. */
export const csvLine = (article: CsvArticle, columns: readonly CsvColumn[]): string =>
  csvRecord(columns.map(column => memberFor(article, column)))

/** A record of texts and numbers. */
export const csvRecord = (values: readonly unknown[]): string => `${values.map(cell).join(',')}\r\n`

/** What a column holds, as JSON has it; authors are joined. */
export function memberFor(article: CsvArticle, column: CsvColumn): unknown {
  switch (column) {
    case 'authors':
      return namesOf(article.authors).join('; ')
    case 'agencies':
      return namesOf(article.agencies).join('; ')
    case 'outlet_name':
      return memberOf(article.outlet, 'name')
    case 'outlet_domain':
      return memberOf(article.outlet, 'domain')
    default:
      return article[column]
  }
}

export const namesOf = (authors: unknown): unknown[] =>
  Array.isArray(authors) ? authors.map(author => memberOf(author, 'name') ?? author) : []

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Object.entries(value).find(([key]) => key === name)?.[1] : null

/**
 * A cell. A spreadsheet takes a text that begins with `=`, `+`, `-` or `@` for a formula; titles
 * are written by others, so such a text gets an apostrophe. So does what follows a semicolon: Excel
 * begins a cell there where decimals have a comma, as in Dutch, French and German. Control
 * characters are escaped as for a terminal, where the file may be shown.
 */
function cell(value: unknown): string {
  if (typeof value !== 'string') return typeof value === 'number' ? String(value) : ''
  const harmless = printable(
    value.replace(/^(?=[=+\-@\t\r])|[;\r\n]\s*/g, (gap, at: number) => {
      if (gap === '' || /[=+\-@]/.test(value.charAt(at + gap.length))) return `${gap}'`
      // A tab or a line break may begin a cell, too.
      const last = Math.max(gap.lastIndexOf('\t'), gap.lastIndexOf('\r'))
      return last > 0 ? `${gap.slice(0, last)}'${gap.slice(last)}` : gap
    }),
  )
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}
