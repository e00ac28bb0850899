import { join } from 'node:path'
import type { TruePage } from '../../truth.ts'
import { htmlOf, jsonOf } from './files.ts'

interface Entry {
  url: string
  title: string
  date: string
  /** Names between commas; empty when the set states none. */
  authors: string
  articleBody: string
}

/**
 * AndyTheFactory/article-extraction-dataset: two pages each of 212 news sites of late 2023. People
 * cleaned the texts and wrote down title, day and authors.
 */
export async function* extractionPages(folder: string): AsyncGenerator<TruePage> {
  const entries = await jsonOf<Record<string, Entry>>(join(folder, 'articles.json'))
  for (const [name, entry] of Object.entries(entries)) {
    const html = await htmlOf(join(folder, 'html', `${name}.html`))
    if (html === null) continue
    const authors = entry.authors.split(',').map(author => author.trim())
    yield {
      set: 'extraction',
      file: name,
      url: entry.url,
      html,
      title: entry.title || null,
      date: /^\d{4}-\d{2}-\d{2}$/.test(entry.date) ? entry.date : null,
      authors: entry.authors === '' ? null : authors.filter(author => author !== ''),
      text: { whole: entry.articleBody },
    }
  }
}
