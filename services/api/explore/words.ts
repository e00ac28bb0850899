import { parseExpression } from '#search/index'
import { type Asking, explainSearch, filterOf, plannedOf } from '#services/api/articles/find'
import { ANY_TEXT, EXPLORE_PARAMETERS, type Parameter } from '#services/api/contract/parameters'
import { createValuesReader, type Problems } from '#services/api/contract/query-string'
import { requestOf } from '#services/api/contract/request'
import { COUNT, count, OK, objectOf, TEXT } from '#services/api/contract/resources'
import { type Content, jsonContent } from '#services/api/http/answer'

/*
 * A part of words, such as `trein*`, is answered with the words for which it stands. So people see
 * what an expression with this part will find.
 */

const {
  q: _q,
  search: _search,
  sort: _sort,
  order: _order,
  per_page: _perPage,
  cursor: _cursor,
  ...FILTERS
} = EXPLORE_PARAMETERS

export const WORDS_PARAMETERS = {
  part: {
    kind: 'text',
    maxLength: 64,
    pattern: ANY_TEXT,
    visible: true,
    required: 'Write a part of words, as trein*, *trein or *trein*.',
    about:
      'Required. A part of words, as an expression takes it: `trein*` for words that begin so, `*trein` for those that end so, `*trein*` for those that have it anywhere. At least three letters.',
  },
  ...FILTERS,
} as const satisfies Record<string, Parameter>

/** The most words of an answer. */
const MOST_WORDS = 100

/** The answer, as JSON Schema (2020-12). */
export const WORDS_SCHEMA = objectOf({
  status: OK,
  part: TEXT,
  total: count('Words that articles of the search have.'),
  data: {
    type: 'array',
    maxItems: MOST_WORDS,
    description: 'The words with the most articles, the most first.',
    items: objectOf({ word: TEXT, count: COUNT }),
  },
})

const readValues = createValuesReader(WORDS_PARAMETERS)

/**
 * `GET /explore/words`: the words for which a part of words stands, with the number of articles
 * that have each. The filters and the plan bound the articles, as they bound searches.
 *
 * @throws ApiError
 */
export async function answerWords({ searches, rawQuery, plan }: Asking): Promise<Content> {
  const { values, problems } = readValues(rawQuery)
  const { part, ...filters } = values
  const word = wordOf(part, problems)
  const request = requestOf(
    { ...filters, search: 'expression', ...(word === undefined ? {} : { q: word }) },
    problems,
  )
  const { question } = request
  if (question.search === 'semantic') throw new Error('An expression was read as a question.')
  const { match, searchIn, sort } = question
  const filter = filterOf(plannedOf(request, plan))
  const found = await searches
    .withPermit(pace =>
      searches.index.words({ ...filter, match, searchIn, sort }, { state: searches.state, pace }),
    )
    .catch((error: unknown) => {
      throw explainSearch(error, 'part')
    })
  const data = found.slice(0, MOST_WORDS)
  return jsonContent(JSON.stringify({ status: 'ok', part: word, total: found.length, data }))
}

/** The one part of words in a text, in small letters; absent: there is none, which is a problem. */
function wordOf(part: string | undefined, problems: Problems): string | undefined {
  if (part === undefined) return undefined
  const parsed = parseExpression(part)
  const tree = parsed.ok ? parsed.match.tree : null
  const [word, ...more] = tree?.kind === 'phrase' ? tree.words : []
  if (word?.includes('*') && more.length === 0) return word
  const sentences = parsed.ok
    ? ['Write one part of words, as trein*, *trein or *trein*.']
    : parsed.errors
  for (const sentence of sentences) problems.add('part', sentence)
  return undefined
}
