import type {
  Client,
  ClientOptions,
  PollBatch,
  PollOptions,
  PollQuery,
  PollState,
} from './client.ts'
import type { Article, ArticlesQuery, Page } from './contract.ts'
import { PerscopeError } from './errors.ts'
import { type Answer, createTransport, queryString, sleep, type Transport } from './transport.ts'

export type * from './client.ts'
export type * from './contract.ts'
export * from './errors.ts'

const SEARCHES = '/explore/searches'
const SETS = '/explore/outlet-sets'
const setPath = (name: string) => `${SETS}/${encodeURIComponent(name)}`
const pathOf = (id: string) => `${SEARCHES}/${encodeURIComponent(id)}`

export function createClient(options: ClientOptions): Client {
  const transport = createTransport(options)
  const get = async <Body>(path: string, query: object): Promise<Body> =>
    (await transport.ask<Body>(path, query)).body
  const listed = async <Data>(path: string, query: object): Promise<Data> =>
    (await get<{ data: Data }>(path, query)).data
  const changed = async <Data>(method: string, path: string, content?: object): Promise<Data> =>
    (await transport.send<{ data: Data }>(method, path, content)).data
  const client: Client = {
    search: (query = {}) => get(articlesPath(query), query),
    async *pages(query = {}, { maxItems = Number.POSITIVE_INFINITY } = {}) {
      if (!(maxItems >= 0)) throw new PerscopeError('maxItems must be a number of articles.')
      for (let cursor: string | null | undefined, left = maxItems; left > 0 && cursor !== null; ) {
        const page: Page = await client.search({ ...query, cursor })
        yield page
        cursor = page.next_cursor
        left -= page.articles.length
      }
    },
    async *articles(query, { maxItems = Number.POSITIVE_INFINITY } = {}) {
      let left = maxItems
      for await (const page of client.pages(query, { maxItems })) {
        yield* page.articles.slice(0, left)
        left -= page.articles.length
      }
    },
    poll(query = {}, own = {}) {
      const signals = [options.signal, own.signal].filter(one => one !== undefined)
      return poll(transport, query, { ...own, signal: AbortSignal.any(signals) })
    },
    counts: query => get('/explore/counts', query),
    copies: query => listed('/explore/copies', query),
    related: id => listed('/explore/related', { id }),
    words: (part, query = {}) => get('/explore/words', { ...query, part }),
    coverage: (query = {}) => get('/explore/coverage', query),
    removals: (after = 0) => get('/explore/removals', { after }),
    searches: () => listed(SEARCHES, {}),
    keepSearch: search => changed('POST', SEARCHES, search),
    changeSearch: (id, change) => changed('PATCH', pathOf(id), change),
    removeSearch: id => transport.send('DELETE', pathOf(id)),
    giveFeed: id => changed('PUT', `${pathOf(id)}/feed`),
    endFeed: id => transport.send('DELETE', `${pathOf(id)}/feed`),
    setAlert: (id, terms) => changed('PUT', `${pathOf(id)}/alert`, terms),
    endAlert: id => transport.send('DELETE', `${pathOf(id)}/alert`),
    outletSets: () => listed(SETS, {}),
    putOutletSet: (name, domains) => changed('PUT', setPath(name), { domains }),
    renameOutletSet: (name, to) => changed('PUT', setPath(name), { name: to }),
    removeOutletSet: name => transport.send('DELETE', setPath(name)),
    cite: search => transport.send('POST', '/explore/citations', { search }),
    whatIsNew: marks => changed('POST', `${SEARCHES}/new`, { marks }),
    feed: (query = {}) => get(`${articlesPath(query)}.rss`, query),
    limits: () => transport.limits(),
  }
  return client
}

/** What `/v1` refuses needs a path beside the contract. */
const articlesPath = ({ search, outlets, section, kind, access }: ArticlesQuery): string =>
  search === 'expression' || [outlets, section, kind, access].some(value => value?.length)
    ? '/explore/articles'
    : '/v1/articles'

/** Polls in rounds, by the pattern of the contract. */
async function* poll(
  transport: Transport,
  query: PollQuery,
  { state = null, since, every, signal }: PollOptions = {},
): AsyncGenerator<PollBatch, void, undefined> {
  let now = beginning(query, state, since)
  for (;;) {
    for await (const batch of round(transport, query, now, signal)) {
      now = batch.state
      yield batch
    }
    if (every === undefined) return
    await sleep(every, signal)
  }
}

function beginning(
  query: PollQuery,
  state: PollState | null,
  since: string | Date | undefined,
): PollState {
  if (query.search === 'semantic') {
    throw new PerscopeError(
      'Poll with keyword or boolean search: by meaning, articles are found only hours later.',
    )
  }
  const {
    ingested_after: _,
    sort: _sort,
    order: _order,
    per_page: _perPage,
    ...own
  }: ArticlesQuery = query
  const name = queryString(Object.fromEntries(Object.entries(own).sort())).slice(1)
  if (state !== null && state.query !== name) {
    throw new PerscopeError(
      `The state belongs to another search ("${state.query}"); begin without a state.`,
    )
  }
  const from = since instanceof Date ? since.toISOString() : (since ?? null)
  return state ?? { query: name, ingested_after: from, ids: [], etag: null }
}

/** Yields all articles since the state, up to the last page. Each batch has the state after it. */
async function* round(
  transport: Transport,
  query: PollQuery,
  state: PollState,
  signal: AbortSignal | undefined,
): AsyncGenerator<PollBatch> {
  const question = {
    ...query,
    ingested_after: state.ingested_after,
    sort: 'ingested_at',
    order: 'asc',
    per_page: 100,
  }
  let now = state
  for (
    let cursor: string | null = null, isFirst = true;
    isFirst || cursor !== null;
    isFirst = false
  ) {
    const answer: Answer<Page> = await transport.ask<Page>(
      articlesPath(query),
      { ...question, cursor },
      isFirst ? state.etag : null,
      signal,
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
      // An ETag belongs to one page, so it is stored only when the round had one page.
      yield { articles, state: { ...now, etag: answer.etag } }
    }
  }
}

/** The state after new articles. The next poll gets the articles of the latest time again. */
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
