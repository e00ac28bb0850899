import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { say } from './figures.ts'

/**
 * Reads a file that has a JSON value on each line; it may be gzipped. `NaN` in a value becomes
 * null.
 */
export async function readJsonLines<T>(path: string): Promise<T[]> {
  const bytes = await readFile(path)
  const lines = (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString().split('\n')
  return lines
    .filter(line => line !== '')
    .map(line => JSON.parse(line.replace(/: NaN\b/g, ': null')))
}

/**
 * Reads such a file from the folder of the test sets. When the file is missing, it says so on
 * standard error and returns an empty list.
 */
export async function readSet<T>(data: string, file: string): Promise<T[]> {
  return readJsonLines<T>(join(data, file)).catch(() => {
    say(`left out: there is no ${file} in ${data}`)
    return []
  })
}
