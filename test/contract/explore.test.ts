import { setTimeout } from 'node:timers/promises'
import { Ajv2020 } from 'ajv/dist/2020.js'
import t from 'tap'
import type { Copies } from '../../clients/typescript/src/index.ts'
import { ARTICLE_ANSWER_SCHEMA } from '../../services/api/explore/article.ts'
import { COPIES_SCHEMA } from '../../services/api/explore/copies.ts'
import { COUNTS_SCHEMA } from '../../services/api/explore/counts.ts'
import { COVERAGE_SCHEMA } from '../../services/api/explore/coverage.ts'
import { SUGGESTIONS_SCHEMA } from '../../services/api/explore/suggestions.ts'
import { leaveGroups, openCopyGroups } from '../../shared/copies/pass.ts'
import { dayAgo } from '../../shared/outlets/days.ts'
import { transaction } from '../../shared/postgres/pool.ts'
import { until } from '../fleet.ts'
import { startTestApi } from './api.ts'

const api = await startTestApi(t)
const { secret } = await api.issue()
const at = (time: string) => ({ publishedAt: new Date(time) })
await api.index([
  { title: 'Trein rijdt weer', ...at('2026-03-29T00:30:00Z'), authors: ['Jan Jansen', 'Zoë Müller'] },
  { title: 'Trein staat stil', ...at('2026-03-29T01:30:00Z'), authors: ['Jan Janssens'] },
  {
    title: 'Le train',
    language: 'fr',
    country: 'BE',
    ...at('2026-03-31T22:30:00Z'),
    outlet: { name: 'L’Écho', domain: 'echo.example' },
  },
  { title: 'Trein zonder datum', publishedAt: null, authors: ['Jan Jansen'] },
])

const ajv = new Ajv2020({ strict: false, validateFormats: false })
const isCounts = ajv.compile(COUNTS_SCHEMA)
const isSuggestions = ajv.compile(SUGGESTIONS_SCHEMA)

async function counts(query: string, key = secret) {
  const answer = await api.ask(key, `/explore/counts?${query}`)
  return { ...answer, data: answer.json?.data?.map((one: { key: string; count: number }) => [one.key, one.count]) }
}

t.test('counts by time follow the clocks of the time zone', async t => {
  const utc = await counts('by=day&published_after=2026-03-29&published_before=2026-03-31')
  t.equal(utc.status, 200, utc.text)
  t.ok(isCounts(utc.json), JSON.stringify(isCounts.errors))
  t.same(utc.data, [
    ['2026-03-29', 2],
    ['2026-03-30', 0],
    ['2026-03-31', 1],
  ])
  t.match(utc.json, { by: 'day', time_zone: 'UTC', total: 3, other: 0, undated: 0 })
  const brussels = await counts(
    'by=hour&time_zone=europe/brussels&published_after=2026-03-29T00:10:00Z&published_before=2026-03-29T01:59:00Z',
  )
  t.same(brussels.data, [
    ['2026-03-29T01:00:00+01:00', 1],
    ['2026-03-29T03:00:00+02:00', 1],
  ])
  t.match(brussels.json.data, [
    { from: '2026-03-29T00:10:00.000Z', to: '2026-03-29T00:59:59.999Z' },
    { from: '2026-03-29T01:00:00.000Z', to: '2026-03-29T01:59:00.000Z' },
  ])
  t.equal(brussels.json.time_zone, 'Europe/Brussels')
  t.same((await counts('by=month&time_zone=Europe/Brussels&q=train')).data, [
    ['2026-03', 0],
    ['2026-04', 1],
  ])
  t.match((await counts('by=week')).json, { total: 4, undated: 1, data: [{ key: '2026-W13' }, { key: '2026-W14' }] })
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
  t.same((await counts('by=language')).data, [
    ['nl', 3],
    ['fr', 1],
  ])
  t.same((await counts('by=country&q=trein')).data, [['NL', 3]])
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
  t.same((await counts('by=country', narrow.secret)).data, [['BE', 1]])
  t.match((await counts('by=country&country=NL', narrow.secret)).json, { code: 'country_not_included' })
  t.match((await counts('by=day&published_after=2025-12-31', narrow.secret)).json, { code: 'history_not_included' })
})

