import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { isRecord } from '../../shared/json/is-record.ts'

/**
 * The description at the end of a backup. The file is an archive of `pg_dump --format=custom`, then
 * one line with this as JSON, then `ending`. So `pg_restore` can read it too, and a file that was
 * cut has no end.
 */
export interface Manifest {
  format: 1
  made_at: string
  /** Number of the last migration. */
  schema: number
  /** Major version of the server. */
  postgres: number
  articles: number
  /** Schemas that the archive holds. */
  schemas: string[]
  /**
   * Bytes of the tables, without indexes, by `schema.name`: weights for the progress of a restore.
   */
  tables: Record<string, number>
  /** Bytes of the archive before this description. */
  bytes: number
  sha256: string
}

const ENDING = 28
const ending = (length: number) => `perscope backup ${String(length).padStart(11, '0')}\n`
/** A description is some kilobytes. */
const LONGEST = 1 << 20

/** Writes the description behind the archive, to the disk. */
export async function appendManifest(file: string, manifest: Manifest): Promise<void> {
  const line = Buffer.from(`\n${JSON.stringify(manifest)}\n`)
  const handle = await open(file, 'a')
  try {
    await handle.writeFile(Buffer.concat([line, Buffer.from(ending(line.length))]))
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** @throws when the file is no whole backup */
export async function readManifest(file: string): Promise<Manifest> {
  const handle = await open(file, 'r')
  try {
    const { size } = await handle.stat()
    const read = async (from: number, length: number) => {
      const { buffer } = await handle.read(Buffer.alloc(length), 0, length, from)
      return buffer.toString()
    }
    const [, digits] = /^perscope backup (\d{11})\n$/.exec(size < ENDING ? '' : await read(size - ENDING, ENDING)) ?? []
    const length = Number(digits)
    const start = size - ENDING - length
    if (digits === undefined || length > LONGEST || start < 0) throw notWhole(file)
    const manifest = parse(await read(start, length), file)
    if (manifest.bytes !== start) throw notWhole(file)
    return manifest
  } finally {
    await handle.close()
  }
}

function parse(text: string, file: string): Manifest {
  const value = jsonIn(text)
  if (value === undefined) throw notWhole(file)
  if (!isRecord(value) || value.format !== 1) {
    throw new Error(`${file} was made by a newer Perscope; update this checkout.`)
  }
  const { made_at, schema, postgres, articles, schemas, tables, bytes, sha256 } = value
  // It is printed, so it holds no control characters.
  if (typeof made_at !== 'string' || !/^[\d:.TZ-]{1,30}$/.test(made_at)) throw notWhole(file)
  if (typeof sha256 !== 'string' || !isRecord(tables)) throw notWhole(file)
  if (![schema, postgres, articles, bytes].every(Number.isSafeInteger) || !Array.isArray(schemas)) throw notWhole(file)
  return {
    format: 1,
    made_at,
    schema: Number(schema),
    postgres: Number(postgres),
    articles: Number(articles),
    schemas: schemas.map(String),
    tables: Object.fromEntries(Object.entries(tables).map(([name, size]) => [name, Number(size)])),
    bytes: Number(bytes),
    sha256,
  }
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const notWhole = (file: string) => new Error(`${file} is no whole backup of Perscope: its end is missing or damaged.`)

/**
 * SHA-256 of the first bytes of a file, in hex.
 *
 * @param progress called with the bytes read so far
 */
export async function sumOf(
  file: string,
  bytes: number,
  progress: (bytes: number) => void,
  signal: AbortSignal,
): Promise<string> {
  const hash = createHash('sha256')
  let read = 0
  if (bytes > 0) {
    for await (const chunk of createReadStream(file, { end: bytes - 1, highWaterMark: 1 << 20, signal })) {
      hash.update(chunk)
      read += chunk.length
      progress(read)
    }
  }
  return hash.digest('hex')
}
