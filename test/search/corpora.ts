import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { NewArticle } from '#search/types'
import { LANGUAGES } from '#shared/articles/article'
import type { Random } from '#test/faults/random'
import { randomArticles } from './random-articles.ts'

/** Real texts that others gathered, beside the repository; never part of it. */
const FOLDER = new URL('../../../shared/data/parallel-ntrex128/', import.meta.url).pathname

export const haveCorpora: boolean = existsSync(FOLDER)

/**
 * Articles with real texts of all five languages, and random dates, outlets and authors. Sentences
 * of one document make an article, in each language.
 */
export function corpusArticles(random: Random): NewArticle[] {
  const documents = Map.groupBy(readLines(), line => line.doc)
  const texts = [...documents.values()].flatMap(sentences =>
    LANGUAGES.map(language => {
      const [title = '', ...body] = sentences.map(line => line[language] ?? '')
      return { language, title, body: body.join('\n\n') }
    }),
  )
  return randomArticles(random, texts.length).map((article, number) => ({
    ...article,
    ...texts[number]!,
  }))
}

function readLines(): Partial<Record<string, string>>[] {
  const text = gunzipSync(readFileSync(join(FOLDER, 'ntrex-en-nl-fr-de-lb.jsonl.gz'))).toString()
  return text
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line))
}
