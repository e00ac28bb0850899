import { ByteWriter, ParquetWriter } from 'hyparquet-writer'
import { type CsvArticle, type CsvColumn, memberFor, namesOf } from './csv.ts'

/** How many articles a row group has. */
const GROUP = 20_000

export interface ParquetFile {
  /**
   * @param isFull true: the row group ends here
   * @returns the bytes to write; they may be empty
   */
  add(articles: readonly CsvArticle[], isFull?: boolean): Promise<Uint8Array<ArrayBuffer>>
  end(): Promise<Uint8Array<ArrayBuffer>>
}

/**
 * Writes articles as Apache Parquet, one row group after the other. Times are timestamps in UTC,
 * authors and agencies are lists. Browsers use this too.
 */
export function createParquet(columns: readonly CsvColumn[]): ParquetFile {
  const writer = new ByteWriter()
  const parquet = new ParquetWriter({ writer, schema: schemaOf(columns), createdBy: 'perscope' })
  let group: CsvArticle[] = []

  async function writeGroup(): Promise<void> {
    const columnData = columns.map(name => ({
      name,
      data: group.map(article => cellOf(article, name)),
    }))
    if (group.length > 0) await parquet.write({ columnData, rowGroupSize: group.length })
    group = []
  }

  /** The bytes that were written since the last call. */
  function drain(): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(writer.getBytes())
    writer.index = 0
    return bytes
  }

  return {
    async add(articles, isFull = false) {
      for (const article of articles) group.push(article)
      if (isFull || group.length >= GROUP) await writeGroup()
      return drain()
    },
    async end() {
      await writeGroup()
      await parquet.finish()
      return drain()
    },
  }
}

type Schema = ConstructorParameters<typeof ParquetWriter>[0]['schema']

const schemaOf = (columns: readonly CsvColumn[]): Schema => [
  { name: 'article', num_children: columns.length },
  ...columns.flatMap((name): Schema => {
    if (name === 'relevance') return [{ name, type: 'DOUBLE', repetition_type: 'OPTIONAL' }]
    if (name !== 'authors' && name !== 'agencies') return [isTime(name) ? time(name) : text(name)]
    return [
      { name, repetition_type: 'OPTIONAL', converted_type: 'LIST', num_children: 1 },
      { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
      text('element'),
    ]
  }),
]

const isTime = (name: CsvColumn) => name === 'published_at' || name === 'ingested_at'

const text = (name: string): Schema[number] => ({
  name,
  type: 'BYTE_ARRAY',
  converted_type: 'UTF8',
  repetition_type: 'OPTIONAL',
})

const time = (name: string): Schema[number] => ({
  name,
  type: 'INT64',
  converted_type: 'TIMESTAMP_MILLIS',
  repetition_type: 'OPTIONAL',
  // `isAdjustedToUTC` states UTC. Without it, DuckDB reads a time without a zone.
  logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
})

function cellOf(article: CsvArticle, name: CsvColumn): unknown {
  if (name === 'authors' || name === 'agencies') return namesOf(article[name])
  const value = memberFor(article, name) ?? null
  return isTime(name) && typeof value === 'string' ? new Date(value) : value
}
