import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { CITED_BY_KEY } from '#shared/desk/citations'
import { revokeKey } from '#shared/plans/keys'
import { holdLock, lockWaits } from '#test/database'
import { read } from '#test/docs/checkout'
import { until } from '#test/fleet'
import { runScript } from '#test/script'
import { type Answered, ask, sent, startTestApi } from './api.ts'

const api = await startTestApi(t, { SERVICE_NAME: 'Nieuws & Co' })
const HOSTILE = ['=1+1', "'=x", '-a;=b', ";'q", '@"comma,";+', "''", 'plain-id']
await api.index([
  ...HOSTILE.map((id, at) => ({
    id,
    title: `Brug <b>${at}</b> "é" ${id}`,
    authors: at % 2 ? ['A, B', '=C'] : [],
  })),
  { id: 'fr', title: 'Brug: le pont', language: 'fr', country: 'BE' },
  { id: 'old', title: 'Brug van vroeger', publishedAt: new Date('2021-01-01T00:00:00Z') },
  {
    id: 'undated',
    title: 'Brug zonder datum',
    publishedAt: null,
    outlet: { name: null, domain: 'dagkoerier.example' },
  },
])
const { secret } = await api.issue()

const cite = (key: string | null, search: unknown, base = api) =>
  base.ask(key, '/explore/citations', sent('POST', { search }))

const sha = (text: string) => createHash('sha256').update(text).digest('hex')

/** The digest by the document, of what `/v1` shows on its pages. */
async function naiveDigest(
  key: string,
  search: string,
  [spelled, countries, first]: [string, string, string],
) {
  const lines: string[] = []
  for (let cursor = ''; ; ) {
    const { json } = await api.ask(key, `/v1/articles?${search}&per_page=2${cursor}`)
    for (const { id, title, outlet, language, country, authors, ...times } of json.articles) {
      const names = authors.map(({ name }: { name: string }) => name)
      const h = sha(JSON.stringify([title, outlet.name, outlet.domain, language, country, names]))
      lines.push([id, times.ingested_at ?? '', times.published_at ?? '', h].join('\t'))
    }
    if (json.next_cursor === null) break
    cursor = `&cursor=${json.next_cursor}`
  }
  const sorted = lines.sort((a, b) => (a.split('\t')[0]! < b.split('\t')[0]! ? -1 : 1))
  return sha(
    ['perscope-citation/1', spelled, countries, first, ...sorted].map(line => `${line}\n`).join(''),
  )
}

const START = '2020-01-01T00:00:00.000Z'

t.test('the address of a citation is the digest that docs/citations.md defines', async t => {
  for (const [search, spelled, countries, first] of [
    ['q=brug', 'q=brug', 'NL,BE,LU', START],
    ['', '', 'NL,BE,LU', START],
    ['per_page=3&q=brug&order=desc&search=keyword', 'q=brug', 'NL,BE,LU', START],
    ['country=BE,NL&q=brug', 'q=brug&country=NL%2CBE', '', START],
    ['q=brug&published_after=2021-06-01', 'q=brug&published_after=2021-06-01', 'NL,BE,LU', ''],
    ['q=caf%C3%A9&search=boolean&published_before=2020-02-02', undefined, 'NL,BE,LU', START],
    ['sort=ingested_at&order=asc', 'sort=ingested_at&order=asc', 'NL,BE,LU', START],
  ] as const) {
    const made = await cite(secret, search)
    const written = spelled ?? 'search=boolean&q=caf%C3%A9&published_before=2020-02-02'
    t.equal(made.status, 201 - (search.startsWith('per_page') ? 1 : 0), search)
    t.equal(made.json.search, spelled ?? made.json.search)
    const asked = search.replace(/per_page=3&/, '')
    t.equal(
      made.json.digest,
      await naiveDigest(secret, asked, [made.json.search, countries, first]),
      written,
    )
    t.equal(made.json.address, `/cite/${made.json.digest}`)
    t.equal(made.headers.get('location'), made.json.address)
    t.strictSame((await cite(secret, search)).json, made.json)
  }
})

t.test(
  'another key with the same bounds has the same address; bounds that the search names do not count',
  async t => {
    const other = await api.issue({
      countries: ['NL', 'BE'],
      history: { kind: 'fixed', at: new Date('2021-03-01') },
    })
    const narrow = 'country=NL&published_after=2021-06-01&q=brug'
    const mine = await cite(secret, narrow)
    const theirs = await cite(other.secret, narrow)
    t.same([mine.status, theirs.status, theirs.json.address], [201, 200, mine.json.address])
    const wide = await cite(secret, 'q=brug')
    const less = await cite(other.secret, 'q=brug')
    t.not(wide.json.address, less.json.address)
    t.equal(less.json.count, wide.json.count - 1)
    t.strictSame(less.json.reach, { countries: ['NL', 'BE'], since: '2021-03-01T00:00:00.000Z' })
    const { rows } = await api.pool.query(
      'select count(*)::int as n from citations where key_id = $1',
      [other.key.id],
    )
    t.equal(rows[0].n, 1, 'only the first citing counts')
  },
)

