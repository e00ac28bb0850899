import { isFormOf, stopWordsOf } from '#search/analysis/index'
import { boundMarks } from '#search/analysis/text'
import { fits, wordRuns } from '#search/browser'
import { findingAny, leavesOf, type Match, type Pace } from '#search/index'
import { findPage } from '#services/api/articles/articles'
import type { Asking } from '#services/api/articles/find'
import { articleIn } from '#services/api/articles/shown-article'
import type { CursorSecret } from '#services/api/contract/cursor'
import { readSearch } from '#services/api/contract/request'
import { dataOf, objectOf, TEXT } from '#services/api/contract/resources'
import { type Answer, jsonAnswer } from '#services/api/http/answer'
import { LANGUAGES, type Language } from '#shared/articles/article'
import type { Queryable } from '#shared/postgres/pool'

/** The answer, as JSON Schema (2020-12). */
export const MATCHES_SCHEMA = dataOf({
  type: 'array',
  maxItems: 100,
  description: 'The articles of the page, in their order.',
  items: objectOf({
    id: TEXT,
    words: {
      type: 'array',
      items: TEXT,
      description:
        'With `search=keyword`, and of `~words` and `parts*`: words of title and snippet that were found, in small letters without accents.',
    },
    places: {
      type: ['integer', 'null'],
      minimum: 0,
      description:
        'How often the text holds what was found, in its first 200,000 characters. null: not counted, because the texts of the page have more than 1,000,000 characters up to its end.',
    },
    first: {
      type: ['number', 'null'],
      minimum: 0,
      maximum: 0.9,
      description:
        'Where the first of these places is: tenths of the words that were looked at, before it. null: there is none, or none was counted.',
    },
  }),
})

/**
 * The most characters in which places of found words are counted: in one text, and in all texts of
 * a page together.
 */
const COUNTED = 200_000
const COUNTED_OF_PAGE = 1_000_000
/**
 * The most characters of title and snippet that are read. The index may hold longer titles, which
 * an older version let in.
 */
const SHOWN = 5_000

/**
 * `GET /explore/matches`: for each article of a page of `/explore/articles`, which words of title
 * and snippet the search has found, and in how many places of the text. Nothing of the text is
 * shown beyond the snippet.
 *
 * @param asking has the parameters of the page, with its cursor
 * @throws ApiError
 */
export async function answerMatches(asking: Asking, cursorSecret: CursorSecret): Promise<Answer> {
  const { request, found } = await findPage(asking, cursorSecret, readSearch)
  const { question } = request
  const match = question.search === 'semantic' ? ALL : question.match
  const isInText =
    question.search !== 'semantic' && question.searchIn === 'title_body' && match.kind !== 'all'
  // The permit is held while the texts are in memory, so it also limits memory.
  const data = await asking.searches.withPermit(async pace => {
    const texts = isInText
      ? await readTexts(asking.searches.db, found.rows)
      : new Map<bigint, string | null>()
    const matches = []
    const places = new Map(LANGUAGES.map(language => [language, placesOf(match, language)]))
    for (const { seq, pieces } of found.rows) {
      const { id, title, snippet, language } = articleIn(pieces.json)
      const shown = wordRuns(
        boundMarks(`${title} ${snippet ?? ''}`.slice(0, SHOWN)).normalize('NFC'),
      )
      const words = shown.map(({ word }) => word)
      const text = texts.get(seq) ?? (texts.has(seq) ? null : '')
      const found = text === null ? NOT_COUNTED : await places.get(language)!(text, pace)
      matches.push({ id, words: foundIn(words, match, language), ...found })
      if (pace.isDue()) await pace.rest()
    }
    return matches
  })
  return jsonAnswer(JSON.stringify({ status: 'ok', data }), question.search, found.ms)
}

const ALL: Match = { kind: 'all' }
const NOT_COUNTED = { places: null, first: null }

