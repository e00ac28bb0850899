import { CSV_COLUMNS, csvHead, csvLine } from '../../shared/articles/csv.ts'
import type { ArchiveFormat } from './exported.ts'
import { createParquet } from './parquet.ts'

export const FORMATS = ['ndjson', 'csv', 'parquet'] as const
export type FormatName = (typeof FORMATS)[number]

export function createFormat(name: FormatName, withBody: boolean): ArchiveFormat {
  switch (name) {
    case 'ndjson':
      return { add: async lines => `${lines.join('\n')}\n`, end: async () => '' }
    case 'csv':
      return createCsv(withBody)
    case 'parquet':
      return createParquet(withBody)
  }
}

function createCsv(withBody: boolean): ArchiveFormat {
  const columns = CSV_COLUMNS.filter(name => name !== 'relevance' && (withBody || name !== 'body'))
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