t.test('what cannot be counted is refused with a sentence for each parameter', async t => {
  const errors = async (query: string) => {
    const { status, json } = await counts(query)
    t.equal(status, 422, query)
    return json.errors
  }
  t.match(await errors(''), { by: [/Write one of hour, day/] })
  t.match(await errors('by=year'), { by: [/Write one of hour, day/] })
  t.match(await errors('by=day&per_page=10&order=asc&cursor=abc'), {
    per_page: [/no pages/],
    order: [/no pages/],
    cursor: [/no pages/],
  })
  t.match(await errors('by=outlet&time_zone=UTC'), { time_zone: [/Leave it out/] })
  for (const zone of ['Mars/Phobos', '%2B05:30', '../etc', 'x'.repeat(65)]) {
    t.match(await errors(`by=day&time_zone=${zone}`), { time_zone: [/./] }, zone)
  }
  t.match(await errors('by=day&lnguage=nl'), { lnguage: [/did you mean language/] })
  t.match(await errors('by=day&search=semantic'), { q: [/at least 2/] })
  await api.index([{ title: 'Lang geleden', ...at('2020-02-01T00:00:00Z') }])
  t.match(await errors('by=hour'), { by: [/more than 2600 buckets.*by=day/] })
  t.equal((await counts('by=semantic&search=semantic&q=trein')).status, 422)
  t.equal((await counts('by=day&search=semantic&q=trein')).status, 503)
})

t.test('counts cost one of the minute and of the month, and answer conditional requests and HEAD', async t => {
  const limited = await api.issue({ rate: 50, quota: 5 })
  const ask = (init?: RequestInit) => api.ask(limited.secret, '/explore/counts?by=country', init)
  const first = await ask()
  const etag = first.headers.get('etag')!
  t.equal((await ask({ headers: { 'If-None-Match': etag } })).status, 304)
  const head = await ask({ method: 'HEAD' })
  t.match([head.status, head.text, head.headers.get('etag')], [200, '', etag])
  t.equal(
    (await api.ask(limited.secret, '/explore/suggestions?field=author&q=jan')).headers.get('x-quota-remaining'),
    '2',
  )
  await ask()
  await ask()
  t.match((await ask()).json, { code: 'quota_exceeded' })
  for (const path of ['matches', 'coverage', 'suggestions?field=author&q=jan']) {
    t.match((await api.ask(limited.secret, `/explore/${path}`)).json, { code: 'quota_exceeded' }, 'there is no page')
  }
})

const isCoverage = ajv.compile(COVERAGE_SCHEMA)
const coverage = (query: string, key = secret) => api.ask(key, `/explore/coverage?${query}`)

const [FIRST, SECOND, THIRD] = [dayAgo(5), dayAgo(4), dayAgo(3)]
const FIGURES = 'day, polls, sitemaps, requests, feeds, second, named, indexed, alone, reasons, refused, lost'

await api.pool.query(
  `with outlet as (
     insert into outlets (domain, name, country, languages, time_zone)
     values ('dagkoerier.example', 'De Dagkoerier', 'NL', '{nl}', 'Europe/Amsterdam'),
            ('echo.example', 'L’Écho', 'BE', '{fr}', 'Europe/Brussels') returning outlet_no, domain
   )
   insert into outlet_days (outlet_no, ${FIGURES})
   select outlet_no, ${FIGURES}
     from outlet join (values
       ('dagkoerier.example', $1::date, 9, 1, 400, 320, 316, 318, 312, 4, '{"gone": 5, "language": 4}'::jsonb, 5, 1),
       ('dagkoerier.example', $2, 9, 1, 10, 4, 2, 4, 4, 0, '{}', 0, 0),
       ('echo.example', $1, 2, 0, 10, 5, 0, 5, 5, 0, '{}', 0, 0)) as d (domain, ${FIGURES}) using (domain)`,
  [FIRST, SECOND],
)

