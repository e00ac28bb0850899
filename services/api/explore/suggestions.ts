import { foldName } from '#search/analysis/index'
import type { Suggestion } from '#search/index'
import type { Asking } from '#services/api/articles/find'
import { ANY_TEXT, LIMITS, type Parameter } from '#services/api/contract/parameters'
import { createQueryReader } from '#services/api/contract/query-string'
import { OK, OUTLET_SCHEMA, objectOf, text } from '#services/api/contract/resources'
import { type Content, jsonContent } from '#services/api/http/answer'
import { coveredBy } from '#shared/plans/reach'

/** The parameters of `/explore/suggestions`. */
export const SUGGESTIONS_PARAMETERS = {
  field: {
    kind: 'choice',
    values: ['outlet', 'author'],
    required: 'Write one of outlet, author.',
    about: 'Required. The filter of `/v1/articles` that the name is for.',
  },
  q: {
    kind: 'text',
    maxLength: LIMITS.outlet,
    pattern: ANY_TEXT,
    visible: true,
    required: 'Write part of a name.',
    about: "Required. Part of a name; case and accents don't matter, as in the filter.",
  },
} as const satisfies Record<string, Parameter>

/** The most names of an answer. */
const MOST_SUGGESTIONS = 10

/** The answer, as JSON Schema (2020-12). */
export const SUGGESTIONS_SCHEMA = objectOf({
  status: OK,
  field: { type: 'string', enum: SUGGESTIONS_PARAMETERS.field.values },
  data: {
    type: 'array',
    maxItems: MOST_SUGGESTIONS,
    items: objectOf({ value: text('Send it as `outlet` or `author`.'), outlet: OUTLET_SCHEMA }, [
      'outlet',
    ]),
  },
})

/**
 * `GET /explore/suggestions`: names that contain what was typed, as the filters `outlet` and
 * `author` read it. The plan's countries and history bound them, as they bound searches.
 *
 * @throws ApiError `invalid_request`
 */
export async function answerSuggestions({ searches, rawQuery, plan }: Asking): Promise<Content> {
  const { field, q } = read(rawQuery)
  const found = await searches.index.suggest(field, q, coveredBy(plan), MOST_SUGGESTIONS)
  return jsonContent(
    JSON.stringify({ status: 'ok', field, data: found.map(one => suggestionObject(one, q)) }),
  )
}

const read = createQueryReader(SUGGESTIONS_PARAMETERS)

/**
 * `value` is the text to send as the filter. For an outlet it is the name, or the domain when the
 * name does not contain `q`.
 */
function suggestionObject(suggestion: Suggestion, q: string) {
  if (suggestion.field === 'author') return { value: asFilter(suggestion.name) }
  const { name, domain } = suggestion.outlet
  const contains = (text: string | null) => text !== null && foldName(text).includes(foldName(q))
  const value = contains(name) ? name : domain
  return { value: asFilter(value ?? name ?? ''), outlet: { name, domain } }
}

/** The name, cut to what the filter takes: a part of a longer name finds it as well. */
const asFilter = (name: string) => [...name].slice(0, LIMITS.outlet).join('').trim()
