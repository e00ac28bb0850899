import { isRecord } from '../../parts/request.ts'

export const FORMATS = ['csv', 'ndjson'] as const
export type Format = (typeof FORMATS)[number]

/** How articles are written to a file. */
export interface Writer {
  type: string
  /** The beginning of the file. */
  head: string
  line(article: Record<string, unknown>): string
}

const COLUMNS: [name: string, read: (article: Record<string, unknown>) => unknown][] = [
  ['id', ({ id }) => id],
  ['title', ({ title }) => title],
  ['url', ({ url }) => url],
  ['snippet', ({ snippet }) => snippet],
  ['published_at', ({ published_at }) => published_at],
  ['ingested_at', ({ ingested_at }) => ingested_at],
  ['authors', ({ authors }) => namesOf(authors)],
  ['outlet_name', ({ outlet }) => (isRecord(outlet) ? outlet.name : null)],
  ['outlet_domain', ({ outlet }) => (isRecord(outlet) ? outlet.domain : null)],
  ['language', ({ language }) => language],
  ['country', ({ country }) => country],
  ['relevance', ({ relevance }) => relevance],
]

export const WRITERS: Record<Format, Writer> = {
  // RFC 4180; the mark at the beginning tells spreadsheets that it is UTF-8.
  csv: {
    type: 'text/csv',
    head: `\uFEFF${COLUMNS.map(([name]) => name).join(',')}\r\n`,
    line: article => `${COLUMNS.map(([, read]) => cell(read(article))).join(',')}\r\n`,
  },
  /** The article object of the API, one a line. */
  ndjson: { type: 'application/x-ndjson', head: '', line: article => `${JSON.stringify(article)}\n` },
}

/**
 * A cell. A spreadsheet takes a text that begins with `=`, `+`, `-` or `@` for a formula; titles
 * are written by others, so such a text gets an apostrophe. So does what follows a semicolon: Excel
 * begins a cell there where decimals have a comma, as in Dutch, French and German.
 */
function cell(value: unknown): string {
  if (value === null || value === undefined) return ''
  const text = String(value)
  const harmless = typeof value === 'string' ? text.replace(/(^|[;\r\n]\s*)(?=[=+\-@\t\r])/g, "$1'") : text
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}

const namesOf = (authors: unknown) =>
  Array.isArray(authors) ? authors.flatMap(author => (isRecord(author) ? [String(author.name)] : [])).join('; ') : ''
