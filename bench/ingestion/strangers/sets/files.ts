import { readFile, stat } from 'node:fs/promises'
import { decodeText } from '../../../../shared/encoding/decode.ts'

/** As the crawler: a larger page is no article. */
const LARGEST = 10 * 1024 * 1024

/** A page of a set, decoded; null when it is absent or too large. */
export async function htmlOf(file: string): Promise<string | null> {
  const size = await stat(file).then(
    found => found.size,
    () => null,
  )
  if (size === null || size > LARGEST) return null
  return decodeText(await readFile(file), { contentType: null, kind: 'html' }).text
}

/** The JSON of a file of a set, whose form its maker vouches for. */
export async function jsonOf<T>(file: string): Promise<T> {
  const parsed: T = JSON.parse(await readFile(file, 'utf8'))
  return parsed
}
