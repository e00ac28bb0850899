import { move, transferableSymbol, valueSymbol } from 'piscina'
import { createEncoder, type NewArticle, prepareText } from '#search/indexing/new-article'
import { begin } from '#shared/threads/clock'
import type { Timed } from '#shared/threads/threads'
import { BadLine, type Notes, noNotes, parseArticle } from './line.ts'
import type { ReadResult, ReadTask } from './reader.ts'

/** A result whose buffers go to the main thread without a copy. */
type Moved = ReturnType<typeof move>

/** The work of a thread of the reader. */
export default function readLines({
  begun,
  lines,
  prepare,
  latest,
  mapping,
}: Timed<ReadTask>): Moved | ReadResult {
  begin(begun)
  const articles: NewArticle[] = []
  const bad: ReadResult['bad'] = []
  const notes = noNotes()
  for (const { number, text } of lines) {
    try {
      articles.push(parseArticle(text, latest, mapping, notes))
    } catch (error) {
      if (!(error instanceof BadLine)) throw error
      bad.push({ number, reason: error.message })
    }
  }
  return prepare ? handOver(articles, bad, notes) : { articles, bad, notes }
}

/**
 * Prepares the texts and moves them to the main thread without a copy. The articles have no bodies,
 * because the prepared texts contain them.
 */
function handOver(articles: NewArticle[], bad: ReadResult['bad'], notes: Notes): Moved {
  const encoder = createEncoder()
  for (const article of articles) encoder.add(prepareText(article))
  const { texts, buffer } = encoder.finish()
  const prepared = articles.map(
    (article, index): NewArticle => ({ ...article, body: null, prepared: texts[index]! }),
  )
  const result: ReadResult = { articles: prepared, bad, notes }
  return move({ [transferableSymbol]: [buffer], [valueSymbol]: result })
}
