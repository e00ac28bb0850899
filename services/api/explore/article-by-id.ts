import { type Asking, explainSearch } from '#services/api/articles/find'
import type { Parameter } from '#services/api/contract/parameters'
import { createQueryReader } from '#services/api/contract/query-string'
import {
  ARTICLE_SCHEMA,
  dataOf,
  objectOf,
  STATED_ARTICLE_SCHEMA,
} from '#services/api/contract/resources'
import { type Answer, jsonAnswer } from '#services/api/http/answer'
import { COVERED, coveredBy, type Reach } from '#shared/plans/reach'
import { type Queryable, readRow } from '#shared/postgres/pool'
import { chooseRelated, MOST_RELATED, readSubjects } from '#shared/vectors/related'
import { noArticle } from './removed.ts'

/**
 * An id in a path: 1 to 128 printable ASCII characters, some percent-encoded. It is a regular
 * expression, because Express would decode a parameter of a path, and fail at a broken
 * percent-encoding.
 */
const ID = '(?:[!$&-.0-~]|%[2-7][\\dA-Fa-f]){1,128}'

/** The page of an article, for people. */
export const ARTICLE_PAGE: RegExp = new RegExp(`^/a/${ID}$`)
export const ARTICLE_PATH: RegExp = new RegExp(`^/explore/articles/${ID}$`)

/** The answer, as JSON Schema (2020-12). */
export const ARTICLE_ANSWER_SCHEMA = dataOf(STATED_ARTICLE_SCHEMA)

const readNothing = createQueryReader({})

/**
 * `GET /explore/articles/<id>`: an article as `/explore/articles` shows it.
 *
 * @param path matches `ARTICLE_PATH`
 * @throws ApiError
 */
export async function answerArticle(
  { searches, rawQuery, plan }: Asking,
  path: string,
): Promise<Answer> {
  readNothing(rawQuery)
  const id = decodeURIComponent(path.slice(path.lastIndexOf('/') + 1))
  const covered = coveredBy(plan)
  const [article] = await searches.withPermit(async () => {
    const { seq } = await findOne(searches.db, id, covered)
    return searches.index.articles([seq])
  })
  if (article === undefined) throw await noArticle(searches.db, id)
  const { said, pieces } = article
  return jsonAnswer(`{"status":"ok","data":${`${pieces.json.bytes}`.slice(0, -1)}${said}}}`)
}

// $1 id. Indexes: article_ids, which ends the statement early for an unknown id; copy_sketches_id;
// the primary key, but only for articles that are not in copy_sketches yet.
const HAS_ID = `
         a.seq in (select seq from copy_sketches where id = $1
                   union all select seq from articles where seq > (select seq from copies_state) and id = $1 limit 1)
     and exists (select from article_ids where id = $1)
     and not exists (select from tombstones where id = $1)`

// $2 countries, $3 history start.
const ONE = `select a.seq, a.id from articles a where ${HAS_ID} and ${COVERED}`

export interface Asked {
  seq: bigint
  id: string
}

/** @throws ApiError */
export async function findOne(
  db: Queryable,
  id: string,
  { countries, since }: Reach,
): Promise<Asked> {
  const statement = { name: 'article-by-id', text: ONE, values: [id, countries, since] }
  const found = await readRow<Asked>(db, statement)
  if (found === undefined) throw await noArticle(db, id)
  return found
}

export const RELATED_PARAMETERS = {
  id: {
    kind: 'text',
    maxLength: 128,
    pattern: '^[!-~]*$',
    required: 'Write the id of an article.',
    about: 'Of the article.',
  },
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
      description:
        'Whole days between the two, rounded towards 0; negative: it is the earlier one.',
    },
  }),
})

const read = createQueryReader(RELATED_PARAMETERS)

/**
 * `GET /explore/related`: articles about the same event as the given article, in other words and
 * languages. The stored vector of the given article is the question, so the model is not asked.
 *
 * @throws ApiError
 */
export async function answerRelated({ searches, rawQuery, plan }: Asking): Promise<Answer> {
  const { id } = read(rawQuery)
  const covered = coveredBy(plan)
  const start = performance.now()
  const [subject] = await searches.withPermit(() =>
    readSubjects(searches.db, { id, ids: HAS_ID }, covered),
  )
  if (subject === undefined) throw await noArticle(searches.db, id)
  const around = await searches.withQuestionPermit(() =>
    searches.semantic
      .around({ ...covered, seq: subject.seq, id: subject.id, at: subject.at })
      .catch((error: unknown) => {
        throw explainSearch(error)
      }),
  )
  const data =
    around &&
    (await searches.withPermit(async () => {
      const rows = await readSubjects(
        searches.db,
        around.near.map(({ seq }) => seq),
        covered,
      )
      const chosen = chooseRelated(subject, around.near, rows, around.same)
      const shown = new Map(
        (await searches.index.articles(chosen.map(({ seq }) => seq))).map(one => [
          one.seq,
          one.pieces.json.bytes,
        ]),
      )
      return chosen.flatMap(({ seq, days }) => {
        const article = shown.get(seq)
        return article === undefined ? [] : `{"article":${article},"days":${days}}`
      })
    }))
  return jsonAnswer(
    `{"status":"ok","data":${data && `[${data.join()}]`}}`,
    'semantic',
    performance.now() - start,
  )
}