t.test('coverage says what we have of what outlets named, by day and by outlet', async t => {
  const path = `published_after=${FIRST}&published_before=${THIRD}`
  const { status, json, text, headers } = await coverage(path)
  t.equal(status, 200, text)
  t.ok(isCoverage(json), JSON.stringify(isCoverage.errors))
  t.match(json.data, [
    { day: FIRST, named: 323, named_by_feeds: 325, named_by_sitemaps: null, indexed: 317, share: null, unread: 0 },
    { day: SECOND, named: 4, named_by_sitemaps: 2, share: 1, unread: 1, gap: true },
    { day: THIRD, named: 0, share: null, unread: 2, gap: true },
  ])
  const one = await coverage(`outlet=dagkoerier&published_after=${FIRST}&published_before=${SECOND}T08:00:00Z`)
  const ofFirst = { named: 318, named_by_sitemaps: 316, indexed: 312, feed_alone: 4, refused: { gone: 5 }, lost: 1 }
  t.match(one.json.data, [
    { ...ofFirst, share: 0.981, gap: false },
    { day: SECOND, named: 4, indexed: 4, share: 1, gap: false },
  ])
  const by = await coverage(`by=outlet&published_after=${FIRST}&published_before=${SECOND}`)
  t.match(by.json.data, [
    { outlet: { domain: 'dagkoerier.example' }, named: 322, share: 0.981 },
    { outlet: { domain: 'echo.example' }, named: 5, share: null, unread: 1 },
  ])
  const exact = await coverage(`by=outlet&outlets=ECHO.example,nobody.nl&published_after=${FIRST}`)
  t.match(exact.json.data, { length: 1, 0: { outlet: { domain: 'echo.example' } } })
  t.notMatch(text, 'requests', 'how an outlet was asked is for its operator')
  const again = { headers: { 'If-None-Match': headers.get('etag')! } }
  t.equal((await api.ask(secret, `/explore/coverage?${path}`, again)).status, 304)
})

t.test('coverage is held to the plan, and costs one of the minute alone', async t => {
  const narrow = await api.issue({
    ...{ countries: ['BE'], history: { kind: 'fixed', at: new Date(`${FIRST}T06:00:00Z`) }, rate: 20, quota: 5 },
  })
  const ask = (query: string) => coverage(query, narrow.secret)
  t.match((await ask(`published_after=${FIRST}`)).json, { code: 'history_not_included' })
  t.match((await ask('country=NL')).json, { code: 'country_not_included' })
  const whole = await ask(`by=outlet&published_after=${FIRST}T06:00:00Z&published_before=${SECOND}`)
  t.match(whole.json.data, [{ outlet: { domain: 'echo.example' }, named: 0 }], 'the first day is not whole')
  t.equal(whole.headers.get('x-quota-remaining'), '5')
  t.same((await ask('outlet=dagkoerier')).json.data, [])
  t.match((await coverage('published_after=2024-01-01')).json, {
    errors: { published_after: [/366 days at most/] },
  })
  t.match((await coverage('by=week&q=trein')).json.errors, { by: [/./], q: [/./] })
  const usual = await coverage('')
  const isRecent = usual.json.data.every(({ day }: { day: string }) => day >= dayAgo(30))
  t.ok(isRecent, 'by default the last 31 days')
})

async function suggested(query: string, key = secret) {
  const answer = await api.ask(key, `/explore/suggestions?${query}`)
  return answer.json.data?.map((one: { value: string }) => one.value) ?? answer.json
}

t.test('suggestions are names that the filters find, those that begin with the text first', async t => {
  // Names are read at most once a second.
  await until(async () => (await suggested('field=author&q=jan')).length > 0, 30_000)
  const answer = await api.ask(secret, '/explore/suggestions?field=author&q=jan')
  t.ok(isSuggestions(answer.json), JSON.stringify(isSuggestions.errors))
  t.same(await suggested('field=author&q=JÁN'), ['Jan Jansen', 'Jan Janssens'])
  t.same(await suggested('field=author&q=muller'), ['Zoë Müller'])
  for (const part of ['echo', "l'e", 'L´E', 'lʼé']) t.same(await suggested(`field=outlet&q=${part}`), ['L’Écho'])
  t.same(await suggested('field=outlet&q=.example'), ['dagkoerier.example', 'echo.example'])
  t.same(await suggested('field=author&q=nobody'), [])
  const narrow = await api.issue({ countries: ['BE'] })
  t.same(await suggested('field=outlet&q=.example', narrow.secret), ['echo.example'])
  t.match(await suggested('field=title'), { code: 'invalid_request', errors: { field: [/./], q: [/./] } })
  t.match(await suggested('field=author&q=%CC%81'), { errors: { q: [/visible/] } })
})

