import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { NewArticle } from '../../search/indexing/article.ts'
import type { Language } from '../../shared/articles/article.ts'
import type { Random } from '../faults/random.ts'
import { randomArticles } from './archive.ts'

/** Real texts that others gathered, beside the repository; never part of it. */
const FOLDER = new URL('../../../shared/data/', import.meta.url).pathname

export const haveCorpora = existsSync(join(FOLDER, 'corpus-bbc-2225'))

interface Text {
  language: Language
  title: string
  body: string
}

/**
 * Articles with real texts of all five languages, and random dates, outlets and authors; `share` of
 * each corpus.
 */
export function corpusArticles(random: Random, share: number): NewArticle[] {
  const texts = [...parliament(), ...ntrex(), ...bbc(), ...gnad()].filter(() => random.chance(share))
  return randomArticles(random, texts.length).map((article, number) => {
    const { language, title, body } = texts[number]!
    return { ...article, language, title, body }
  })
}

function parliament(): Text[] {
  return lines('corpus-be-parliament-2020/be_parliament_2020.jsonl.gz').flatMap(line => [
    headed('nl', String(line.nl)),
    headed('fr', String(line.fr)),
  ])
}

/** Sentences of one document make an article, in each language. */
function ntrex(): Text[] {
  const documents = Map.groupBy(lines('parallel-ntrex128/ntrex-en-nl-fr-de-lb.jsonl.gz'), line => String(line.doc))
  const languages: Language[] = ['en', 'nl', 'fr', 'de', 'lb']
  return [...documents.values()].flatMap(sentences =>
    languages.map(language => ({
      language,
      title: String(sentences[0]![language]),
      body: sentences
        .slice(1)
        .map(line => String(line[language]))
        .join('\n\n'),
    })),
  )
}

function bbc(): Text[] {
  return lines('corpus-bbc-2225/bbc.jsonl.gz').map(line => ({
    language: 'en',
    title: String(line.title),
    body: String(line.text),
  }))
}

function gnad(): Text[] {
  return lines('corpus-10kgnad-test/gnad_test.jsonl.gz').map(line => headed('de', String(line.text)))
}

/** A text without a title is headed by its first words. */
function headed(language: Language, text: string): Text {
  const title = text.split(/\s+/).slice(0, 9).join(' ')
  return { language, title, body: text.slice(title.length) }
}

function lines(file: string): Record<string, unknown>[] {
  return gunzipSync(readFileSync(join(FOLDER, file)))
    .toString()
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line))
}
