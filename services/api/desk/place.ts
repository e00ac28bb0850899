import { INDEX_STATE, type IndexState, type Matched } from '#search/index'
import { filterOf, plannedOf } from '#services/api/articles/find'
import { ApiError } from '#services/api/contract/errors'
import { readSearch } from '#services/api/contract/request'
import type { Plan } from '#shared/plans/keys'
import { PRIMARY_HISTORY, type Queryable, readRow } from '#shared/postgres/pool'

/**
 * A place in the order of ingestion. An article is new since this place when its `seq` is higher
 * and its time is not earlier.
 */
export interface IngestionPlace {
  seq: bigint
  at: Date
}

/** The place of the newest article, with the state of the index. */
export interface CurrentPlace extends IngestionPlace {
  state: IndexState
  /** Ids of the newest article and of the asked ones, by number. Numbers without one are absent. */
  ids: ReadonlyMap<bigint, string>
  /** The history of the primary from which all this was read (`PRIMARY_HISTORY`). */
  history: string
}

/** @param seqs numbers of articles whose ids the same statement reads */
export async function readPlace(db: Queryable, seqs: bigint[] = []): Promise<CurrentPlace> {
  const row = await readRow<PlaceRow>(db, { name: 'place', text: PLACE, values: [seqs] })
  const { at, ids, history, ...state } = row!
  const known = Object.entries(ids).map(([seq, id]): [bigint, string] => [BigInt(seq), id])
  return { seq: state.lastSeq, at, state, ids: new Map(known), history }
}

interface PlaceRow extends IndexState {
  at: Date
  ids: Record<string, string>
  history: string
}

// $1 numbers. Index: the primary key of articles.
const PLACE = `
  select ${INDEX_STATE.columns}, last_at as at, ${PRIMARY_HISTORY} as history, (
           select coalesce(json_object_agg(seq, id), '{}') from articles where seq = any ($1::bigint[]) or seq = last_seq) as ids
    from ${INDEX_STATE.tables}`

/**
 * The query that finds the new articles of a kept search since a place.
 * @param days before they came in which those with a date were published; null: all
 * @throws ApiError when the plan does not cover the search, or it is a search by meaning
 */
export function newOf(
  search: string,
  place: IngestionPlace,
  plan: Plan,
  days: number | null = null,
): Matched {
  const request = readSearch(search, 'feed')
  if (request.question.search === 'semantic')
    throw new ApiError('invalid_request', { message: BY_MEANING })
  const filter = filterOf(plannedOf(request, plan))
  const { ingestedAfter: asked } = filter
  const { match, searchIn, sort } = request.question
  // An article that is imported with an earlier time of ingestion is not new.
  return {
    ...filter,
    match,
    searchIn,
    sort,
    ingestedAfter: asked !== null && asked > place.at ? asked : place.at,
    publishedWithin: days && days * 86_400_000,
  }
}

const BY_MEANING = 'A search by meaning has no new articles: these are found hours after they came.'
