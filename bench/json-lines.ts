import { readFile } from 'node:fs/promises'
import { gunzipSync } from 'node:zlib'

/** The values of a file with a JSON value a line, packed or not. A number that is none is null. */
export async function readJsonLines<T>(path: string): Promise<T[]> {
  const bytes = await readFile(path)
  const lines = (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString().split('\n')
  return lines.filter(line => line !== '').map(line => JSON.parse(line.replace(/: NaN\b/g, ': null')))
}
