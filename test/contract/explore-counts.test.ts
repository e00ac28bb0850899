import { Ajv2020 } from 'ajv/dist/2020.js'
import t from 'tap'
import type { Copies } from '#clients/typescript/src/index'
import { COPIES_SCHEMA } from '#services/api/explore/copies'
import { COUNTS_SCHEMA } from '#services/api/explore/counts'
import { type Bound, boundArticles } from '#shared/articles/bounds'
import { openCopyGroups } from '#shared/copies/pass'
import { transaction } from '#shared/postgres/pool'
import { startTrains } from './api.ts'

const { api, secret, at } = await startTrains(t)
const ajv = new Ajv2020({ strict: false, validateFormats: false })
const isCounts = ajv.compile(COUNTS_SCHEMA)

async function counts(query: string, key = secret) {
  const answer = await api.ask(key, `/explore/counts?${query}`)
  return {
    ...answer,
    data: answer.json?.data?.map(
      (one: { key: string; count: number }) => `${one.key} ${one.count}`,
    ),
  }
}

t.test('counts by time follow the clocks of the time zone', async t => {
  const utc = await counts('by=day&published_after=2026-03-29&published_before=2026-03-31')
  t.equal(utc.status, 200, utc.text)
  t.ok(isCounts(utc.json), JSON.stringify(isCounts.errors))
  t.same(utc.data, ['2026-03-29 2', '2026-03-30 0', '2026-03-31 1'])
  t.match(utc.json, { by: 'day', time_zone: 'UTC', total: 3, other: 0, undated: 0 })
  const brussels = await counts(
    'by=hour&time_zone=europe/brussels&published_after=2026-03-29T00:10:00Z&published_before=2026-03-29T01:59:00Z',
  )
  t.same(brussels.data, ['2026-03-29T01:00:00+01:00 1', '2026-03-29T03:00:00+02:00 1'])
  t.match(brussels.json.data, [
    { from: '2026-03-29T00:10:00.000Z', to: '2026-03-29T00:59:59.999Z' },
    { from: '2026-03-29T01:00:00.000Z', to: '2026-03-29T01:59:00.000Z' },
  ])
  t.equal(brussels.json.time_zone, 'Europe/Brussels')
  t.same((await counts('by=month&time_zone=Europe/Brussels&q=train')).data, [
    '2026-03 0',
    '2026-04 1',
  ])
  t.match((await counts('by=week')).json, {
    total: 4,
    undated: 1,
    data: [{ key: '2026-W13' }, { key: '2026-W14' }],
  })
})

t.test('a bucket’s times, sent as bounds of the search, find its articles', async t => {
  const { json } = await counts('by=day&time_zone=Asia/Kolkata&search_in=title_body')
  for (const { count, from, to } of json.data) {
    const page = await api.ask(
      secret,
      `/v1/articles?search_in=title_body&published_after=${from}&published_before=${to}`,
    )
    t.equal(page.json.total_results, count, `${from} to ${to}`)
  }
})

t.test('counts by outlet, language and country name what they count', async t => {
  t.same((await counts('by=language')).data, ['nl 3', 'fr 1'])
  t.same((await counts('by=country&q=trein')).data, ['NL 3'])
  const { json } = await counts('by=outlet')
  t.ok(isCounts(json), JSON.stringify(isCounts.errors))
  t.match(json.data, [
    { key: 'De Dagkoerier', count: 3, outlet: { domain: 'dagkoerier.example' } },
    { key: 'L’Écho', count: 1, outlet: { domain: 'echo.example' } },
  ])
})

t.test('counts are held to the plan as a search is', async t => {
  const narrow = await api.issue({
    countries: ['BE'],
    history: { kind: 'fixed', at: new Date('2026-01-01T00:00:00Z') },
  })
  t.same((await counts('by=country', narrow.secret)).data, ['BE 1'])
  t.match((await counts('by=country&country=NL', narrow.secret)).json, {
    code: 'country_not_included',
  })
  t.match((await counts('by=day&published_after=2025-12-31', narrow.secret)).json, {
    code: 'history_not_included',
  })
})

t.test('what cannot be counted is refused with a sentence for each parameter', async t => {
  const errors = async (query: string) => {
    const { status, json } = await counts(query)
    t.equal(status, 422, query)
    return json.errors
  }
  t.match(await errors(''), { by: [/Write one of hour, day/] })
  t.match(await errors('by=year'), { by: [/Write one of hour, day/] })
  const none = [/no pages/]
  t.match(await errors('by=day&per_page=10&order=asc&cursor=abc'), {
    per_page: none,
    order: none,
    cursor: none,
  })
  t.match(await errors('by=outlet&time_zone=UTC'), { time_zone: [/Leave it out/] })
  for (const zone of ['Mars/Phobos', '%2B05:30', '../etc', 'x'.repeat(65)]) {
    t.match(await errors(`by=day&time_zone=${zone}`), { time_zone: [/./] }, zone)
  }
  t.match(await errors('by=day&lnguage=nl'), { lnguage: [/did you mean language/] })
  t.match(await errors('by=day&search=semantic'), { q: [/at least 2/] })
  await api.index([{ title: 'Lang geleden', ...at('2020-02-01T00:00:00Z') }])
  t.match(await errors('by=hour'), { by: [/more than 2600 buckets.*by=day.*published_after/] })
  t.equal((await counts('by=semantic&search=semantic&q=trein')).status, 422)
  t.equal((await counts('by=day&search=semantic&q=trein')).status, 503)
})