// $1 seqs, $2 COUNTED, $3 COUNTED_OF_PAGE. Index: the primary key.
const TEXTS = `
  select seq, case when so_far <= $3 then body end as body
    from (select w.seq, left(w.body, $2) as body, sum(length(left(w.body, $2))) over (order by place) as so_far
            from unnest($1::bigint[]) with ordinality as p (seq, place) join article_words w using (seq)) t`

/** The texts of a page; null: this text and the texts before it exceed `COUNTED_OF_PAGE`. */
async function readTexts(
  db: Queryable,
  rows: readonly { seq: bigint }[],
): Promise<Map<bigint, string | null>> {
  const values = [rows.map(({ seq }) => seq), COUNTED, COUNTED_OF_PAGE]
  const { rows: texts } = await db.query<{ seq: bigint; body: string | null }>(TEXTS, values)
  return new Map(texts.map(({ seq, body }) => [seq, body]))
}

/** What is looked for in texts of a language, as leaves of an expression. */
function leavesIn(match: Match, language: Language): ReturnType<typeof leavesOf> {
  switch (match.kind) {
    case 'all':
      return []
    case 'keyword': {
      // Stop words count only where there is nothing else, and then as they are written.
      const telling = match.words.filter(word => !stopWordsOf(language).has(word))
      const words = telling.length > 0 ? telling : match.words
      return words.map(word => ({ kind: 'forms', word, inTitle: false }))
    }
    case 'boolean':
      return match.required.map(words => ({ kind: 'phrase', words, inTitle: false }))
    case 'expression':
      return leavesOf(match.tree).filter(leaf => !leaf.inTitle)
  }
}

/** A tenth tells readers where to look, and reveals no more of the text (decision 42). */
const tenthOf = (at: number, words: number) => Math.floor((10 * at) / words) / 10

/** Characters of a text in which words are looked for between two looks at the clock. */
const STEP = 4_096

/** @returns `first`: the first place, as a share of the text in tenths; null: no place */
type PlacesOf = (text: string, pace: Pace) => Promise<{ places: number; first: number | null }>

/**
 * Counts the places where a search has found something in a text. One pass finds all of it. It
 * pauses between steps, to let the process answer other requests.
 */
export function placesOf(match: Match, language: Language): PlacesOf {
  const leaves = leavesIn(match, language)
  const find = findingAny(leaves)
  // A phrase that begins in one step may end in the next.
  const beyond = Math.max(0, ...leaves.map(one => ('words' in one ? one.words.length - 1 : 0)))
  return async (text, pace) => {
    // The text may be cut, and then it does not end with a line break.
    const list = text.endsWith('\n') ? text : `${text}\n`
    let words = 0
    let places = 0
    let first: number | null = null
    const last = list.length - 1
    // A line break stands before each word, and after the last one.
    for (let at = 0; at < last; ) {
      const end = at + STEP < last ? list.indexOf('\n', at + STEP) : last
      let to = end
      let more = 0
      for (; more < beyond && to < last; more++) to = list.indexOf('\n', to + 1)
      const found = find(list.slice(at, to + 1), language)
      const own = found.places.filter(place => place < found.words - more)
      if (own.length > 0) first ??= words + own[0]!
      places += own.length
      words += found.words - more
      at = end
      if (pace.isDue()) await pace.rest()
    }
    return { places, first: first === null ? null : tenthOf(first, words) }
  }
}

/** Tests for the words that the search finds in another form than they are written in `q`. */
function testsOf(match: Match, language: Language): ((word: string) => boolean)[] {
  if (match.kind === 'keyword') return [isFormOf(match.words, language)]
  if (match.kind !== 'expression') return []
  return leavesOf(match.tree).flatMap(leaf => {
    if (leaf.kind === 'forms') return [isFormOf([leaf.word], language)]
    const [word, ...more] = leaf.words
    return more.length === 0 && word?.includes('*') ? [(one: string) => fits(word, one)] : []
  })
}

const foundIn = (words: string[], match: Match, language: Language): string[] => [
  ...new Set(testsOf(match, language).flatMap(test => words.filter(test))),
]