const file = async (address: string, format: string, key = secret): Promise<Answered> =>
  api.ask(key, `${address}.${format}`)

t.test('a citation keeps the rules of its time', async t => {
  const { address, digest, count } = (await cite(secret, 'q=brug&country=NL')).json
  await api.pool.query("update citations set search = $2 where digest = decode($1, 'hex')", [
    digest,
    'search=expression&q=brug+NEAR+dicht&country=NL',
  ])
  for (const format of ['json', 'csv', 'bib', 'ris']) {
    const { status, text } = await file(address, format)
    t.equal(status, 200, `${format}: ${text.slice(0, 200)}`)
  }
  t.equal((await file(address, 'json')).json.articles?.length ?? count, count)
  t.match((await cite(secret, 'search=expression&q=brug+NEAR+dicht')).json.errors, {
    q: [/NEAR\/1 to NEAR\/50/],
  })
})

t.test(
  'the Python of the document recomputes the digest from the CSV, whatever the ids are',
  async t => {
    const python = /```python\n(.*?)```/s.exec(read('docs/citations.md'))![1]!
    t.ok(python.trim().split('\n').length <= 40)
    const folder = t.testdir({ 'verify.py': python })
    const verified = async (csv: string) => {
      await writeFile(join(folder, 'cited.csv'), csv)
      const files = [join(folder, 'verify.py'), join(folder, 'cited.csv')]
      const { status, stdout } = spawnSync('python3', files, { encoding: 'utf8' })
      return { code: status, out: stdout }
    }
    const { address, digest, count } = (await cite(secret, 'q=brug')).json
    const csv = await file(address, 'csv')
    t.match(
      csv.headers.get('content-disposition'),
      /^attachment; filename=perscope-[0-9a-f]{12}\.csv$/,
    )
    t.strictSame(await verified(csv.text), { code: 0, out: `${digest} equal\n` })
    for (const cell of csv.text.split(/[,;\r\n]/))
      t.notMatch(cell, /^"?[=+@-]/, 'no cell is a formula')
    for (const [from, to] of [
      ['Brug: le pont', 'Brug: le port'],
      ['A, B; ', 'A, C; '],
      [',dagkoerier.example', ',other.example'],
      [/""Brug: le pont""/, '""Brug: le port""'],
      [/"\[""Brug: le pont"".*\]"/, ''],
    ] as const) {
      const forged = csv.text.replace(from, to)
      t.not(forged, csv.text, `${from}`)
      t.match(await verified(forged), { code: 1, out: /differs.*is not what h/s }, `${from}`)
    }
    const [head, ...records] = csv.text.trimEnd().split('\r\n')
    t.equal(records.length, count)
    t.strictSame(await verified([head, ...records.reverse(), ''].join('\r\n')), {
      code: 0,
      out: `${digest} equal\n`,
    })
    t.equal((await verified([head, ...records.slice(1), ''].join('\r\n'))).code, 1)
    t.equal((await verified(csv.text.replace(/2021-01-01T00/, '2021-01-01T01'))).code, 1)
    const empty = (await cite(secret, 'q=nergens')).json
    t.equal(
      (await verified((await file(empty.address, 'csv')).text)).out,
      `${empty.digest} equal\n`,
    )
    const less = await api.issue({ countries: ['BE'] })
    const part = await verified((await file(address, 'csv', less.secret)).text)
    t.same([part.code, / differs; 9 articles are not in the file/.test(part.out)], [1, true])
  },
)

t.test(
  'files have the articles of the citation that the plan covers, and count the others (decision 46)',
  async t => {
    const { address, count } = (await cite(secret, 'q=brug')).json
    const { json } = await file(address, 'json')
    const shown = (await api.ask(secret, '/v1/articles?q=brug&per_page=100')).json.articles
    const byId = (articles: { id: string }[]) => articles.toSorted((a, b) => (a.id < b.id ? -1 : 1))
    t.same([json.count, json.outside], [count, 0])
    t.strictSame(byId(json.articles), byId(shown))
    await api.index([{ id: 'later', title: 'Brug van later' }])
    t.strictSame((await file(address, 'json')).json, json, 'what comes later is not in it')
    const less = await api.issue({
      countries: ['NL'],
      history: { kind: 'fixed', at: new Date('2022-01-01') },
    })
    const part = (await file(address, 'json', less.secret)).json
    t.same([part.outside, part.articles.length], [2, count - 2])
    const none = await api.issue({ countries: ['LU'] })
    t.same((await file(address, 'json', none.secret)).json.articles, [])
    const answered = await file(address, 'bib')
    t.equal(answered.headers.get('content-type'), 'application/x-bibtex; charset=utf-8')
    const bib = answered.text
    t.equal(bib.match(/^@misc\{[\w.:-]+,$/gm)?.length, count)
    t.match(bib, /author = \{\{A, B\} and \{=C\}\}/)
    const ris = (await file(address, 'ris')).text
    t.equal(ris.match(/^TY {2}- NEWS\r$/gm)?.length, count)
    t.equal(ris.match(/^ER {2}- \r$/gm)?.length, count)
    for (const format of ['json', 'csv', 'bib', 'ris']) {
      t.equal((await api.ask(null, `${address}.${format}`)).status, 401)
      t.equal((await api.ask(secret, `${address}.${format}?q=a`)).status, 422)
      t.equal((await api.ask(secret, `/cite/${'0'.repeat(64)}.${format}`)).status, 404)
      const head = await api.ask(secret, `${address}.${format}`, { method: 'HEAD' })
      t.same([head.status, head.text], [200, ''])
    }
  },
)

t.test('the page is open: search, date, count, digest, and how to cite', async t => {
  const { address, url, digest, count, cited_at } = (
    await cite(secret, 'q=brug&outlet=%3C%2Fscript%3E')
  ).json
  const page = await api.ask(null, address)
  t.equal(page.status, 200)
  t.match(page.headers.get('content-security-policy'), /script-src 'self'/)
  const block = (type: string) =>
    JSON.parse(new RegExp(`<script type="${type}">(.*?)</script>`, 's').exec(page.text)![1]!)
  t.match(block('application/ld\\+json'), {
    '@type': 'Dataset',
    '@id': url,
    dateCreated: cited_at,
    version: digest,
  })
  const data = block('application/json')
  t.match(data, { digest, count, search: 'q=brug&outlet=%3C%2Fscript%3E' })
  for (const text of [data.line, data.bibtex, data.ris]) t.match(text, url)
  t.match(
    data.bibtex,
    /^@misc\{perscope-[0-9a-f]{12},\n {2}title = \{\{0 articles of the search “brug”, outlets named “</,
  )
  t.equal((await api.ask(null, `/cite/${'f'.repeat(64)}`)).json.code, 'not_found')
  const html = { headers: { Accept: 'text/html' } }
  const none = await api.ask(null, `/cite/${'f'.repeat(64)}`, html)
  t.same([none.status, none.headers.get('content-type')], [404, 'text/html; charset=utf-8'])
  t.equal((await api.ask(null, `${address}?a=1`)).status, 422)
  t.equal((await api.ask(secret, address, { method: 'DELETE' })).status, 405)
})

t.test('who opens many pages of citations takes nothing from those who have a key', async t => {
  const { address } = (await cite(secret, 'q=brug&outlet=none')).json
  const { base } = await api.another({ DATABASE_POOL: '4' })
  const known = () =>
    ask(`${base}/explore/limits`, secret, { signal: AbortSignal.timeout(2_000) })
      .then(({ status }) => status)
      .catch(() => null)
  t.equal(await known(), 200, 'this process has admitted the key lately')
  const release = await holdLock(api.pool, 'lock table tombstones in access exclusive mode')
  const pages = Array.from({ length: 20 }, () => ask(`${base}${address}`, null))
  await until(async () => (await lockWaits(api.pool)) > 0, 5_000)
  t.equal(await known(), 200)
  await release()
  await Promise.all(pages)
})

t.test('a citation outlives its key (decision 47)', async t => {
  const { secret: leaves, key } = await api.issue()
  const { address } = (await cite(leaves, 'q=brug&outlet=dagkoerier')).json
  const before = (await file(address, 'json')).json
  t.ok(before.count > 0)
  await revokeKey(api.pool, key.id)
  t.equal((await file(address, 'json', leaves)).status, 401)
  t.strictSame((await file(address, 'json')).json, before)
})

t.test('what was read of other articles is not cited', async t => {
  const rename = (from: string, to: string) =>
    api.pool.query('update articles set id = $2 where id = $1', [from, to])
  await rename('fr', 'other')
  const { status, json, headers } = await cite(secret, 'q=pont')
  t.same([status, json.code, headers.get('retry-after')], [503, 'service_unavailable', '30'])
  await rename('other', 'fr')
  t.equal((await cite(secret, 'q=pont')).status, 201)
})

t.test('what is refused', async t => {
  const { key, secret: own } = await api.issue({ countries: ['NL'], quota: 4 })
  for (const [search, status] of [
    [undefined, 422],
    [1, 422],
    ['limit=1', 422],
    ['cursor=abc', 422],
    ['q=a&q=b', 422],
    ['country=BE', 403],
    ['published_after=2019-01-01', 403],
    ['\ud800', 422],
  ] as const)
    t.equal((await cite(own, search)).status, status, JSON.stringify(search))
  t.ok((await cite(own, undefined)).json.errors.search[0])
  t.equal((await api.ask(own, '/explore/citations')).status, 405)
  t.equal((await cite(null, '')).status, 401)
  t.equal((await cite(own, 'q=vroeger')).status, 201)
  await api.pool.query(
    `insert into citations select sha256(n::text::bytea), $1, '', countries, since, watermark, as_of, rules, model, bias,
       cited_at, 0, '{}', '{}' from generate_series(2, $2::int) n, (select * from citations limit 1) c`,
    [key.id, CITED_BY_KEY.citations],
  )
  t.equal((await cite(own, 'q=vroeger')).status, 200, 'one that exists is found')
  t.equal((await cite(own, 'q=pont')).json.code, 'too_many_citations')
  t.equal((await file((await cite(own, 'q=vroeger')).json.address, 'json', own)).status, 200)
  t.equal((await cite(own, 'q=vroeger')).json.code, 'quota_exceeded')
})

t.test('a key cites so many articles in all; what an operator removes counts no more', async t => {
  const { secret: own, key } = await api.issue()
  const another = await api.another()
  const made = (await cite(own, 'q=zonder')).json
  t.equal(made.count, 1)
  const articles = async (count: number) =>
    api.pool.query('update citations set articles = $2 where key_id = $1', [key.id, count])
  await articles(CITED_BY_KEY.articles)
  const refused = await cite(own, 'q=zonder&country=NL')
  t.match(refused, { status: 409, json: { code: 'too_many_citations' } })
  t.match(refused.json.message, /may cite 5000000 articles; this one has cited 5000000/)
  t.same((await api.ask(own, '/explore/limits')).json.data.citations, CITED_BY_KEY)
  await articles(1)

  const env = { DATABASE_URL: api.config.DATABASE_URL }
  const page = (base = api.base) =>
    ask(base + made.address, null, { headers: { Accept: 'text/html' } })
  t.notMatch((await page()).text, /has ended/)
  t.equal((await page(another.base)).status, 200)
  t.match(await runScript('cite', ['remove', 'x'], env), { code: 2, err: /no such citation/ })
  const { out } = await runScript('cite', ['remove', made.url, '--json'], env)
  t.match(JSON.parse(out), { digest: made.digest, removed_at: /^20/ })
  for (const base of [api.base, another.base]) {
    t.match(await page(base), { status: 404, text: /An operator removed this citation on 20/ })
    t.match(await ask(`${base}${made.address}.csv`, own), { status: 404, text: /operator removed/ })
  }
  const verified = await runScript('cite', ['verify', made.digest, '--json'], env)
  t.match(verified, { code: 2, out: /"verdict":"cannot be recomputed","differences":\[\]/ })
  const left = 'select search, seqs, marks from citations where removed_at is not null'
  t.same((await api.pool.query(left)).rows, [{ search: '', seqs: [], marks: [] }])
  const listed = JSON.parse((await runScript('keys', ['list'], env)).out)
  const mine = () => listed.find((one: { id: string }) => one.id === key.id)
  t.match(mine(), { citations: 0, cited_articles: 0 })

  const again = await cite(own, 'q=zonder')
  t.match(again, { status: 201, json: { digest: made.digest, count: 1 } })
  await revokeKey(api.pool, key.id)
  t.match(await page(), { status: 200, text: /The key that made it has ended/ })
})

t.test(
  'two citings at once, in two processes, with writers beside: one row, and one 201',
  async t => {
    const other = await api.another()
    const second = {
      ...api,
      ask: (key: string | null, path: string, init?: RequestInit) =>
        ask(`${other.base}${path}`, key, init),
    }
    const keys = [secret, (await api.issue()).secret]
    const writing = (async () => {
      for (let n = 0; n < 20; n++) await api.index([{ title: `Sluis ${n}` }])
    })()
    const citings = Array.from({ length: 24 }, (_, n) =>
      cite(keys[n % 2]!, 'q=sluis', n % 3 === 0 ? second : api),
    )
    const made = (await Promise.all(citings)).concat(await Promise.all([cite(secret, 'q=sluis')]))
    await writing
    const byAddress = Map.groupBy(made, ({ json }) => json.address)
    for (const [address, citings] of byAddress) {
      t.equal(citings.filter(({ status }) => status === 201).length, 1, address)
      const { json } = await api.ask(keys[1]!, `${address}.json`)
      const numbers = json.articles.map(({ title }: { title: string }) => Number(title.slice(6)))
      t.strictSame(numbers, [...numbers.keys()], 'all up to a moment, and nothing after it')
    }
    const { rows } = await api.pool.query(
      "select count(*)::int as n from citations where search = 'q=sluis'",
    )
    t.equal(rows[0].n, byAddress.size)
  },
)
