import { CSV_COLUMNS, csvHead, csvLine } from '../../../shared/articles/csv.ts'

export const FORMATS = ['csv', 'ndjson'] as const
export type Format = (typeof FORMATS)[number]

/** How articles are written to a file. */
export interface Writer {
  type: string
  /** The beginning of the file. */
  head: string
  line(article: Record<string, unknown>): string
}

const COLUMNS = CSV_COLUMNS.filter(name => name !== 'body')

export const WRITERS: Record<Format, Writer> = {
  // The mark at the beginning tells spreadsheets that it is UTF-8.
  csv: {
    type: 'text/csv',
    head: `\uFEFF${csvHead(COLUMNS)}`,
    line: article => csvLine(article, COLUMNS),
  },
  /** The article object of the API, one a line. */
  ndjson: { type: 'application/x-ndjson', head: '', line: article => `${JSON.stringify(article)}\n` },
}
