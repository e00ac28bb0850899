import { STOP_WORDS, stem } from '../../../search/analysis/index.ts'
import { wordRuns } from '../../../search/browser.ts'
import { createPace, type Match, type Pace, SHORT_TURN } from '../../../search/index.ts'
import type { Language } from '../../../shared/articles/article.ts'
import type { Plan } from '../../../shared/plans/keys.ts'
import type { Pool } from '../../../shared/postgres/pool.ts'
import { findPage } from '../articles/articles.ts'
import type { Searches } from '../articles/find.ts'
import type { CursorSecret } from '../contract/cursor.ts'
import type { ArticleObject } from '../contract/resources.ts'
import { type Content, wholeContent } from '../http/answer.ts'

/** The answer, as JSON Schema (2020-12). */
export const MATCHES_SCHEMA = {
  type: 'object',
  required: ['status', 'data'],
  properties: {
    status: { type: 'string', const: 'ok' },
    data: {
      type: 'array',
      maxItems: 100,
      description: 'The articles of the page, in their order.',
      items: {
        type: 'object',
        required: ['id', 'words', 'places'],
        properties: {
          id: { type: 'string' },
          words: {
            type: 'array',
            items: { type: 'string' },
            description:
              'With `search=keyword`: words of title and snippet that were found, in small letters without accents.',
          },
          places: {
            type: 'integer',
            minimum: 0,
            description: 'How often the text holds what was found, in its first 200,000 characters.',
          },
        },
      },
    },
  },
} as const

/** Most characters of an article's text in which places are counted. */
const COUNTED = 200_000

/**
 * `GET /explore/matches`: of the articles of a page of `/v1/articles`, which words of title and
 * snippet the search has found, and how many places in the text. Nothing of the text is shown
 * beyond the snippet.
 *
 * @param rawQuery that of the page, its cursor too
 * @throws ApiError
 */
export async function answerMatches(
  pool: Pool,
  searches: Searches,
  cursorSecret: CursorSecret,
  rawQuery: string,
  plan: Plan,
): Promise<Content> {
  const { request, found } = await findPage(searches, cursorSecret, rawQuery, plan)
  const { question } = request
  const match = question.search === 'semantic' ? ALL : question.match
  const isInText = question.search !== 'semantic' && question.searchIn === 'title_body' && match.kind !== 'all'
  const texts = isInText ? await searches.withPermit(() => readTexts(pool, found.rows)) : new Map<bigint, string>()
  const data = []
  // A hundred long texts take seconds, and one of them 100 ms.
  const pace = createPace(SHORT_TURN)
  for (const { seq, pieces } of found.rows) {
    const article: ArticleObject = JSON.parse(pieces.json.bytes.toString())
    const { id, title, snippet, language } = article
    const shown = wordRuns(`${title} ${snippet ?? ''}`.normalize('NFC')).map(({ word }) => word)
    const places = await placesIn(wordsOf(texts.get(seq)), match, language, pace)
    data.push({ id, words: match.kind === 'keyword' ? keywordsIn(shown, match.words, language) : [], places })
  }
  return wholeContent('application/json; charset=utf-8', JSON.stringify({ status: 'ok', data }))
}

const ALL: Match = { kind: 'all' }

// $1 seqs, $2 COUNTED. Index: the primary key.
const TEXTS = 'select seq, left(body, $2) as body from article_words where seq = any ($1::bigint[])'

async function readTexts(pool: Pool, rows: readonly { seq: bigint }[]): Promise<Map<bigint, string>> {
  const seqs = rows.map(({ seq }) => seq)
  const { rows: texts } = await pool.query<{ seq: bigint; body: string }>(TEXTS, [seqs, COUNTED])
  return new Map(texts.map(({ seq, body }) => [seq, body]))
}

const wordsOf = (list = ''): string[] => list.split('\n').flatMap(word => word.trim() || [])

/** Words between two looks at the clock: a fraction of a millisecond. */
const WORDS_PER_STEP = 64

/** Counts in steps, between which other requests are answered. */
export async function placesIn(words: string[], match: Match, language: Language, pace: Pace): Promise<number> {
  const isPlace = placeOf(words, match, language)
  let places = 0
  for (let at = 0; at < words.length; at++) {
    if (at % WORDS_PER_STEP === 0 && pace.isDue()) await pace.rest()
    if (isPlace(words[at]!, at)) places++
  }
  return places
}

/** Whether the search has found what stands at a place among words. */
function placeOf(words: string[], match: Match, language: Language): (word: string, at: number) => boolean {
  if (match.kind === 'all') return () => false
  if (match.kind === 'keyword') return isFormOf(match.words, language)
  return (_word, at) => match.required.some(phrase => phrase.every((word, n) => words[at + n] === word))
}

const keywordsIn = (words: string[], wanted: string[], language: Language): string[] => [
  ...new Set(words.filter(isFormOf(wanted, language))),
]

/**
 * Whether a word of an article is found by keywords: by the stem in the article's language. Stop
 * words do not count, unless the query has nothing else (decision 17).
 */
function isFormOf(wanted: string[], language: Language): (word: string) => boolean {
  const stopWords = STOP_WORDS[language]
  const telling = wanted.filter(word => !stopWords.has(word))
  if (telling.length === 0) return word => wanted.includes(word)
  const stems = new Set(telling.map(word => stem(language, word)))
  return word => !stopWords.has(word) && stems.has(stem(language, word))
}
