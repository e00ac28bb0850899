import { isRecord } from '#shared/encoding/is-record'
import { printable } from '#shared/log/printable'

/** The columns of all CSV that Perscope writes, in order. */
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
  'section',
  'kind',
  'access',
] as const
export type CsvColumn = (typeof CSV_COLUMNS)[number]

/** An article as the API or `export` writes it. Authors are names, or objects with a `name`. */
export type CsvArticle = Partial<
  Record<Exclude<CsvColumn, 'outlet_name' | 'outlet_domain'> | 'outlet', unknown>
>

export const csvHead = (columns: readonly CsvColumn[]): string => `${columns.join(',')}\r\n`

/** A line of CSV (RFC 4180). Null becomes an empty cell. Several authors are joined by `; `. */
export const csvLine = (article: CsvArticle, columns: readonly CsvColumn[]): string =>
  csvRecord(columns.map(column => memberFor(article, column)))

/** A line of CSV with texts and numbers. */
export const csvRecord = (values: readonly unknown[]): string => `${values.map(cell).join(',')}\r\n`

/**
 * The value of a column, as in the JSON of the article. Names of authors or of agencies are joined
 * into one text.
 */
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

const memberOf = (value: unknown, name: string): unknown => (isRecord(value) ? value[name] : null)

/**
 * A cell. A spreadsheet treats a text that begins with `=`, `+`, `-` or `@` as a formula. Outlets
 * write the titles, so such a text gets an apostrophe in front. A text after a semicolon gets one
 * too: where decimals have a comma, as in Dutch, French and German, Excel begins a cell there.
 * Control characters are escaped, because a terminal may show the file.
 */
function cell(value: unknown): string {
  if (typeof value !== 'string') return typeof value === 'number' ? String(value) : ''
  const harmless = printable(
    value.replace(/^(?=[=+\-@\t\r])|[;\r\n]\s*/g, (gap, at: number) => {
      if (gap === '' || /[=+\-@]/.test(value.charAt(at + gap.length))) return `${gap}'`
      // A tab or a line break may also begin a cell.
      const last = Math.max(gap.lastIndexOf('\t'), gap.lastIndexOf('\r'))
      return last > 0 ? `${gap.slice(0, last)}'${gap.slice(last)}` : gap
    }),
  )
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}
