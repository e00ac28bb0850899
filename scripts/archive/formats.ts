import { ByteWriter, type ColumnSource, ParquetWriter } from 'hyparquet-writer'
import { CSV_COLUMNS, csvHead, csvLine } from '../../shared/articles/csv.ts'

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

const TEXTS = ['id', 'title', 'url', 'snippet', 'body', 'language', 'country'] as const
const TIMES = ['published_at', 'ingested_at'] as const

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

const textsWith = (withBody: boolean) => TEXTS.filter(name => withBody || name !== 'body')

function schema(withBody: boolean): ConstructorParameters<typeof ParquetWriter>[0]['schema'] {
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
    repetition_type: 'OPTIONAL' as const,
  })
  const columns = [...textsWith(withBody).map(text), ...TIMES.map(time), text('outlet_name'), text('outlet_domain')]
  return [
    { name: 'article', num_children: columns.length + 1 },
    ...columns,
    { name: 'authors', repetition_type: 'OPTIONAL', converted_type: 'LIST', num_children: 1 },
    { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
    text('element'),
  ]
}

function columnsOf(articles: readonly ExportedArticle[], withBody: boolean): ColumnSource[] {
  return [
    ...textsWith(withBody).map(name => ({ name, data: articles.map(article => article[name] ?? null) })),
    ...TIMES.map(name => ({ name, data: articles.map(article => timeOf(article[name])) })),
    { name: 'outlet_name', data: articles.map(article => article.outlet.name) },
    { name: 'outlet_domain', data: articles.map(article => article.outlet.domain) },
    { name: 'authors', data: articles.map(article => article.authors) },
  ]
}

const timeOf = (text: string | null) => (text === null ? null : new Date(text))
