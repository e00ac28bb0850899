import { request as httpRequest } from 'node:http'
import t from 'tap'
import { startTestApi, type TestApi } from './api.ts'
import WRITTEN from './headers.json' with { type: 'json' }

/** A request whose answer's headers are written down in `headers.json` under its title. */
interface Asked {
  title: string
  /** One of the keys below. */
  key?: string
  method?: string
  /** Absent: the list of articles. */
  path?: string
  headers?: Record<string, string>
}

const FEED = '/v1/articles.rss'
const GZIP = { 'accept-encoding': 'gzip' }
const READER = { origin: 'https://reader.example' }
const OTHER = { origin: 'https://other.example' }
const KNOWN = { 'if-none-match': '*' }
const LOCKED = { 'x-forwarded-for': '192.0.2.10' }
const PREFLIGHT = { 'access-control-request-method': 'GET', 'x-forwarded-for': '192.0.2.11' }

/**
 * One request for each kind of answer, in this order: some use up what the next one finds. The
 * counters (decision 4) tell what each costs (decision 5).
 */
const ANSWERS: Asked[] = [
  { title: 'a page', key: 'plain' },
  { title: 'a page, by HEAD', key: 'plain', method: 'HEAD' },
  { title: 'a page of a key with a quota', key: 'counted' },
  { title: 'a page, compressed', key: 'plain', headers: GZIP },
  { title: 'a page, compressed, by HEAD', key: 'plain', method: 'HEAD', headers: GZIP },
  { title: 'a feed', key: 'plain', path: FEED },
  {
    title: 'a feed of a key with a quota, compressed',
    key: 'counted',
    path: FEED,
    headers: { 'accept-encoding': 'br' },
  },
  { title: 'a page for a page of an allowed origin', key: 'plain', headers: READER },
  { title: 'a page for a page of another origin', key: 'plain', headers: OTHER },
  { title: 'a page that has not changed', key: 'plain', headers: KNOWN },
  { title: 'a page that has not changed, with a quota', key: 'counted', headers: { ...KNOWN, ...READER } },
  { title: 'a feed that has not changed', key: 'plain', path: FEED, headers: KNOWN },
  { title: 'the name of the request is kept', key: 'plain', headers: { 'x-request-id': 'abc' } },
  { title: 'no key', headers: { 'x-forwarded-for': '192.0.2.9' } },
  { title: 'a first wrong key', key: 'wrong', headers: LOCKED },
  { title: 'a second wrong key', key: 'wrong', headers: LOCKED },
  { title: 'a wrong key that locks', key: 'wrong', headers: LOCKED },
  { title: 'a locked address', key: 'wrong', headers: LOCKED },
  { title: 'a locked address without a key', headers: LOCKED },
  { title: 'a used-up minute', key: 'narrow' },
  { title: 'a used-up minute, for a page of an allowed origin', key: 'narrow', path: FEED, headers: READER },
  { title: 'a used-up month', key: 'spent' },
  { title: 'a wrong parameter', key: 'counted', path: '/v1/articles?foo=1' },
  {
    title: 'a wrong parameter, by HEAD, compressed',
    key: 'counted',
    method: 'HEAD',
    path: '/v1/articles?foo=1',
    headers: GZIP,
  },
  { title: 'a wrong cursor of the feed', key: 'plain', path: '/v1/articles.rss?cursor=x' },
  { title: 'a time before the history of the plan', key: 'plain', path: '/v1/articles?published_after=2000-01-01' },
  { title: 'semantic search without a model', key: 'counted', path: '/v1/articles?search=semantic&q=brug' },
  { title: 'another path', key: 'counted', path: '/v1/nothing' },
  { title: 'the path with a slash more', key: 'plain', path: '/v1/articles/' },
  { title: 'the path in capitals', key: 'plain', path: '/v1/Articles' },
  { title: 'another method', key: 'counted', method: 'POST' },
  { title: 'another method of the feed', key: 'plain', method: 'DELETE', path: FEED },
  { title: 'OPTIONS', key: 'plain', method: 'OPTIONS' },
  { title: 'OPTIONS without a key', method: 'OPTIONS', headers: { 'x-forwarded-for': '192.0.2.11' } },
  { title: 'a preflight', method: 'OPTIONS', headers: { ...READER, ...PREFLIGHT } },
  { title: 'a preflight of a page of another origin', method: 'OPTIONS', headers: { ...OTHER, ...PREFLIGHT } },
  { title: 'counts', key: 'counted', path: '/explore/counts?by=day' },
  { title: 'suggestions', key: 'counted', path: '/explore/suggestions?field=outlet&text=dag' },
  { title: 'health', path: '/healthz' },
  { title: 'the document', path: '/v1/openapi.json', headers: GZIP },
]

const open = await startTestApi(t, {
  CORS_ORIGINS: 'https://reader.example',
  AUTH_LOCK_FAILURES: '3',
  TRUST_PROXY: '1',
})
const closed = await startTestApi(t, { AUTH_LOCK_FAILURES: '3', TRUST_PROXY: '1', PUBLIC_URL: 'http://news.example' })

/** Name and value of every header in the order of the alphabet, as the server wrote them. */
function headersOf(
  api: TestApi,
  { method = 'GET', path = '/v1/articles', headers = {} }: Omit<Asked, 'title' | 'key'>,
): Promise<{ status: number; headers: string[] }> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(`${api.base}${path}`, { method, headers }, response => {
      response.resume()
      const lines: string[] = []
      for (let at = 0; at < response.rawHeaders.length; at += 2) {
        lines.push(`${response.rawHeaders[at]}: ${steady(response.rawHeaders[at]!, response.rawHeaders[at + 1]!)}`)
      }
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: lines.sort() }))
    })
    request.on('error', reject).end()
  })
}

/** Values that differ from run to run become their form. */
function steady(name: string, value: string): string {
  if (name === 'Date') return value.replace(/^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/, 'DATE')
  if (name === 'X-Request-Id') return value.replace(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, 'UUID')
  if (name === 'ETag') return value.replace(/^W\/"[\w-]{27}"$/, 'ETAG')
  if (name === 'X-Quota-Reset' || name === 'Retry-After') return value.replace(/^\d+$/, 'NUMBER')
  if (name === 'X-Quota-Period') return value.replace(/^\d{4}-\d\d$/, 'MONTH')
  if (name === 'Content-Length') return value.replace(/^\d+$/, 'NUMBER')
  return value
}

for (const [name, api] of Object.entries({ open, closed })) {
  t.test(`the headers of every kind of answer, byte for byte: CORS ${name === 'open' ? 'on' : 'off'}`, async t => {
    const keys: Record<string, string> = { wrong: 'wrong' }
    for (const [key, plan] of Object.entries({
      plain: {},
      counted: { quota: 100 },
      spent: { quota: 0 },
      narrow: { rate: 1 },
    }))
      keys[key] = (await api.issue(plan)).secret
    await api.ask(keys.narrow ?? '', '/v1/articles')
    await api.index([{ title: 'Een brug', body: 'Over de brug. '.repeat(200) }])
    const written: Record<string, string[]> = WRITTEN[name === 'open' ? 'corsOn' : 'corsOff']
    for (const { title, key, ...asked } of ANSWERS) {
      const authorization = key === undefined ? {} : { authorization: `Bearer ${keys[key]}` }
      const found = await headersOf(api, { ...asked, headers: { ...asked.headers, ...authorization } })
      const expected = [...WRITTEN.everyAnswer, ...(written[title] ?? [])]
      t.strictSame([`${found.status}`, ...found.headers].sort(), expected.sort(), title)
    }
  })
}
