import type { Client, ClientOptions, Counts, Page } from './contract.ts'
import { poll } from './poll.ts'
import { createTransport } from './transport.ts'

export type * from './contract.ts'
export * from './errors.ts'

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
