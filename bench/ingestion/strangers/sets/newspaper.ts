import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TruePage } from '../../truth.ts'
import { htmlOf } from './files.ts'

/** Shorter texts of the set are remarks about a page that its program cannot read. */
const SHORTEST = 500

/**
 * codelucas/newspaper: the texts of news pages of 2014, against which that program is tested. The
 * names of the files are the publishers: `al.com2`.
 */
export async function* newspaperPages(folder: string): AsyncGenerator<TruePage> {
  const data = join(folder, 'tests', 'data')
  for (const file of (await readdir(join(data, 'html'))).toSorted()) {
    const name = file.replace(/\.html$/, '')
    if (!/\.[a-z]+\d+$/.test(name)) continue
    const whole = await readFile(join(data, 'text', `${name}.txt`), 'utf8').catch(() => '')
    const html = await htmlOf(join(data, 'html', file))
    if (html === null || whole.length < SHORTEST) continue
    const url = `http://www.${name.replace(/\d+$/, '')}/`
    yield { set: 'newspaper', file: name, url, html, title: null, date: null, authors: null, text: { whole } }
  }
}
