import t from 'tap'
import { startTestApi } from './api.ts'

const api = await startTestApi(t)
const { secret } = await api.issue()
await api.index(
  Array.from({ length: 30 }, (_, i) => ({
    title: `Artikel nummer ${i} over "de brug" <&> \u2028 😀`,
    body: 'Wat er verder te zeggen valt. '.repeat(5),
    authors: ['Anna de Wit'],
  })),
)

/** An answer in a coding, and its text without it. */
async function read(
  path: string,
  coding: string,
  more: Record<string, string> = {},
  method = 'GET',
) {
  const asked = { method, headers: { 'Accept-Encoding': coding, ...more } }
  const { status, headers, text } = await api.ask(secret, path, asked)
  const encoding = headers.get('content-encoding')
  const length = headers.get('content-length')
  return { status, encoding, etag: headers.get('etag'), length, text }
}

const PATHS = ['/v1/articles?q=brug', '/v1/articles.rss?q=brug', '/v1/articles?q=brug&per_page=5']

t.test(
  'decision 8: every coding holds the same answer under the same ETag, made anew and kept',
  async t => {
    for (const path of PATHS) {
      const plain = await read(path, 'identity')
      t.match(plain, { status: 200, encoding: null, length: String(Buffer.byteLength(plain.text)) })
      for (const coding of ['br', 'gzip']) {
        const all = await Promise.all(Array.from({ length: 20 }, () => read(path, coding)))
        for (const answer of [...all, await read(path, coding)]) {
          t.strictSame(answer, { ...plain, encoding: coding, length: null }, `${coding} of ${path}`)
        }
        const head = await read(path, coding, {}, 'HEAD')
        t.strictSame(head, {
          status: 200,
          etag: plain.etag,
          encoding: null,
          length: null,
          text: '',
        })
        t.match(await read(path, coding, { 'If-None-Match': plain.etag ?? '' }), {
          status: 304,
          text: '',
        })
      }
    }
  },
)

t.test('a file is compressed once, for all who ask', async t => {
  for (const path of ['/docs/agents.md', '/v1/openapi.json']) {
    const plain = await read(path, 'identity')
    t.match(plain, { status: 200, encoding: null, length: String(Buffer.byteLength(plain.text)) })
    t.strictSame(await read(path, 'deflate'), plain, 'a coding that is not kept')
    for (const coding of ['br', 'gzip']) {
      const answer = await read(path, coding)
      t.match(answer, { encoding: coding, text: plain.text })
      t.ok(Number(answer.length) < Number(plain.length))
    }
  }
})

t.test(
  'decision 8: a kept answer has the cursor of its own page, though its ETag is another one’s too',
  async t => {
    const path = '/v1/articles?q=nummer&per_page=5&order=asc'
    const before = await read(path, 'br')
    // The watermark moves, and so does the cursor; the page stays.
    await api.index([{ title: 'Iets anders' }])
    const after = await read(path, 'br')
    const plain = await read(path, 'identity')
    t.equal(after.etag, before.etag)
    t.not(after.text, before.text)
    t.equal(after.text, plain.text)
  },
)

t.test(
  'decision 8: the ETag is equal in every process and changes with whatever the answer shows',
  async t => {
    const etagsOf = async ({ base }: { base: string }) => {
      const answers = PATHS.map(path =>
        fetch(`${base}${path}`, { headers: { Authorization: `Bearer ${secret}` } }),
      )
      return (await Promise.all(answers)).map(({ headers }) => headers.get('etag'))
    }
    const first = await etagsOf(api)
    t.equal(new Set(first).size, PATHS.length)
    t.strictSame(await etagsOf(await api.another()), first)
    const renamed = await etagsOf(await api.another({ SERVICE_NAME: 'Nieuws' }))
    const isSame = renamed.map((etag, at) => etag === first[at])
    t.strictSame(isSame, [true, false, true], 'the name of the service stands in the feed alone')
    await api.pool.query(`update authors set name = 'Anna de Witte'`)
    const corrected = await etagsOf(await api.another())
    const isOld = corrected.some(etag => first.includes(etag))
    t.notOk(isOld, 'an author has another name')
    await api.index([{ title: 'Nog een brug' }])
    const later = await etagsOf(api)
    const isKept = later.some(etag => first.includes(etag))
    t.notOk(isKept, 'the total and the items have changed')
  },
)

t.test('decision 8: If-None-Match', async t => {
  const of = async (match?: string, path = '/v1/articles?per_page=5') => {
    const { status, text, etag } = await read(
      path,
      'identity',
      match === undefined ? {} : { 'If-None-Match': match },
    )
    return { status, etag, isEmpty: text === '' }
  }
  const { etag } = await of()
  const opaque = `${etag}`.replace(/^W\//, '')
  for (const match of [
    `${etag}`,
    opaque,
    `W/${opaque}`,
    `"other", ${etag}`,
    `"a,b" , ${opaque}`,
    '*',
  ])
    t.strictSame(await of(match), { status: 304, etag, isEmpty: true }, match)
  for (const match of ['"other"', opaque.slice(1, -1), ''])
    t.strictSame(await of(match), { status: 200, etag, isEmpty: false }, match)
  t.match(await of('*', '/v1/articles?foo=1'), { status: 422 }, 'an error is never 304')
})

t.test(
  'decision 8: a well-formed X-Request-Id of the client stays, another is replaced',
  async t => {
    const sent = async (id: string) =>
      (await api.ask(secret, '/v1/articles', { headers: { 'X-Request-Id': id } })).headers.get(
        'x-request-id',
      )
    for (const id of ['abc-123', '0190b2f4-6c3e-7d1a-9f00-0123456789ab', 'a.b:c/d=e+f@g~h_i'])
      t.equal(await sent(id), id)
    for (const id of ['a b', 'x'.repeat(200), '<script>', 'a"b', 'é', ''])
      t.match(await sent(id), /^[0-9a-f-]{36}$/)
  },
)
