import type { Article, ArticlesParameters, ArticlesQuery, Counts, CountsQuery, Page } from './contract.ts'
import { type PollBatch, type PollOptions, type PollQuery, poll } from './poll.ts'
import { type ClientOptions, createTransport, type Limits } from './transport.ts'

export type * from './contract.ts'
export * from './errors.ts'
export type { PollBatch, PollOptions, PollQuery, PollState } from './poll.ts'
export type { ClientOptions, Limits } from './transport.ts'

/** A client of one API with one key. All methods throw `PerscopeError`s, or the signal's reason. */
export interface Client {
  /** One page; `cursor` is the `next_cursor` of the page before. */
  search(query?: ArticlesParameters): Promise<Page>
  /** All pages of a search, in order, one request each. */
  pages(query?: ArticlesQuery): AsyncGenerator<Page, void, undefined>
  /** The articles of all pages. */
  articles(query?: ArticlesQuery): AsyncGenerator<Article, void, undefined>
  /** Articles as they become visible, each once; see `PollBatch`. */
  poll(query?: PollQuery, options?: PollOptions): AsyncGenerator<PollBatch, void, undefined>
  /** How many articles a search finds, by time or by a property. */
  counts(query: CountsQuery): Promise<Counts>
  /** The RSS 2.0 text of a search. */
  feed(query?: ArticlesQuery): Promise<string>
  /** The counters of the last answer that had some. */
  limits(): Limits | null
}

export function createClient(options: ClientOptions): Client {
  const transport = createTransport(options)
  const client: Client = {
    async search(query = {}) {
      const page: Page = JSON.parse((await transport.ask('/v1/articles', query)).text)
      return page
    },
    async *pages(query = {}) {
      for (let cursor: string | null | undefined; cursor !== null; ) {
        const page: Page = await client.search({ ...query, cursor })
        yield page
        cursor = page.next_cursor
      }
    },
    async *articles(query) {
      for await (const page of client.pages(query)) yield* page.articles
    },
    poll: (query = {}, own = {}) =>
      poll(transport, query, { ...own, ...(own.signal || !options.signal ? {} : { signal: options.signal }) }),
    async counts(query) {
      const counts: Counts = JSON.parse((await transport.ask('/explore/counts', query)).text)
      return counts
    },
    feed: async (query = {}) => (await transport.ask('/v1/articles.rss', query)).text,
    limits: () => transport.limits(),
  }
  return client
}