t.test('a suggestion tells nothing of an outlet or author of countries that the plan does not have', async t => {
  const named = (domain: string, author: string) => ({ outlet: { name: 'De Ster', domain }, authors: [author] })
  await api.index([
    { title: 'Een', ...named('ster-nl.example', 'ZOË STERREN') },
    { title: 'Twee', ...named('ster-nl.example', 'ZOË STERREN') },
    { title: 'Drie', country: 'BE', ...named('ster-be.example', 'Zoe Sterren') },
  ])
  await setTimeout(1_100) // the names of a small archive are read again after a second, at the first question
  const narrow = await api.issue({ countries: ['BE'] })
  const { json } = await api.ask(narrow.secret, '/explore/suggestions?field=outlet&q=ster')
  t.same(json.data, [{ value: 'De Ster', outlet: { name: 'De Ster', domain: 'ster-be.example' } }])
  t.same(await suggested('field=author&q=sterren', narrow.secret), ['Zoe Sterren'])
  t.same(await suggested('field=author&q=sterren'), ['ZOË STERREN'], 'once')
})

t.test('a suggestion tells nothing of articles before the history of the plan', async t => {
  const of = (year: number, author: string) => ({
    ...at(`${year}-06-01T00:00:00Z`),
    ...{ outlet: { name: `Avondblad ${year}`, domain: `avondblad-${year}.example` }, authors: [author] },
  })
  await api.index([
    { title: 'Oud', ...of(2022, 'Willem Ouderling') },
    { title: 'Nieuw', ...of(2025, 'Wilma Ouderling') },
  ])
  await until(async () => (await suggested('field=author&q=ouderling')).length === 2, 30_000)
  const late = await api.issue({ history: { kind: 'fixed', at: new Date('2024-01-01T00:00:00Z') } })
  t.same(await suggested('field=author&q=ouderling', late.secret), ['Wilma Ouderling'])
  t.same(await suggested('field=outlet&q=avondblad', late.secret), ['Avondblad 2025'])
})

const MATCHES = [
  ['nl', 'bus', 'Bussen rijden niet', 'De bus staat stil. Twee bussen.', ['bussen'], 2],
  ['de', 'Häuser', 'Neue Häuser', 'Das Haus ist neu.', ['hauser'], 0],
  ['fr', 'élection', 'Les élections', 'Une élection.', ['elections'], 1],
  ['en', 'floods', 'A flood', 'Flooding and floods.', ['flood'], 2],
  ['lb', 'Schoulen', 'D’Schoul', 'Schoulen an d’Schoul.', ['schoul'], 2],
] as const
t.test('decision 42: words are found by stems in each language; places in the text are counted, not shown', async t => {
  await api.index(
    MATCHES.map(([language, , title, body]) => ({
      title,
      body,
      language,
      outlet: { name: 'Stammen', domain: 'stammen.example' },
    })),
  )
  for (const [language, q, title, , words, places] of MATCHES) {
    const query = new URLSearchParams({ q, language, outlet: 'stammen', search_in: 'title_body' })
    const { json: page } = await api.ask(secret, `/v1/articles?${query}`)
    t.equal(page.articles[0]?.title, title)
    const { status, json, text } = await api.ask(secret, `/explore/matches?${query}`)
    t.equal(status, 200)
    t.match(json.data, [{ id: page.articles[0].id, words: [] }])
    const hasAll = words.every(word => json.data[0].words.includes(word))
    t.ok(hasAll, `${language}: ${json.data[0].words}`)
    t.ok(json.data[0].places >= places, `${language}: ${json.data[0].places} places`)
    t.notMatch(text, 'staat stil', 'no passage')
  }
})

