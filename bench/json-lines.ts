import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { say } from './figures.ts'

/** The values of a file with a JSON value a line, packed or not. A number that is none is null. */
export async function readJsonLines<T>(path: string): Promise<T[]> {
  const bytes = await readFile(path)
  const lines = (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString().split('\n')
  return lines.filter(line => line !== '').map(line => JSON.parse(line.replace(/: NaN\b/g, ': null')))
}

/** The same of a file of the corpora; none, with a sentence, where it is missing. */
export async function readSet<T>(data: string, file: string): Promise<T[]> {
  return readJsonLines<T>(join(data, file)).catch(() => {
    say(`left out: there is no ${file} in ${data}`)
    return []
  })
}
