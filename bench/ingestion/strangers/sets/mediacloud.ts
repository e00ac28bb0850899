import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TruePage } from '../../truth.ts'
import { atPublisher } from '../publisher.ts'
import { htmlOf } from './files.ts'

const TESTS = ['mcmetadata', 'test']

/**
 * mediacloud/metadata-lib: pages of outlets of many countries, with the title and the day that the
 * tests of that library expect. The values stand in its test files.
 */
export async function* mediacloudPages(folder: string): AsyncGenerator<TruePage> {
  const read = (name: string) => readFile(join(folder, ...TESTS, name), 'utf8')
  const truths = new Map<string, { title: string | null; date: string | null }>()
  const truth = (url: string) => truths.get(url) ?? { title: null, date: null }
  for (const [, url = '', y, m = '', d = ''] of (await read('test_dates.py')).matchAll(DATED))
    truths.set(url, { ...truth(url), date: `${y}-${m.padStart(2, '0')}-${d.padStart(2, '0')}` })
  for (const [, url = '', quote = '', title = ''] of (await read('test_titles.py')).matchAll(TITLED))
    truths.set(url, { ...truth(url), title: title.replaceAll(`\\${quote}`, quote) })
  for (const [url, { title, date }] of truths) {
    const file = `cached-${url.replace(/[^\p{L}\p{N}_]+/gu, '')}`
    const html = await htmlOf(join(folder, ...TESTS, 'fixtures', file))
    if (html === null) continue
    yield { set: 'mediacloud', file, url: atPublisher(url), html, title, date, authors: null, text: null }
  }
}

const DATED = /\(\s*"(https?:[^"]{1,500})",\s*dt\.date\((\d{4}), (\d{1,2}), (\d{1,2})\)/g
const TITLED =
  /(?:url = |_validate\(\s*)"(https?:[^"]{1,500})",?\s*(?:self\._fetch_and_validate\(\s*url,\s*)?(["'])((?:(?!\2)[^\\\n]|\\.){3,300})\2/g
