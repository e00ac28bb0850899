import { readFile, stat } from 'node:fs/promises'
import { Ajv, type JSONSchemaType } from 'ajv'
import { gunzipFile } from '../../services/crawler/fetch/compression.ts'

/** Reads one kind of lines. `read` throws an error whose message says what is wrong with a line. */
export interface Reader {
  read(line: unknown, number: number): Promise<object>
  close(): Promise<void>
}

const ajv = new Ajv({ strict: true })
export const text = { type: 'string' } as const
export const optional = { type: 'string', nullable: true } as const
export const texts = { type: 'array', items: { type: 'string' } } as const

/** @throws Error when a line does not have the form of its kind */
export function readerOf<T>(schema: JSONSchemaType<T>): (line: unknown) => T {
  const validate = ajv.compile(schema)
  return line => {
    if (validate(line)) return line
    throw new Error(ajv.errorsText(validate.errors, { dataVar: 'line' }).replaceAll('line/', ''))
  }
}

/** The bytes of a text or of a file, which may be compressed with gzip; null for neither. */
export async function bytesOf(
  written: string | null | undefined,
  file: string | null | undefined,
  most: number,
): Promise<Buffer | null> {
  if (typeof written === 'string') return Buffer.from(written)
  if (typeof file !== 'string') return null
  const { size } = await stat(file)
  if (size > most) throw new Error(`the file is larger than ${most} bytes (CRAWL_MAX_BYTES)`)
  return gunzipFile(await readFile(file), most)
}
