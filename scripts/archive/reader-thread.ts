import { prepareText } from '../../shared/indexing/text.ts'
import { begin } from '../../shared/threads/clock.ts'
import type { Timed } from '../../shared/threads/threads.ts'
import { BadLine, parseArticle } from './article.ts'
import type { ReadResult, ReadTask } from './reader.ts'

/** The work of a thread of the archive's reader. */
export default function readLines({ begun, lines, prepare }: Timed<ReadTask>): ReadResult {
  begin(begun)
  const result: ReadResult = { articles: [], bad: [] }
  for (const { number, text } of lines) {
    try {
      const article = parseArticle(text)
      result.articles.push(prepare ? { ...article, prepared: prepareText(article) } : article)
    } catch (error) {
      if (!(error instanceof BadLine)) throw error
      result.bad.push({ number, reason: error.message })
    }
  }
  return result
}
