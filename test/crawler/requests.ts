import { type FetchedResponse, request } from '#services/crawler/fetch/request'
import { RequestFailure } from '#services/crawler/fetch/request-failure'

type Limits = Partial<Parameters<typeof request>[3]>

export interface Requests {
  get(url: string, limits?: Limits): Promise<FetchedResponse>
  /** The kind of failure that a request ends in; the status of one that does not fail. */
  failing(url: string, limits?: Limits): Promise<unknown>
}

/** Makes requests of the crawler on these connections. */
export function requests(connect: Parameters<typeof request>[2], timeout: number): Requests {
  const get = (url: string, limits: Limits = {}): Promise<FetchedResponse> =>
    request(new URL(url), { 'user-agent': 'test' }, connect, {
      timeout,
      maxBytes: 100_000,
      signal: new AbortController().signal,
      wanted: () => true,
      ...limits,
    })
  const failing = (url: string, limits?: Limits): Promise<unknown> =>
    get(url, limits).then(
      ({ status }) => status,
      (error: unknown) => (error instanceof RequestFailure ? error.kind : error),
    )
  return { get, failing }
}
