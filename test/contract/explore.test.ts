import { setTimeout } from 'node:timers/promises'
import { Ajv2020 } from 'ajv/dist/2020.js'
import t from 'tap'
import { ARTICLE_ANSWER_SCHEMA } from '#services/api/explore/article-by-id'
import { COMPLETENESS_SCHEMA } from '#services/api/explore/completeness'
import { SUGGESTIONS_SCHEMA } from '#services/api/explore/suggestions'
import { dayAgo } from '#shared/outlets/days'
import { until } from '#test/fleet'
import { startTrains } from './api.ts'

const { api, secret, at } = await startTrains(t)
const ajv = new Ajv2020({ strict: false, validateFormats: false })
const isSuggestions = ajv.compile(SUGGESTIONS_SCHEMA)

const isCompleteness = ajv.compile(COMPLETENESS_SCHEMA)
const completeness = (query: string, key = secret) => api.ask(key, `/explore/coverage?${query}`)

const FIRST = dayAgo(5)
const SECOND = dayAgo(4)
const THIRD = dayAgo(3)
const FIGURES =
  'day, polls, sitemaps, requests, feeds, second, named, indexed, alone, reasons, refused, lost'

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

t.test('completeness says what we have of what outlets named, by day and by outlet', async t => {
  const path = `published_after=${FIRST}&published_before=${THIRD}`
  const { status, json, text, headers } = await completeness(path)
  t.equal(status, 200, text)
  t.ok(isCompleteness(json), JSON.stringify(isCompleteness.errors))
  t.match(json.data, [
    {
      day: FIRST,
      named: 323,
      named_by_feeds: 325,
      named_by_sitemaps: null,
      indexed: 317,
      share: null,
      unread: 0,
    },
    { day: SECOND, named: 4, named_by_sitemaps: 2, share: 1, unread: 1, gap: true },
    { day: THIRD, named: 0, share: null, unread: 2, gap: true },
  ])
  const one = await completeness(
    `outlet=dagkoerier&published_after=${FIRST}&published_before=${SECOND}T08:00:00Z`,
  )
  const ofFirst = {
    named: 318,
    named_by_sitemaps: 316,
    indexed: 312,
    feed_alone: 4,
    refused: { gone: 5 },
    lost: 1,
  }
  t.match(one.json.data, [
    { ...ofFirst, share: 0.981, gap: false },
    { day: SECOND, named: 4, indexed: 4, share: 1, gap: false },
  ])
  const by = await completeness(`by=outlet&published_after=${FIRST}&published_before=${SECOND}`)
  t.match(by.json.data, [
    { outlet: { domain: 'dagkoerier.example' }, named: 322, share: 0.981 },
    { outlet: { domain: 'echo.example' }, named: 5, share: null, unread: 1 },
  ])
  const exact = await completeness(
    `by=outlet&outlets=ECHO.example,nobody.nl&published_after=${FIRST}`,
  )
  t.match(exact.json.data, { length: 1, 0: { outlet: { domain: 'echo.example' } } })
  t.notMatch(text, 'requests', 'how an outlet was asked is for its operator')
  const again = { headers: { 'If-None-Match': headers.get('etag')! } }
  t.equal((await api.ask(secret, `/explore/coverage?${path}`, again)).status, 304)
})

t.test('completeness is held to the plan, and costs one of the minute alone', async t => {
  const narrow = await api.issue({
    countries: ['BE'],
    history: { kind: 'fixed', at: new Date(`${FIRST}T06:00:00Z`) },
    rate: 20,
    quota: 5,
  })
  const ask = (query: string) => completeness(query, narrow.secret)
  t.match((await ask(`published_after=${FIRST}`)).json, { code: 'history_not_included' })
  t.match((await ask('country=NL')).json, { code: 'country_not_included' })
  const whole = await ask(`by=outlet&published_after=${FIRST}T06:00:00Z&published_before=${SECOND}`)
  t.match(
    whole.json.data,
    [{ outlet: { domain: 'echo.example' }, named: 0 }],
    'the first day is not whole',
  )
  t.equal(whole.headers.get('x-quota-remaining'), '5')
  t.same((await ask('outlet=dagkoerier')).json.data, [])
  t.match((await completeness('published_after=2024-01-01')).json, {
    errors: { published_after: [/366 days at most/] },
  })
  t.match((await completeness('by=week&q=trein')).json.errors, { by: [/./], q: [/./] })
  const usual = await completeness('')
  const isRecent = usual.json.data.every(({ day }: { day: string }) => day >= dayAgo(30))
  t.ok(isRecent, 'by default the last 31 days')
})

