import type {
  Alert,
  Citation,
  Client,
  ClientOptions,
  Copies,
  Counts,
  GivenFeed,
  KeptSearch,
  Page,
  Related,
  WhatIsNew,
} from './contract.ts'
import { PerscopeError } from './errors.ts'
import { articlesPath, poll } from './poll.ts'
import { createTransport } from './transport.ts'

export type * from './contract.ts'
export * from './errors.ts'

const SEARCHES = '/explore/searches'
const pathOf = (id: string) => `${SEARCHES}/${encodeURIComponent(id)}`

export function createClient(options: ClientOptions): Client {
  const transport = createTransport(options)
  const client: Client = {
    async search(query = {}) {
      return (await transport.ask<Page>(articlesPath(query), query)).body
    },
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
    poll: (query = {}, own = {}) =>
      poll(transport, query, { ...own, ...(own.signal || !options.signal ? {} : { signal: options.signal }) }),
    async counts(query) {
      return (await transport.ask<Counts>('/explore/counts', query)).body
    },
    copies: async query => (await transport.ask<{ data: Copies[] }>('/explore/copies', query)).body.data,
    related: async id => (await transport.ask<{ data: Related[] | null }>('/explore/related', { id })).body.data,
    searches: async () => (await transport.ask<{ data: KeptSearch[] }>(SEARCHES, {})).body.data,
    keepSearch: async search => (await transport.send<{ data: KeptSearch }>('POST', SEARCHES, search)).data,
    changeSearch: async (id, change) => (await transport.send<{ data: KeptSearch }>('PATCH', pathOf(id), change)).data,
    removeSearch: id => transport.send<void>('DELETE', pathOf(id)),
    giveFeed: async id => (await transport.send<{ data: GivenFeed }>('PUT', `${pathOf(id)}/feed`)).data,
    endFeed: id => transport.send<void>('DELETE', `${pathOf(id)}/feed`),
    setAlert: async (id, terms) => (await transport.send<{ data: Alert }>('PUT', `${pathOf(id)}/alert`, terms)).data,
    endAlert: id => transport.send<void>('DELETE', `${pathOf(id)}/alert`),
    cite: search => transport.send<Citation>('POST', '/explore/citations', { search }),
    whatIsNew: async marks => (await transport.send<{ data: WhatIsNew[] }>('POST', `${SEARCHES}/new`, { marks })).data,
    feed: async (query = {}) => (await transport.ask<string>(`${articlesPath(query)}.rss`, query)).body,
    limits: () => transport.limits(),
  }
  return client
}