t.test('places of phrases, stop words, titles alone, and what a plan does not have', async t => {
  const ask = async (query: string, key = secret) => (await api.ask(key, `/explore/matches?${query}`)).json
  t.same((await ask('q=%22bus+staat%22&search=boolean&search_in=title_body&outlet=stammen')).data, [
    { id: (await api.ask(secret, '/v1/articles?q=bussen')).json.articles[0].id, words: [], places: 1, first: 0.1 },
  ])
  t.equal((await ask('q=de+bus&search_in=title_body&outlet=stammen&language=nl')).data[0].places, 2, '"de" is none')
  t.match((await ask('q=bus&outlet=stammen')).data[0], { places: 0, first: null }, 'titles alone')
  const { secret: other } = await api.issue({ countries: ['LU'] })
  t.same((await ask('q=bus&search_in=title_body', other)).data, [])
  t.equal((await ask('q=bus&cursor=x')).code, 'invalid_request')
})

t.test('matches cost what a search costs, and the texts of a page have a bound together', async t => {
  const outlet = { name: 'Lang', domain: 'lang.example' }
  await api.index(
    [...Array(6)].map((_, n) => ({
      ...{ title: `Lang ${n}`, body: `${'brug '.repeat(20_000)}${'woord '.repeat(20_000)}`, outlet },
      ...at(`2026-04-0${6 - n}T08:00:00Z`),
    })),
  )
  const { secret: limited } = await api.issue({ quota: 3 })
  const path = '/explore/matches?q=brug&search_in=title_body&outlet=lang.example'
  const whole = await api.ask(limited, path)
  t.equal(whole.headers.get('x-quota-remaining'), '2')
  const places = whole.json.data.map((one: { places: number | null }) => one.places)
  t.same(places, [...Array(5).fill(20_000), null], 'the sixth begins behind a million characters')
  t.match((await api.ask(limited, `${path.replace('brug', 'woord')}&per_page=1`)).json.data, [
    { places: 16_666, first: 0.5 },
  ])
  t.equal(whole.json.data[5].first, null)
  await api.ask(limited, path)
  t.equal((await api.ask(limited, path)).json.code, 'quota_exceeded')
})

t.test('each bucket of a time is the sum of its parts, as the pages of the same search show', async t => {
  for (const then of ['language', 'country', 'outlet']) {
    const { json, text } = await counts(`by=day&then=${then}&published_after=2026-03-29&published_before=2026-03-31`)
    t.ok(isCounts(json), text)
    t.match(json, { then, total: 3, undated: 0 })
    const [first, second, third] = json.data
    const keys = { language: ['nl', 'fr'], country: ['NL', 'BE'], outlet: ['De Dagkoerier', 'L’Écho'] }[then]
    t.match(
      [first, third],
      [
        { count: 2, parts: { data: [{ key: keys?.[0], count: 2 }], other: 0 } },
        { count: 1, parts: { data: [{ key: keys?.[1], count: 1 }], other: 0 } },
      ],
    )
    t.same(second.parts, { data: [], other: 0 })
  }
  const { total, undated } = (await counts('by=week')).json
  t.match((await counts('by=week&then=country')).json, { total, undated })
  for (const wrong of ['by=outlet&then=country', 'by=day&then=day', 'by=day&then=outlet&sort=ingested_at'])
    t.match((await counts(wrong)).json.errors?.then, [String], wrong)
})

