import { type FetchedResponse, request } from '../../services/crawler/fetch/request.ts'
import { RequestFailure } from '../../services/crawler/fetch/request-failure.ts'

type Limits = Partial<Parameters<typeof request>[3]>

/** Makes requests of the crawler on these connections. */
export function requests(connect: Parameters<typeof request>[2], timeout: number) {
  const get = (url: string, limits: Limits = {}): Promise<FetchedResponse> =>
    request(new URL(url), { 'user-agent': 'test' }, connect, {
      timeout,
      maxBytes: 100_000,
      signal: new AbortController().signal,
      wanted: () => true,
      ...limits,
    })
  /** The kind of failure that a request ends in; the status of one that does not fail. */
  const failing = (url: string, limits?: Limits): Promise<unknown> =>
    get(url, limits).then(
      ({ status }) => status,
      (error: unknown) => (error instanceof RequestFailure ? error.kind : error),
    )
  return { get, failing }
}
