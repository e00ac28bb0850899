import { request as httpRequest, type RequestOptions } from 'node:http'
import t from 'tap'
import { startTestApi, type TestApi } from './api.ts'
import WRITTEN from './headers.json' with { type: 'json' }

/*
 * One request for each kind of answer stands in `headers.json`, with the headers that it must have,
 * in this order: some use up what the next one finds. The counters (decision 4) tell what each
 * costs (decision 5).
 */

const open = await startTestApi(t, {
  CORS_ORIGINS: 'https://reader.example',
  AUTH_LOCK_FAILURES: '3',
  TRUST_PROXY: '1',
})
const closed = await startTestApi(t, {
  AUTH_LOCK_FAILURES: '3',
  TRUST_PROXY: '1',
  PUBLIC_URL: 'http://news.example',
})

/** Name and value of every header in the order of the alphabet, as the server wrote them. */
function headersOf(
  api: TestApi,
  { method = 'GET', path = '/v1/articles', headers = {} }: RequestOptions,
): Promise<{ status: number; headers: string[] }> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(`${api.base}${path}`, { method, headers }, response => {
      response.resume()
      const lines: string[] = []
      for (let at = 0; at < response.rawHeaders.length; at += 2) {
        lines.push(
          `${response.rawHeaders[at]}: ${steady(response.rawHeaders[at]!, response.rawHeaders[at + 1]!)}`,
        )
      }
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: lines.sort() }))
    })
    request.on('error', reject).end()
  })
}

/** Values that differ from run to run become their form. */
const STEADY: Record<string, [form: RegExp, name: string]> = {
  Date: [/^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/, 'DATE'],
  'X-Request-Id': [/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, 'UUID'],
  ETag: [/^W\/"[\w-]{27}"$/, 'ETAG'],
  'X-Quota-Reset': [/^\d+$/, 'NUMBER'],
  'Retry-After': [/^\d+$/, 'NUMBER'],
  'X-Quota-Period': [/^\d{4}-\d\d$/, 'MONTH'],
  'Content-Length': [/^\d+$/, 'NUMBER'],
}
const steady = (name: string, value: string) => value.replace(...(STEADY[name] ?? [/^$/, '']))

for (const [name, api] of Object.entries({ open, closed })) {
  t.test(
    `the headers of every kind of answer, byte for byte: CORS ${name === 'open' ? 'on' : 'off'}`,
    async t => {
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
      for (const { title, key, ...asked } of WRITTEN.requests) {
        const authorization = key === undefined ? {} : { authorization: `Bearer ${keys[key]}` }
        const found = await headersOf(api, {
          ...asked,
          headers: { ...asked.headers, ...authorization },
        })
        const expected = [...WRITTEN.everyAnswer, ...(written[title] ?? [])]
        t.strictSame([`${found.status}`, ...found.headers].sort(), expected.sort(), title)
      }
    },
  )
}