async function suggested(query: string, key = secret) {
  const answer = await api.ask(key, `/explore/suggestions?${query}`)
  return answer.json.data?.map((one: { value: string }) => one.value) ?? answer.json
}

t.test(
  'suggestions are names that the filters find, those that begin with the text first',
  async t => {
    // Names are read at most once a second.
    await until(async () => (await suggested('field=author&q=jan')).length > 0, 30_000)
    const answer = await api.ask(secret, '/explore/suggestions?field=author&q=jan')
    t.ok(isSuggestions(answer.json), JSON.stringify(isSuggestions.errors))
    t.same(await suggested('field=author&q=JÁN'), ['Jan Jansen', 'Jan Janssens'])
    t.same(await suggested('field=author&q=muller'), ['Zoë Müller'])
    for (const part of ['echo', "l'e", 'L´E', 'lʼé'])
      t.same(await suggested(`field=outlet&q=${part}`), ['L’Écho'])
    t.same(await suggested('field=outlet&q=.example'), ['dagkoerier.example', 'echo.example'])
    t.same(await suggested('field=author&q=nobody'), [])
    const narrow = await api.issue({ countries: ['BE'] })
    t.same(await suggested('field=outlet&q=.example', narrow.secret), ['echo.example'])
    t.match(await suggested('field=title'), {
      code: 'invalid_request',
      errors: { field: [/./], q: [/./] },
    })
    t.match(await suggested('field=author&q=%CC%81'), { errors: { q: [/visible/] } })
  },
)

t.test(
  'a suggestion tells nothing of an outlet or author of countries that the plan does not have',
  async t => {
    const named = (domain: string, author: string) => ({
      outlet: { name: 'De Ster', domain },
      authors: [author],
    })
    await api.index([
      { title: 'Een', ...named('ster-nl.example', 'ZOË STERREN') },
      { title: 'Twee', ...named('ster-nl.example', 'ZOË STERREN') },
      { title: 'Drie', country: 'BE', ...named('ster-be.example', 'Zoe Sterren') },
    ])
    await setTimeout(1_100) // the names of a small index are read again after a second, at the first question
    const narrow = await api.issue({ countries: ['BE'] })
    const { json } = await api.ask(narrow.secret, '/explore/suggestions?field=outlet&q=ster')
    t.same(json.data, [
      { value: 'De Ster', outlet: { name: 'De Ster', domain: 'ster-be.example' } },
    ])
    t.same(await suggested('field=author&q=sterren', narrow.secret), ['Zoe Sterren'])
    t.same(await suggested('field=author&q=sterren'), ['ZOË STERREN'], 'once')
  },
)

