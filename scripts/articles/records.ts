import { UsageError } from '#shared/process/command'
import { type Line, type ReadRecords, readLines } from './groups.ts'

/*
 * Articles in files of other forms than a JSON object a line: CSV with a head, and one JSON array.
 * Each record becomes a line of JSON, which threads read as any other line.
 */

const FORMATS = { ndjson: readLines, csv: readCsv, json: readArray } as const
type Format = keyof typeof FORMATS

const isFormat = (name: string): name is Format => Object.hasOwn(FORMATS, name)

/**
 * The form of a file, by its name unless the operator says it.
 *
 * @throws UsageError
 */
export function formatOf(file: string, asked: unknown): Format {
  if (typeof asked === 'string') {
    if (isFormat(asked)) return asked
    throw new UsageError(`--format is ${Object.keys(FORMATS).join(', ')}.`)
  }
  const end = /\.(csv|tsv|json)(?:\.gz)?$/i.exec(file)?.[1]?.toLowerCase()
  return end === undefined ? 'ndjson' : end === 'json' ? 'json' : 'csv'
}

export const recordsOf = (format: Format): ReadRecords => FORMATS[format]

/** Takes the characters of a file one after another, and gives a record where one ends. */
interface Splitter {
  take(sign: string): Omit<Line, 'end'> | null
  /** Of what stands behind the last record. */
  rest(): Omit<Line, 'end'> | null
}

/** Splits a stream of bytes by a splitter, which is made for the first line of the file. */
async function* split(
  stream: AsyncIterable<Buffer | null>,
  open: (head: string) => Splitter,
): AsyncGenerator<Line | null> {
  const decoder = new TextDecoder()
  let splitter: Splitter | null = null
  let end = 0
  for await (const chunk of stream) {
    if (chunk === null) {
      yield null
      continue
    }
    end += chunk.length
    const text = decoder.decode(chunk, { stream: true })
    splitter ??= open(text.split('\n', 1)[0] ?? '')
    for (const sign of text) {
      const record = splitter.take(sign)
      if (record !== null) yield { ...record, end }
    }
  }
  const last = splitter?.rest() ?? null
  if (last !== null) yield { ...last, end }
}

/** Collects a text of at most `limit` characters; null: it had more. */
function createText(limit: number) {
  let text = ''
  let length = 0
  return {
    add(sign: string) {
      if (++length <= limit) text += sign
    },
    isEmpty: () => length === 0,
    take(): string | null {
      const taken = length > limit ? null : text
      text = ''
      length = 0
      return taken
    },
  }
}

const SEPARATORS = [',', ';', '\t']

/** The separator of a file is the one that its head has most often. */
function separatorOf(head: string): string {
  const count = (sign: string) => head.split(sign).length
  return SEPARATORS.reduce((best, sign) => (count(sign) > count(best) ? sign : best))
}

/** The cells of CSV (RFC 4180): `take` gives the cells of a record where it ends. */
function createCells(separator: string, limit: number) {
  const cell = createText(limit)
  let cells: (string | null)[] = []
  /** `ending`: a quote has come that ends the cell, unless another one follows. */
  let state: 'plain' | 'quoted' | 'ending' = 'plain'
  const finish = () => {
    const record = [...cells, cell.take()]
    cells = []
    return record
  }
  const takePlain = (sign: string) => {
    if (sign === '\n') return finish()
    if (sign === separator) cells.push(cell.take())
    else if (sign === '"' && cell.isEmpty()) state = 'quoted'
    else if (sign !== '\r') cell.add(sign)
    return null
  }
  return {
    take(sign: string): (string | null)[] | null {
      if (state === 'plain') return takePlain(sign)
      if (state === 'quoted' && sign !== '"') {
        cell.add(sign)
        return null
      }
      if (state === 'quoted') {
        state = 'ending'
        return null
      }
      state = sign === '"' ? 'quoted' : 'plain'
      if (state === 'plain') return takePlain(sign)
      cell.add(sign)
      return null
    },
    rest: () => (cells.length > 0 || !cell.isEmpty() ? finish() : null),
  }
}

/**
 * Reads CSV. The first record names the columns. A record becomes an object; empty cells are left
 * out. Records have the number of their first line.
 */
async function* readCsv(
  stream: AsyncIterable<Buffer | null>,
  limit: number,
): AsyncGenerator<Line | null> {
  yield* split(stream, head => {
    const cells = createCells(separatorOf(head), limit)
    let columns: string[] | null = null
    let line = 1
    let first = 1
    const recordOf = (record: (string | null)[] | null): Omit<Line, 'end'> | null => {
      if (record === null) return null
      const number = first
      first = line
      if (columns !== null) return objectOf(columns, record, number)
      columns = record.map(name => name?.trim() ?? '')
      return null
    }
    return {
      take(sign) {
        if (sign === '\n') line++
        return recordOf(cells.take(sign))
      },
      rest: () => recordOf(cells.rest()),
    }
  })
}

function objectOf(
  columns: string[],
  record: (string | null)[],
  number: number,
): Omit<Line, 'end'> | null {
  if (record.length === 1 && record[0] === '') return null
  if (record.includes(null)) return { number, text: null }
  if (record.length > columns.length) {
    const problem = `it has ${record.length} cells, and the head ${columns.length}.`
    return { number, text: null, problem }
  }
  const named = record.map((value, at) => [columns[at], value] as const)
  return {
    number,
    text: JSON.stringify(Object.fromEntries(named.filter(([, value]) => value !== ''))),
  }
}

/** Reads one JSON array. Items have their place, from 1 on. */
async function* readArray(
  stream: AsyncIterable<Buffer | null>,
  limit: number,
): AsyncGenerator<Line | null> {
  yield* split(stream, () => {
    const item = createText(limit)
    const strings = createStrings()
    let number = 0
    let depth = 0
    const finish = () => {
      if (item.isEmpty()) return null
      const text = item.take()
      return text?.trim() === '' ? null : { number: ++number, text }
    }
    /** Before the array, and behind it. */
    const takeOutside = (sign: string) => {
      if (sign === '[' && number === 0) depth = 1
      else if (/[^\s\]]/.test(sign)) throw noArray()
      return null
    }
    const takeInside = (sign: string) => {
      const isText = strings.has(sign)
      if (!isText && depth === 1 && /[,\]]/.test(sign)) {
        if (sign === ']') depth = 0
        return finish()
      }
      if (!isText) depth += /[[{]/.test(sign) ? 1 : /[\]}]/.test(sign) ? -1 : 0
      item.add(sign)
      return null
    }
    return {
      take: sign => (depth === 0 ? takeOutside(sign) : takeInside(sign)),
      rest() {
        const problem = 'the array ends in the middle of it.'
        return item.isEmpty() ? null : { number: ++number, text: null, problem }
      },
    }
  })
}

const noArray = () =>
  new UsageError('The file is not one JSON array; a JSON object a line is --format ndjson.')

/** Follows the strings of a JSON text. `has`: whether this character is part of one. */
function createStrings() {
  let isInside = false
  let isEscaped = false
  return {
    has(sign: string): boolean {
      const before = isInside
      if (isEscaped) isEscaped = false
      else if (isInside && sign === '\\') isEscaped = true
      else if (sign === '"') isInside = !isInside
      return before
    },
  }
}
