import { CSV_COLUMNS, csvHead, csvLine } from '../../shared/articles/csv.ts'
import { createParquet } from '../../shared/articles/parquet.ts'
import { printable } from '../../shared/log/printable.ts'

export const FORMATS = ['ndjson', 'csv', 'parquet'] as const
export type FormatName = (typeof FORMATS)[number]

export function createFormat(name: FormatName, withBody: boolean): ArchiveFormat {
  switch (name) {
    case 'ndjson':
      // As in CSV. In JSON the values stay the same.
      return { add: async lines => printable(`${lines.join('\n')}\n`), end: async () => '' }
    case 'csv':
      return createCsv(withBody)
    case 'parquet':
      return createParquetOf(withBody)
  }
}

function createCsv(withBody: boolean): ArchiveFormat {
  const columns = columnsWith(withBody)
  let head = csvHead(columns)
  return {
    async add(lines) {
      const text = head + lines.map(line => csvLine(JSON.parse(line), columns)).join('')
      head = ''
      return text
    },
    end: async () => head,
  }
}

/** Writes articles, some at a time, so that an archive of any size fits into memory. */
interface ArchiveFormat {
  /** What to write for these articles now, which may be nothing yet. */
  add(lines: readonly string[]): Promise<string | Uint8Array>
  end(): Promise<string | Uint8Array>
}

/** The columns of CSV and of Parquet, in one order. */
const columnsWith = (withBody: boolean) =>
  CSV_COLUMNS.filter(name => name !== 'relevance' && (withBody || name !== 'body'))

/** A group of rows is written when it has so many characters: groups are built in memory. */
const GROUP_LENGTH = 32 * 1024 * 1024

function createParquetOf(withBody: boolean): ArchiveFormat {
  const parquet = createParquet(columnsWith(withBody))
  let length = 0
  return {
    async add(lines) {
      for (const line of lines) length += line.length
      const isFull = length >= GROUP_LENGTH
      if (isFull) length = 0
      return parquet.add(
        lines.map(line => JSON.parse(line)),
        isFull,
      )
    },
    end: parquet.end,
  }
}