t.test(
  'counts cost one of the minute and of the month, and answer conditional requests and HEAD',
  async t => {
    const limited = await api.issue({ rate: 50, quota: 5 })
    const ask = (init?: RequestInit) => api.ask(limited.secret, '/explore/counts?by=country', init)
    const first = await ask()
    const etag = first.headers.get('etag')!
    t.equal((await ask({ headers: { 'If-None-Match': etag } })).status, 304)
    const head = await ask({ method: 'HEAD' })
    t.match([head.status, head.text, head.headers.get('etag')], [200, '', etag])
    const free = await api.ask(limited.secret, '/explore/suggestions?field=author&q=jan')
    t.equal(free.headers.get('x-quota-remaining'), '2')
    await ask()
    await ask()
    t.match((await ask()).json, { code: 'quota_exceeded' })
    for (const path of ['matches', 'coverage', 'suggestions?field=author&q=jan']) {
      t.match(
        (await api.ask(limited.secret, `/explore/${path}`)).json,
        { code: 'quota_exceeded' },
        'there is no page',
      )
    }
  },
)

t.test(
  'each bucket of a time is the sum of its parts, as the pages of the same search show',
  async t => {
    for (const then of ['language', 'country', 'outlet']) {
      const { json, text } = await counts(
        `by=day&then=${then}&published_after=2026-03-29&published_before=2026-03-31`,
      )
      t.ok(isCounts(json), text)
      t.match(json, { then, total: 3, undated: 0 })
      const [first, second, third] = json.data
      const keys = {
        language: ['nl', 'fr'],
        country: ['NL', 'BE'],
        outlet: ['De Dagkoerier', 'L’Écho'],
      }[then]
      t.match(first, { count: 2, parts: { data: [{ key: keys?.[0], count: 2 }], other: 0 } })
      t.match(third, { count: 1, parts: { data: [{ key: keys?.[1], count: 1 }], other: 0 } })
      t.same(second.parts, { data: [], other: 0 })
    }
    const { total, undated } = (await counts('by=week')).json
    t.match((await counts('by=week&then=country')).json, { total, undated })
    for (const wrong of [
      'by=outlet&then=country',
      'by=day&then=day',
      'by=day&then=outlet&sort=ingested_at',
    ])
      t.match((await counts(wrong)).json.errors?.then, [String], wrong)
  },
)

