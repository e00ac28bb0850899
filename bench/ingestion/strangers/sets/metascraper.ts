import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TruePage } from '../../truth.ts'
import { htmlOf } from './files.ts'

/**
 * microlinkhq/metascraper: the values that its makers accepted for one page each of 90 sites. The
 * set is scored only: nobody who makes rules here looks at its pages. Its times are instants, of
 * which the day counts, because its rules keep the time of a change for a publication.
 */
export async function* metascraperPages(folder: string): AsyncGenerator<TruePage> {
  const tests = join(folder, 'packages', 'metascraper', 'test', 'integration')
  for (const name of (await readdir(tests)).toSorted()) {
    const snapshot = await readFile(join(tests, name, 'snapshots', 'index.js.md'), 'utf8').catch(() => null)
    const html = await htmlOf(join(tests, name, 'input.html'))
    if (snapshot === null || html === null) continue
    const url = field(snapshot, 'url')
    if (url === null || URL.parse(url) === null) continue
    const author = field(snapshot, 'author')
    yield {
      set: 'metascraper',
      file: name,
      url,
      html,
      title: field(snapshot, 'title'),
      date: field(snapshot, 'date')?.slice(0, 10) ?? null,
      authors: author === null ? null : author.split(/,| and | & /).map(each => each.trim()),
      text: null,
    }
  }
}

/** A string of a snapshot as AVA writes it: in quotes or backticks. */
function field(snapshot: string, name: string): string | null {
  const match = new RegExp(`^ {4,8}${name}: (['"\`])(.*)\\1,$`, 'm').exec(snapshot)
  return match?.[2]?.replace(/\\(.)/g, '$1') ?? null
}