t.test('a suggestion tells nothing of articles before the history of the plan', async t => {
  const of = (year: number, author: string) => ({
    ...at(`${year}-06-01T00:00:00Z`),
    outlet: { name: `Avondblad ${year}`, domain: `avondblad-${year}.example` },
    authors: [author],
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
t.test(
  'decision 42: words are found by stems in each language; places in the text are counted, not shown',
  async t => {
    const outlet = { name: 'Stammen', domain: 'stammen.example' }
    await api.index(MATCHES.map(([language, , title, body]) => ({ title, body, language, outlet })))
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
  },
)

t.test('places of phrases, stop words, titles alone, and what a plan does not have', async t => {
  const ask = async (query: string, key = secret) =>
    (await api.ask(key, `/explore/matches?${query}`)).json
  t.same((await ask('q=%22bus+staat%22&search=boolean&search_in=title_body&outlet=stammen')).data, [
    {
      id: (await api.ask(secret, '/v1/articles?q=bussen')).json.articles[0].id,
      words: [],
      places: 1,
      first: 0.1,
    },
  ])
  t.equal(
    (await ask('q=de+bus&search_in=title_body&outlet=stammen&language=nl')).data[0].places,
    2,
    '"de" is none',
  )
  t.match((await ask('q=bus&outlet=stammen')).data[0], { places: 0, first: null }, 'titles alone')
  const { secret: other } = await api.issue({ countries: ['LU'] })
  t.same((await ask('q=bus&search_in=title_body', other)).data, [])
  t.equal((await ask('q=bus&cursor=x')).code, 'invalid_request')
})

t.test(
  'matches cost what a search costs, and the texts of a page have a bound together',
  async t => {
    const outlet = { name: 'Lang', domain: 'lang.example' }
    await api.index(
      [...Array(6)].map((_, n) => ({
        title: `Lang ${n}`,
        body: `${'brug '.repeat(20_000)}${'woord '.repeat(20_000)}`,
        outlet,
        ...at(`2026-04-0${6 - n}T08:00:00Z`),
      })),
    )
    const { secret: limited } = await api.issue({ quota: 3 })
    const path = '/explore/matches?q=brug&search_in=title_body&outlet=lang.example'
    const whole = await api.ask(limited, path)
    t.equal(whole.headers.get('x-quota-remaining'), '2')
    const places = whole.json.data.map((one: { places: number | null }) => one.places)
    t.same(places, [...Array(5).fill(20_000), null], 'the sixth begins after a million characters')
    t.match((await api.ask(limited, `${path.replace('brug', 'woord')}&per_page=1`)).json.data, [
      { places: 16_666, first: 0.5 },
    ])
    t.equal(whole.json.data[5].first, null)
    await api.ask(limited, path)
    t.equal((await api.ask(limited, path)).json.code, 'quota_exceeded')
  },
)

t.test('an article by its id is that of /v1, for whoever has it in the plan', async t => {
  const odd = 'a/b?c%d&"#~'
  await api.index([{ id: odd, title: 'Enkel', ...at('2025-05-01') }])
  const { articles } = (await api.ask(secret, '/v1/articles?per_page=100')).json
  const { secret: limited } = await api.issue({ rate: 500, quota: 200 })
  const ask = (id: string, init?: RequestInit, key = limited, more = '') =>
    api.ask(key, `/explore/articles/${encodeURIComponent(id)}${more}`, init)
  t.ok(articles.length > 9 && articles.some(({ id }: { id: string }) => id === odd))
  for (const article of articles)
    t.strictSame((await ask(article.id)).json, { status: 'ok', data: article })
  const whole = await ask(odd)
  t.ok(ajv.validate(ARTICLE_ANSWER_SCHEMA, whole.json), ajv.errorsText())
  t.match(await ask(odd, { method: 'HEAD' }), { status: 200, text: '' })
  t.equal(
    (await ask(odd, { headers: { 'If-None-Match': whole.headers.get('etag')! } })).status,
    304,
  )
  const french = await api.issue({ countries: ['BE'] })
  const late = await api.issue({
    history: { kind: 'fixed', at: new Date('2025-05-01T00:00:00.001Z') },
  })
  const none = { status: 404, json: { code: 'not_found', message: /no article/ } }
  for (const key of [french.secret, late.secret]) t.match(await ask(odd, {}, key), none)
  t.match(await ask('nothing'), none)
  t.match(await ask(odd, {}, limited, '?country=NL&x=1'), {
    status: 422,
    json: { errors: { country: [/./], x: [/./] } },
  })
  t.equal((await ask(odd, { method: 'POST' })).status, 405)
  const paid =
    Number(whole.headers.get('x-quota-remaining')) -
    Number((await ask(odd)).headers.get('x-quota-remaining'))
  t.equal(paid, 3, 'no error costs of the month')
})

t.test('decision 45: beside the contract a search answers as in it', async t => {
  const queries = [
    '',
    'q=trein',
    'q=trein -weer&search=boolean',
    'q=train&search_in=title_body&sort=ingested_at',
  ]
  const others = [
    'q=rails&search=semantic',
    'q=&per_page=1&country[]=BE,NL',
    'outlet=echo',
    'x=1',
    'q="',
  ]
  for (const query of [...queries, ...others]) {
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
  const next = await api.ask(secret, `/explore/articles?per_page=1&cursor=${json.next_cursor}`)
  t.equal(next.json.total_results, json.total_results)
  t.equal((await api.ask(secret, '/explore/articles', { method: 'POST' })).status, 405)
})

t.test('outlets names exact domains, outside the contract alone', async t => {
  const total = async (query: string) =>
    (await api.ask(secret, `/explore/articles?${query}`)).json.total_results
  t.equal(await total('outlets[]=nobody.nl&outlets=ECHO.example,echo.example&outlet=écho'), 1)
  t.equal(await total('outlets=,'), await total(''))
  t.equal((await api.ask(secret, '/explore/counts?by=outlet&outlets=echo.example')).json.total, 1)
  const wrong = Array.from({ length: 51 }, (_, n) => `d${n}.nl`).join()
  for (const outlets of ['https://echo.example', '.nl', wrong]) {
    t.match(
      (await api.ask(secret, `/explore/articles?outlets=${outlets}`)).json.errors.outlets[0],
      /^Write .*\.$/,
    )
  }
  const unknown = await api.ask(secret, '/v1/articles?outlets=echo.example')
  t.strictSame([unknown.status, Object.keys(unknown.json.errors)], [422, ['outlets']])
  t.match(unknown.json.errors.outlets[0], /\/explore\/articles .* take it\.$/)
  const all = 'per_page=1&outlets=echo.example,x.nl'
  const mine = (await api.ask(secret, '/explore/articles?per_page=1')).json.next_cursor
  const foreign = await api.ask(secret, `/explore/articles?${all}&cursor=${mine}`)
  t.equal(foreign.status, 422, 'a cursor of another question')
})

t.test(
  'decision 45: search=expression is served beside the contract, and nowhere in it',
  async t => {
    await api.index([
      {
        title: 'Kade vernieuwd',
        body: 'De gemeente herstelt de oude kade bij de sluis.',
        language: 'nl',
      },
      {
        title: 'Sluis dicht',
        body: 'De kade blijft open. Bij de sluizen wordt gewerkt.',
        language: 'nl',
      },
    ])
    const ask = (q: string, more = '', path = 'articles') =>
      api.ask(secret, `/explore/${path}?search=expression&q=${encodeURIComponent(q)}${more}`)
    const titles = async (q: string) =>
      (await ask(q)).json.articles.map((one: { title: string }) => one.title).sort()
    const first = 'Kade vernieuwd'
    const second = 'Sluis dicht'
    t.strictSame(await titles('kade sluis'), [first, second], 'in title and text')
    t.strictSame(
      await titles('~sluis NEAR/2 kade -title:(dicht OR gesloten)'),
      [first],
      'more: random.test.ts',
    )
    const meant = { total_results: 0, did_you_mean: 'sluis OR dicht', articles: [] }
    t.match((await ask('sluis of dicht')).json, meant, 'the answer is of what is written')
    const page = await ask('sluis', '&per_page=1')
    t.notOk('did_you_mean' in page.json)
    t.equal(
      (await ask('sluis', `&per_page=1&cursor=${page.json.next_cursor}`)).json.articles.length,
      1,
    )
    t.equal((await ask('kade', `&per_page=1&cursor=${page.json.next_cursor}`)).status, 422)
    t.match((await ask('~sluis "oude kade" OR dicht', '', 'matches')).json.data, [
      { words: ['sluis', 'sluizen'], places: 1, first: 0.6 },
      { words: ['sluis'], places: 2, first: 0.4 },
    ])
    t.equal((await ask('sluis NOT dicht', '&by=language', 'counts')).json.total, 1)
    t.equal((await ask('sluis', '', 'copies')).json.data.length, 2)
    const feed = await ask('sluis', '&country=NL', 'articles.rss')
    t.match(feed.text, /\/explore\/articles\.rss\?q=sluis&amp;search=expression&amp;country=NL"/)
    t.strictSame(await titles('"oude kad*" OR *sluiz*'), [first, second], 'parts of words')
    t.match((await ask('*luiz* OR "oude *ade"', '', 'matches')).json.data, [
      { words: ['sluizen'], places: 1 },
      { words: [], places: 1 },
    ])
    const parts = (part: string, more = '') =>
      api.ask(secret, `/explore/words?part=${encodeURIComponent(part)}${more}`)
    t.strictSame((await parts('Slui*')).json, {
      status: 'ok',
      part: 'slui*',
      total: 2,
      data: [
        { word: 'sluis', count: 2 },
        { word: 'sluizen', count: 1 },
      ],
    })
    t.equal((await parts('slui*', '&search_in=title')).json.total, 1)
    t.strictSame((await parts('slui*', '&language=fr')).json.data, [])
    for (const wrong of ['', 'sluis', 'sl*', 'slu*s', 'slui* kade', '"slui*', '~slui*']) {
      const { status, json } = await parts(wrong)
      t.strictSame([status, Object.keys(json.errors)], [422, ['part']], wrong)
    }
    t.equal((await parts('slui*', '&q=kade')).status, 422)
    const longest = '𠀀'.repeat(1_000)
    t.strictSame((await ask(longest)).json.articles, [])
    for (const q of [`${longest}b`, 'a (b', 'kade NEAR/3 sluis NEAR/3 dicht', '½']) {
      const { status, json } = await ask(q)
      t.strictSame([status, Object.keys(json.errors)], [422, ['q']])
    }
    t.equal((await ask('kade', '&sort=relevance')).status, 422)
    t.equal(
      (await api.ask(secret, `/explore/articles?q=${'a'.repeat(192)}`)).status,
      422,
      'words as in the contract',
    )
    for (const path of ['articles', 'articles.rss']) {
      const [own, other] = await Promise.all(
        ['expression', 'other'].map(search => api.ask(secret, `/v1/${path}?q=a&search=${search}`)),
      )
      t.strictSame([own?.status, Object.keys(own?.json.errors)], [422, ['search']])
      t.strictSame([other?.status, Object.keys(other?.json.errors)], [422, ['search']])
      t.match(own?.json.errors.search[0], /\/explore\/articles .* take expression\.$/)
    }
  },
)
