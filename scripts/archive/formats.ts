import { ByteWriter, type ColumnSource, ParquetWriter } from 'hyparquet-writer'
import { CSV_COLUMNS, type CsvColumn, csvHead, csvLine } from '../../shared/articles/csv.ts'
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
      return createParquet(withBody)
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

/** An article as `export` writes it. */
interface ExportedArticle {
  id: string
  title: string
  url: string
  snippet: string | null
  /** With `--body`. */
  body?: string | null
  published_at: string | null
  ingested_at: string | null
  authors: string[]
  language: string
  country: string
  outlet: { name: string | null; domain: string | null }
}

/** Writes articles, some at a time, so that an archive of any size fits into memory. */
interface ArchiveFormat {
  /** What to write for these articles now, which may be nothing yet. */
  add(lines: readonly string[]): Promise<string | Uint8Array>
  end(): Promise<string | Uint8Array>
}

/** A group of rows is written when it has so many articles … */
const GROUP_ARTICLES = 20_000
/** … or so many characters: groups are built in memory. */
const GROUP_LENGTH = 32 * 1024 * 1024

/** The columns of CSV and of Parquet, in one order. */
const columnsWith = (withBody: boolean) =>
  CSV_COLUMNS.filter(name => name !== 'relevance' && (withBody || name !== 'body'))

const isTime = (name: string) => name === 'published_at' || name === 'ingested_at'

/** Apache Parquet: times are timestamps in UTC, authors a list. */
function createParquet(withBody: boolean): ArchiveFormat {
  const writer = new ByteWriter()
  const parquet = new ParquetWriter({ writer, schema: schema(withBody), createdBy: 'perscope' })
  let group: ExportedArticle[] = []
  let length = 0

  async function writeGroup(): Promise<Uint8Array> {
    if (group.length > 0) {
      await parquet.write({ columnData: columnsOf(group, withBody), rowGroupSize: group.length })
    }
    group = []
    length = 0
    return drain()
  }

  /** What was written since the last time. */
  function drain(): Uint8Array {
    const bytes = writer.getBytes().slice()
    writer.index = 0
    return bytes
  }

  return {
    async add(lines) {
      for (const line of lines) {
        group.push(JSON.parse(line))
        length += line.length
      }
      return group.length < GROUP_ARTICLES && length < GROUP_LENGTH ? '' : writeGroup()
    },
    async end() {
      const last = await writeGroup()
      await parquet.finish()
      return Buffer.concat([last, drain()])
    },
  }
}

type Schema = ConstructorParameters<typeof ParquetWriter>[0]['schema']

function schema(withBody: boolean): Schema {
  const text = (name: string) => ({
    name,
    type: 'BYTE_ARRAY' as const,
    converted_type: 'UTF8' as const,
    repetition_type: 'OPTIONAL' as const,
  })
  const time = (name: string) => ({
    name,
    type: 'INT64' as const,
    converted_type: 'TIMESTAMP_MILLIS' as const,
    // Says that it is UTC: without this, DuckDB reads a time without a zone.
    logical_type: { type: 'TIMESTAMP' as const, isAdjustedToUTC: true, unit: 'MILLIS' as const },
    repetition_type: 'OPTIONAL' as const,
  })
  return [
    { name: 'article', num_children: columnsWith(withBody).length },
    ...columnsWith(withBody).flatMap((name): Schema => {
      if (name !== 'authors') return [isTime(name) ? time(name) : text(name)]
      return [
        { name, repetition_type: 'OPTIONAL' as const, converted_type: 'LIST' as const, num_children: 1 },
        { name: 'list', repetition_type: 'REPEATED' as const, num_children: 1 },
        text('element'),
      ]
    }),
  ]
}

function columnsOf(articles: readonly ExportedArticle[], withBody: boolean): ColumnSource[] {
  return columnsWith(withBody).map(name => ({ name, data: articles.map(article => columnOf(article, name)) }))
}

function columnOf(article: ExportedArticle, name: CsvColumn): string | string[] | Date | null {
  switch (name) {
    case 'outlet_name':
      return article.outlet.name
    case 'outlet_domain':
      return article.outlet.domain
    case 'published_at':
    case 'ingested_at':
      return article[name] === null ? null : new Date(article[name])
    case 'relevance':
      return null
    default:
      return article[name] ?? null
  }
}