t.test('decision 43: copies of a page or an article are those of the plan, in order of ingestion', async t => {
  const list = (name: string, from: number, to: number) =>
    Array.from({ length: to - from }, (_, n) => `${name}${from + n}`).join(' ')
  const wire = list('brug', 0, 100)
  const put = async (domain: string, country: 'NL' | 'BE' | 'LU', body: string, day = '2026-05-04') => {
    const [url, outlet] = [`https://${domain}/${day}`, { name: domain, domain }]
    const agencies = { LU: ['Belga'], NL: [], BE: ['AFP', 'Belga'] }[country]
    await api.index([{ title: 'Kopie', body, country, url, outlet, agencies, ...at(`${day}T08:00:00Z`) }])
    const { json } = await api.ask(secret, `/v1/articles?q=kopie&outlet=${domain}&published_after=${day}`)
    return json.articles[0].id as string
  }
  const be = await put('een.example', 'BE', wire)
  const nl = await put('twee.example', 'NL', `${list('brug', 0, 80)} ${list('eigen', 0, 20)}\n\nLees ook: meer`)
  const lu = await put('drie.example', 'LU', `${list('nieuw', 0, 15)} ${list('brug', 15, 100)}`)
  const alone = await put('vier.example', 'NL', list('anders', 0, 70))
  const late = await put('vijf.example', 'NL', wire, '2026-05-12')
  const short = await put('zes.example', 'NL', list('brug', 0, 59))
  const ask = async (query: string, key = secret) => (await api.ask(key, `/explore/copies?${query}`)).json
  t.same((await ask(`id=${nl}`)).data, [{ id: nl, first: null, agencies: [], copies: null, own_words: null }], 'new')
  await openCopyGroups(api.pool).pass(new AbortController().signal)

  const isCopies = ajv.compile(COPIES_SCHEMA)
  const told = async (query: string, key = secret) => {
    const json = await ask(query, key)
    t.ok(isCopies(json), JSON.stringify(isCopies.errors))
    const data: Copies[] = json.data
    return new Map(
      data.map(({ id, first, copies, own_words }) => [
        id,
        [first, copies?.map(({ article, shared }) => [article.id, shared]) ?? null, own_words],
      ]),
    )
  }
  const page = await told('q=kopie')
  t.equal(page.size, 6)
  // Of 96 shingles: 76, 81, and of the other two 61 in common.
  t.same(page.get(be), [
    be,
    [
      [nl, 0.7917],
      [lu, 0.8438],
    ],
    0,
  ])
  t.same(page.get(nl), [
    be,
    [
      [be, 0.7917],
      [lu, 0.8438],
    ],
    20,
  ])
  t.same(page.get(lu), [
    be,
    [
      [be, 0.8438],
      [nl, 0.7917],
    ],
    15,
  ])
  for (const id of [alone, late]) t.same(page.get(id), [id, [], id === alone ? 70 : 100], 'a first one without others')
  t.same(page.get(short), [null, null, null])
  t.same(await told(`id=${lu}`), new Map([[lu, page.get(lu)]]))
  const { json } = await api.ask(secret, '/v1/articles?q=kopie&outlet=twee.example')
  t.same((await ask(`id=${be}`)).data[0].copies[0].article, json.articles[0], 'as in /v1')

  const narrow = await api.issue({ countries: ['NL', 'LU'] })
  t.same((await told(`id=${lu}`, narrow.secret)).get(lu), [nl, [[nl, 0.6354]], 35], 'the first that it has')
  const agencies = async (id: string, key: string) => (await ask(`id=${id}`, key)).data[0].agencies
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
    t.equal(Object(json).texts, true)
    const sum = json.data.reduce((sum: number, one: { count: number }) => sum + one.count, 0)
    t.equal(json.total, sum)
    return data.filter(([, count]: [string, number]) => count > 0)
  }
  const byCountry = [
    ['NL', 3],
    ['BE', 1],
  ]
  t.same(
    await texts('by=country'),
    byCountry,
    'a group counts once, at its lowest; those that are not judged once each',
  )
  t.same(await texts('by=country', narrow.secret), [['NL', 4]], 'of those that the plan has')
  t.same(await texts('by=country&outlet=drie.example'), [['LU', 1]], 'of those that are found')
  for (const then of ['country', 'outlet', 'language']) {
    const { json } = await counts(`by=month&then=${then}&q=kopie&texts=true&published_after=2026-05-01`)
    t.same([json.total, json.data[0].count], [4, 4], then)
    const parts = json.data[0].parts.data.map(({ count }: { count: number }) => count)
    if (then === 'country') t.same(parts, [3, 1])
  }
  await put('zeven.example', 'LU', wire, '2026-05-13')
  t.same(await texts('by=country'), [...byCountry, ['LU', 1]], 'not judged yet')
  await openCopyGroups(api.pool).pass(new AbortController().signal)
  t.same(await texts('by=country'), byCountry, 'it has joined the late one')
  await transaction(api.pool, async client => {
    const { rows } = await client.query<{ seq: bigint }>(
      `insert into article_rights (id, snippet, vector, article_seq) select id, true, false, seq from articles where id = $1
       returning article_seq as seq`,
      [be],
    )
    await leaveGroups(client, [rows[0]!.seq])
  })
  await openCopyGroups(api.pool).pass(new AbortController().signal)
  t.same(
    await texts('by=country'),
    [
      ['NL', 4],
      ['BE', 1],
    ],
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
})

