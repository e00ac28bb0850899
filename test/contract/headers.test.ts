import { request as httpRequest } from 'node:http'
import t from 'tap'
import { startTestApi, type TestApi } from './api.ts'
import WRITTEN from './headers.json' with { type: 'json' }
import { ANSWERS } from './headers.ts'

const open = await startTestApi(t, {
  CORS_ORIGINS: 'https://reader.example',
  AUTH_LOCK_FAILURES: '3',
  TRUST_PROXY: '1',
})
const closed = await startTestApi(t, { AUTH_LOCK_FAILURES: '3', TRUST_PROXY: '1', PUBLIC_URL: 'http://news.example' })

/** Name and value of every header in the order of the alphabet, as the server wrote them. */
function headersOf(
  api: TestApi,
  { method = 'GET', path, headers = {} }: { method?: string; path: string; headers?: Record<string, string> },
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
    const plain = await api.issue()
    const counted = await api.issue({ quota: 100 })
    const spent = await api.issue({ quota: 0 })
    const narrow = await api.issue({ rate: 1 })
    await headersOf(api, { path: '/v1/articles', headers: { authorization: `Bearer ${narrow.secret}` } })
    await api.index([{ title: 'Een brug', body: 'Over de brug. '.repeat(200) }])
    const keys: Record<string, string> = {
      plain: plain.secret,
      counted: counted.secret,
      spent: spent.secret,
      narrow: narrow.secret,
      wrong: 'wrong',
    }
    const written: Record<string, string[]> = WRITTEN[name === 'open' ? 'corsOn' : 'corsOff']
    for (const { title, key, ...asked } of ANSWERS) {
      const authorization = key === undefined ? {} : { authorization: `Bearer ${keys[key]}` }
      const found = await headersOf(api, { ...asked, headers: { ...asked.headers, ...authorization } })
      const expected = [...WRITTEN.everyAnswer, ...(written[title] ?? [])]
      t.strictSame([`${found.status}`, ...found.headers].sort(), expected.sort(), title)
    }
  })
}
