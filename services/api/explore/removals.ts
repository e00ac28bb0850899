import type { Asking } from '#services/api/articles/find'
import type { Parameter } from '#services/api/contract/parameters'
import { createQueryReader } from '#services/api/contract/query-string'
import { count, OK, objectOf, TEXT } from '#services/api/contract/resources'
import { type Content, jsonContent } from '#services/api/http/answer'
import { coveredBy } from '#shared/plans/reach'

/*
 * Who has copied articles asks here which of them were taken out (GDPR, article 19). Removals have
 * numbers of their own, in the order of their commits. So who keeps the last number misses none.
 */

/** The most removals that one answer looks at. */
const PAGE = 1_000

export const REMOVALS_PARAMETERS = {
  after: {
    kind: 'integer',
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    default: 0,
    about: 'Removals with higher numbers: `last` of the answer before.',
  },
} as const satisfies Record<string, Parameter>

/** The answer, as JSON Schema (2020-12). */
export const REMOVALS_SCHEMA = objectOf({
  status: OK,
  data: {
    type: 'array',
    maxItems: PAGE,
    description: 'Articles of your plan that were taken out, in the order of `number`.',
    items: objectOf({
      number: count('Of the removal.'),
      id: TEXT,
      removed_at: { type: 'string', format: 'date-time' },
    }),
  },
  last: count('Send it as `after` next time.'),
  more: { type: 'boolean', description: 'There are further removals after `last`.' },
})

const read = createQueryReader(REMOVALS_PARAMETERS)

// $1 after, $2 countries, $3 history start, $4 limit. Index: the primary key.
const AFTER = `
  select number, id, removed_at as "removedAt", country = any ($2) and covered_at >= $3 as covered
    from tombstones where number > $1 order by number limit $4`

interface Row {
  number: bigint
  id: string
  removedAt: Date
  /** null: the article had no time, so no plan covers it. */
  covered: boolean | null
}

/**
 * `GET /explore/removals`: which articles of the plan were taken out.
 *
 * @throws ApiError
 */
export async function answerRemovals({ searches, rawQuery, plan }: Asking): Promise<Content> {
  const after = read(rawQuery).after ?? 0
  const { countries, since } = coveredBy(plan)
  const { rows } = await searches.db.query<Row>(AFTER, [after, countries, since, PAGE])
  const data = rows
    .filter(({ covered }) => covered === true)
    .map(({ number, id, removedAt }) => ({ number: Number(number), id, removed_at: removedAt }))
  const last = Number(rows.at(-1)?.number ?? after)
  return jsonContent(JSON.stringify({ status: 'ok', data, last, more: rows.length === PAGE }))
}