t.test('an article by its id is that of /v1, for whoever has it in the plan', async t => {
  const odd = 'a/b?c%d&"#~'
  await api.index([{ id: odd, title: 'Enkel', ...at('2025-05-01') }])
  const { articles } = (await api.ask(secret, '/v1/articles?per_page=100')).json
  const { secret: limited } = await api.issue({ rate: 500, quota: 200 })
  const ask = (id: string, init?: RequestInit, key = limited, more = '') =>
    api.ask(key, `/explore/articles/${encodeURIComponent(id)}${more}`, init)
  t.ok(articles.length > 9 && articles.some(({ id }: { id: string }) => id === odd))
  for (const article of articles) t.strictSame((await ask(article.id)).json, { status: 'ok', data: article })
  const whole = await ask(odd)
  t.ok(ajv.validate(ARTICLE_ANSWER_SCHEMA, whole.json), ajv.errorsText())
  t.match(await ask(odd, { method: 'HEAD' }), { status: 200, text: '' })
  t.equal((await ask(odd, { headers: { 'If-None-Match': whole.headers.get('etag')! } })).status, 304)
  const french = await api.issue({ countries: ['BE'] })
  const late = await api.issue({ history: { kind: 'fixed', at: new Date('2025-05-01T00:00:00.001Z') } })
  const none = { status: 404, json: { code: 'not_found', message: /no article/ } }
  for (const key of [french.secret, late.secret]) t.match(await ask(odd, {}, key), none)
  t.match(await ask('nothing'), none)
  t.match(await ask(odd, {}, limited, '?country=NL&x=1'), {
    status: 422,
    json: { errors: { country: [/./], x: [/./] } },
  })
  t.equal((await ask(odd, { method: 'POST' })).status, 405)
  const paid =
    Number(whole.headers.get('x-quota-remaining')) - Number((await ask(odd)).headers.get('x-quota-remaining'))
  t.equal(paid, 3, 'no error costs of the month')
})

t.test('decision 45: beside the contract a search answers as in it', async t => {
  const queries = ['', 'q=trein', 'q=trein -weer&search=boolean', 'q=train&search_in=title_body&sort=ingested_at']
  for (const query of [
    ...queries,
    'q=rails&search=semantic',
    'q=&per_page=1&country[]=BE,NL',
    'outlet=echo',
    'x=1',
    'q="',
  ]) {
    const [own, other] = await Promise.all(
      ['/v1', '/explore'].map(root => api.ask(secret, `${root}/articles?${query}`)),
    )
    t.equal(other?.text, own?.text, query)
    t.equal(other?.status, own?.status)
    t.equal(other?.headers.get('etag'), own?.headers.get('etag'))
    const [feed, beside] = await Promise.all(
      ['/v1', '/explore'].map(root => api.ask(secret, `${root}/articles.rss?${query}`)),
    )
    t.equal(beside?.text.replaceAll('/explore/', '/v1/'), feed?.text, query)
  }
  const { json } = await api.ask(secret, '/explore/articles?per_page=1')
  t.equal(
    (await api.ask(secret, `/explore/articles?per_page=1&cursor=${json.next_cursor}`)).json.total_results,
    json.total_results,
  )
  t.equal((await api.ask(secret, '/explore/articles', { method: 'POST' })).status, 405)
})

