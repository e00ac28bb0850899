import type { Article, ArticlesQuery, Page, PollBatch, PollOptions, PollQuery, PollState } from './contract.ts'
import { PerscopeError } from './errors.ts'
import { type Answer, queryString, sleep, type Transport } from './transport.ts'

/** What the contract does not take is asked for beside it. */
export const articlesPath = ({ search, outlets }: ArticlesQuery): string =>
  search === 'expression' || (outlets ?? '').length > 0 ? '/explore/articles' : '/v1/articles'

/** The polling pattern of the contract, round after round. */
export async function* poll(
  transport: Transport,
  query: PollQuery,
  { state = null, since, every, signal }: PollOptions = {},
): AsyncGenerator<PollBatch, void, undefined> {
  let now = beginning(query, state, since)
  for (;;) {
    for await (const batch of round(transport, query, now)) {
      now = batch.state
      yield batch
    }
    if (every === undefined) return
    await sleep(every, signal)
  }
}

function beginning(query: PollQuery, state: PollState | null, since: string | Date | undefined): PollState {
  if (query.search === 'semantic') {
    throw new PerscopeError('Poll with keyword or boolean search: by meaning, articles are found only hours later.')
  }
  const { ingested_after: _, sort: _sort, order: _order, per_page: _perPage, ...own }: ArticlesQuery = query
  const name = queryString(Object.fromEntries(Object.entries(own).sort())).slice(1)
  if (state !== null && state.query !== name) {
    throw new PerscopeError(`The state belongs to another search ("${state.query}"); begin without a state.`)
  }
  const from = since instanceof Date ? since.toISOString() : (since ?? null)
  return state ?? { query: name, ingested_after: from, ids: [], etag: null }
}

/** Everything since the state, to the last page. Each batch has the state behind it. */
async function* round(transport: Transport, query: PollQuery, state: PollState): AsyncGenerator<PollBatch> {
  const question = { ...query, ingested_after: state.ingested_after, sort: 'ingested_at', order: 'asc', per_page: 100 }
  let now = state
  for (let cursor: string | null = null, isFirst = true; isFirst || cursor !== null; isFirst = false) {
    const answer: Answer<Page> = await transport.ask<Page>(
      articlesPath(query),
      { ...question, cursor },
      isFirst ? state.etag : null,
    )
    if (answer.status === 304) return
    const page = answer.body
    const known = new Set(now.ids)
    const articles = page.articles.filter(article => !known.has(article.id))
    cursor = page.next_cursor
    if (articles.length > 0) {
      now = after(now, articles)
      yield { articles, state: now }
    } else if (isFirst && cursor === null) {
      // An ETag speaks of one page: it stands for a whole round only where that has no other page.
      yield { articles, state: { ...now, etag: answer.etag } }
    }
  }
}

/** The state after new articles; those of its latest moment will be met again. */
function after(state: PollState, articles: Article[]): PollState {
  const latest = articles.at(-1)?.ingested_at ?? state.ingested_after
  const ids = articles.filter(article => article.ingested_at === latest).map(article => article.id)
  return {
    query: state.query,
    ingested_after: latest,
    ids: latest === state.ingested_after ? [...state.ids, ...ids] : ids,
    etag: null,
  }
}