t.test(
  'decision 43: copies of a page or an article are those of the plan, in order of ingestion',
  async t => {
    const list = (name: string, from: number, to: number) =>
      Array.from({ length: to - from }, (_, n) => `${name}${from + n}`).join(' ')
    const wire = list('brug', 0, 100)
    const put = async (
      domain: string,
      country: 'NL' | 'BE' | 'LU',
      body: string,
      day = '2026-05-04',
    ) => {
      const url = `https://${domain}/${day}`
      const outlet = { name: domain, domain }
      const agencies = { LU: ['Belga'], NL: [], BE: ['AFP', 'Belga'] }[country]
      await api.index([
        { title: 'Kopie', body, country, url, outlet, agencies, ...at(`${day}T08:00:00Z`) },
      ])
      const { json } = await api.ask(
        secret,
        `/v1/articles?q=kopie&outlet=${domain}&published_after=${day}`,
      )
      return json.articles[0].id as string
    }
    const be = await put('een.example', 'BE', wire)
    const nl = await put(
      'twee.example',
      'NL',
      `${list('brug', 0, 80)} ${list('eigen', 0, 20)}\n\nLees ook: meer`,
    )
    const lu = await put('drie.example', 'LU', `${list('nieuw', 0, 15)} ${list('brug', 15, 100)}`)
    const alone = await put('vier.example', 'NL', list('anders', 0, 70))
    const late = await put('vijf.example', 'NL', wire, '2026-05-12')
    const short = await put('zes.example', 'NL', list('brug', 0, 59))
    const ask = async (query: string, key = secret) =>
      (await api.ask(key, `/explore/copies?${query}`)).json
    t.same(
      (await ask(`id=${nl}`)).data,
      [{ id: nl, first: null, agencies: [], copies: null, own_words: null }],
      'new',
    )
    await openCopyGroups(api.pool).pass(new AbortController().signal)

    const isCopies = ajv.compile(COPIES_SCHEMA)
    const told = async (query: string, key = secret) => {
      const json = await ask(query, key)
      t.ok(isCopies(json), JSON.stringify(isCopies.errors))
      const data: Copies[] = json.data
      return new Map(
        data.map(({ id, first, copies, own_words }) => [
          id,
          [
            first,
            copies?.map(({ article, shared }) => `${article.id} ${shared}`) ?? null,
            own_words,
          ],
        ]),
      )
    }
    const page = await told('q=kopie')
    t.equal(page.size, 6)
    // Of 96 shingles: 76, 81, and of the other two 61 in common.
    t.same(page.get(be), [be, [`${nl} 0.7917`, `${lu} 0.8438`], 0])
    t.same(page.get(nl), [be, [`${be} 0.7917`, `${lu} 0.8438`], 20])
    t.same(page.get(lu), [be, [`${be} 0.8438`, `${nl} 0.7917`], 15])
    for (const id of [alone, late])
      t.same(page.get(id), [id, [], id === alone ? 70 : 100], 'a first one without others')
    t.same(page.get(short), [null, null, null])
    t.same(await told(`id=${lu}`), new Map([[lu, page.get(lu)]]))
    const { json } = await api.ask(secret, '/v1/articles?q=kopie&outlet=twee.example')
    t.same((await ask(`id=${be}`)).data[0].copies[0].article, json.articles[0], 'as in /v1')

    const narrow = await api.issue({ countries: ['NL', 'LU'] })
    t.same(
      (await told(`id=${lu}`, narrow.secret)).get(lu),
      [nl, [`${nl} 0.6354`], 35],
      'the first that it has',
    )
    const agencies = async (id: string, key: string) =>
      (await ask(`id=${id}`, key)).data[0].agencies
    t.same(await agencies(nl, secret), ['AFP', 'Belga'], 'of the group')
    t.same(await agencies(nl, narrow.secret), ['Belga'], 'as far as the plan has it')
    t.same(await agencies(nl, (await api.issue({ countries: ['NL'] })).secret), [])
    for (const [key, id] of [
      [narrow.secret, be],
      [secret, 'nobody'],
    ] as const) {
      const { status, json } = await api.ask(key, `/explore/copies?id=${id}`)
      t.same([status, json.code], [404, 'not_found'])
    }
    const texts = async (query: string, key = secret) => {
      const { json, data, text } = await counts(`${query}&q=kopie&texts=true`, key)
      t.ok(isCounts(json), text)
      const sum = json.data.reduce((sum: number, one: { count: number }) => sum + one.count, 0)
      t.match(json, { texts: true, total: sum })
      return data.filter((one: string) => !one.endsWith(' 0'))
    }
    const byCountry = ['NL 3', 'BE 1']
    t.same(
      await texts('by=country'),
      byCountry,
      'a group once, at its lowest; those that are not judged once each',
    )
    t.same(await texts('by=country', narrow.secret), ['NL 4'], 'of those that the plan has')
    t.same(await texts('by=country&outlet=drie.example'), ['LU 1'], 'of those that are found')
    for (const then of ['country', 'outlet', 'language']) {
      const { json } = await counts(
        `by=month&then=${then}&q=kopie&texts=true&published_after=2026-05-01`,
      )
      t.same([json.total, json.data[0].count], [4, 4], then)
      const parts = json.data[0].parts.data.map(({ count }: { count: number }) => count)
      if (then === 'country') t.same(parts, [3, 1])
    }
    await put('zeven.example', 'LU', wire, '2026-05-13')
    t.same(await texts('by=country'), [...byCountry, 'LU 1'], 'not judged yet')
    await openCopyGroups(api.pool).pass(new AbortController().signal)
    t.same(await texts('by=country'), byCountry, 'it has joined the late one')
    await transaction(api.pool, async client => {
      const { rows } = await client.query<Bound>(
        `select seq, id, null as "pageNo", null as snippet, true as "isBounded", false as "hasVector"
           from articles where id = $1`,
        [be],
      )
      await boundArticles(client, rows)
    })
    await openCopyGroups(api.pool).pass(new AbortController().signal)
    t.same(
      await texts('by=country'),
      ['NL 4', 'BE 1'],
      'the earliest has left; the next one stands for the others',
    )
    t.match((await counts('by=day&texts=some')).json.errors, { texts: [String] })

    const recent = await api.issue({ history: { kind: 'fixed', at: new Date('2026-05-10') } })
    t.equal((await ask(`id=${be}`, recent.secret)).code, 'not_found')
    t.match((await ask(`id=${be}&q=brug`)).errors, { q: [/Leave it out/] })
    t.match((await ask(`id=${be}&ids=1`)).errors, { ids: [/did you mean id/] })
    t.match((await ask('id=')).errors, { id: [/Write the id/] })
    t.equal((await ask('country=BE', narrow.secret)).code, 'country_not_included')
    const limited = await api.issue({ quota: 2 })
    const paid = await api.ask(limited.secret, `/explore/copies?id=${be}`)
    t.equal(paid.headers.get('x-quota-remaining'), '1')
    const headers = { 'If-None-Match': paid.headers.get('etag') ?? '' }
    t.equal((await api.ask(secret, `/explore/copies?id=${be}`, { headers })).status, 304)
  },
)