t.test('outlets names exact domains, outside the contract alone', async t => {
  const total = async (query: string) => (await api.ask(secret, `/explore/articles?${query}`)).json.total_results
  t.equal(await total('outlets=ECHO.example'), 1)
  t.equal(await total('outlets=cho.example'), 0)
  t.equal(await total('outlets[]=nobody.nl&outlets=echo.example,echo.example&outlet=écho'), 1)
  t.equal(await total('outlets=echo.example&outlet=nobody'), 0)
  t.equal(await total('outlets=,'), await total(''))
  t.equal((await counts('by=outlet&outlets=echo.example')).json.total, 1)
  const wrong = Array.from({ length: 51 }, (_, n) => `d${n}.nl`).join()
  for (const outlets of ['https://echo.example', 'echo', '.nl', wrong]) {
    t.match((await api.ask(secret, `/explore/articles?outlets=${outlets}`)).json.errors.outlets[0], /^Write .*\.$/)
  }
  const unknown = await api.ask(secret, '/v1/articles?outlets=echo.example')
  t.strictSame([unknown.status, Object.keys(unknown.json.errors)], [422, ['outlets']])
  const all = 'per_page=1&outlets=echo.example,x.nl'
  const mine = (await api.ask(secret, '/explore/articles?per_page=1')).json.next_cursor
  t.equal(
    (await api.ask(secret, `/explore/articles?${all}&cursor=${mine}`)).status,
    422,
    'a cursor of another question',
  )
})

t.test('decision 45: search=expression is served beside the contract, and nowhere in it', async t => {
  await api.index([
    {
      title: 'Kade vernieuwd',
      body: 'De gemeente herstelt de oude kade bij de sluis.',
      language: 'nl',
      url: 'https://a.example/k1',
    },
    {
      title: 'Sluis dicht',
      body: 'De kade blijft open. Bij de sluizen wordt gewerkt.',
      language: 'nl',
      url: 'https://a.example/k2',
    },
  ])
  const ask = (q: string, more = '', path = 'articles') =>
    api.ask(secret, `/explore/${path}?search=expression&q=${encodeURIComponent(q)}${more}`)
  const titles = async (q: string, more = '') =>
    (await ask(q, more)).json.articles.map((one: { title: string }) => one.title).sort()
  const [first, second] = ['Kade vernieuwd', 'Sluis dicht']
  t.strictSame(await titles('kade sluis'), [first, second], 'in title and text')
  t.strictSame(await titles('kade sluis', '&search_in=title'), [])
  t.strictSame(await titles('kade NEAR/3 sluis'), [first])
  t.strictSame(await titles('kade NEAR/2 sluis'), [first])
  t.strictSame(await titles('kade NEAR/1 sluis'), [])
  t.strictSame(await titles('~sluis NEAR/4 kade'), [first, second])
  t.strictSame(await titles('title:sluis OR “oude kade”'), [first, second])
  t.strictSame(await titles('sluis -title:(dicht OR gesloten)'), [first])
  const page = await ask('sluis', '&per_page=1')
  t.equal((await ask('sluis', `&per_page=1&cursor=${page.json.next_cursor}`)).json.articles.length, 1)
  t.equal((await ask('kade', `&per_page=1&cursor=${page.json.next_cursor}`)).status, 422)
  t.match((await ask('~sluis "oude kade" OR dicht', '', 'matches')).json.data, [
    { words: ['sluis', 'sluizen'], places: 1, first: 0.6 },
    { words: ['sluis'], places: 2, first: 0.4 },
  ])
  t.equal((await ask('sluis NOT dicht', '&by=language', 'counts')).json.total, 1)
  t.equal((await ask('sluis', '', 'copies')).json.data.length, 2)
  const feed = await ask('sluis', '&country=NL', 'articles.rss')
  t.match(feed.text, /\/explore\/articles\.rss\?q=sluis&amp;search=expression&amp;country=NL"/)
  const longest = '𠀀'.repeat(1_000)
  t.strictSame((await ask(longest)).json.articles, [])
  for (const q of [`${longest}b`, 'a (b', 'kade NEAR/3 sluis NEAR/3 dicht', '½']) {
    const { status, json } = await ask(q)
    t.strictSame([status, Object.keys(json.errors)], [422, ['q']])
  }
  t.equal((await ask('kade', '&sort=relevance')).status, 422)
  t.equal((await api.ask(secret, `/explore/articles?q=${'a'.repeat(192)}`)).status, 422, 'words as in the contract')
  for (const path of ['articles', 'articles.rss']) {
    const [own, other] = await Promise.all(
      ['expression', 'other'].map(search => api.ask(secret, `/v1/${path}?q=a&search=${search}`)),
    )
    t.equal(own?.status, 422)
    t.strictSame(own?.json, other?.json)
  }
})
