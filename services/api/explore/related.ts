import type { Pool } from '../../../shared/postgres/pool.ts'
import { chooseRelated, MOST_RELATED, readSubjects } from '../../../shared/vectors/related.ts'
import { type Asking, coveredBy, explainSearch } from '../articles/find.ts'
import { ApiError } from '../contract/errors.ts'
import type { Parameter } from '../contract/parameters.ts'
import { createProblems, createValuesReader, readQueryString } from '../contract/query-string.ts'
import { ARTICLE_SCHEMA, dataOf, objectOf } from '../contract/resources.ts'
import { type Answer, jsonAnswer } from '../http/answer.ts'
import { findOne, noArticle } from './article.ts'

export const RELATED_PARAMETERS = {
  id: { kind: 'text', maxLength: 128, pattern: '^[!-~]*$', about: 'Of the article.' },
} as const satisfies Record<string, Parameter>

/** The answer, as JSON Schema (2020-12). */
export const RELATED_SCHEMA = dataOf({
  type: ['array', 'null'],
  maxItems: MOST_RELATED,
  description:
    'Those in other languages first, then those of other outlets, then the closest. null: the article has no vector, or none yet.',
  items: objectOf({
    article: ARTICLE_SCHEMA,
    days: {
      type: 'integer',
      minimum: -3,
      maximum: 3,
      description: 'Whole days between the two, rounded towards 0; negative: it is the earlier one.',
    },
  }),
})

const read = createValuesReader(RELATED_PARAMETERS)

/**
 * `GET /explore/related`: the articles that tell of the same event as another, in other words and
 * languages. Its stored vector is the question, so the model is not asked.
 *
 * @throws ApiError
 */
export async function answerRelated({ searches, rawQuery, plan }: Asking, pool: Pool): Promise<Answer> {
  const problems = createProblems()
  const { id } = read(readQueryString(rawQuery), problems)
  if (id === undefined && !problems.has('id')) problems.add('id', 'Write the id of an article.')
  if (problems.any || id === undefined) throw new ApiError('invalid_request', { errors: problems.toObject() })
  const covered = coveredBy(plan)
  const start = performance.now()
  const [subject] = await searches.withPermit(async () =>
    readSubjects(pool, [(await findOne(pool, id, covered)).seq], covered),
  )
  if (subject === undefined) throw noArticle()
  const around = await searches.withQuestionPermit(() =>
    searches.semantic.around({ ...covered, seq: subject.seq, at: subject.at }).catch((error: unknown) => {
      throw explainSearch(error)
    }),
  )
  const data =
    around &&
    (await searches.withPermit(async () => {
      const rows = await readSubjects(
        pool,
        around.near.map(({ seq }) => seq),
        covered,
      )
      const chosen = chooseRelated(subject, around.near, rows, around.same)
      const shown = new Map(
        (await searches.index.articles(chosen.map(({ seq }) => seq))).map(one => [one.seq, one.pieces.json.bytes]),
      )
      return chosen.flatMap(({ seq, days }) => {
        const article = shown.get(seq)
        return article === undefined ? [] : `{"article":${article},"days":${days}}`
      })
    }))
  return jsonAnswer(`{"status":"ok","data":${data && `[${data.join()}]`}}`, 'semantic', performance.now() - start)
}
