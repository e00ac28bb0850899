import t from 'tap'
import { CatalogueError, readCatalogue, sharedFeedSentence, sharedFeeds } from './catalogue.ts'

const OUTLET = {
  name: 'De Dagkoerier',
  domain: 'dagkoerier.example',
  country: 'NL',
  languages: ['nl'],
  timeZone: 'Europe/Amsterdam',
}
const read = (...outlets: object[]) => readCatalogue(JSON.stringify({ outlets }))
const problems = (...outlets: object[]): string[] => {
  try {
    read(...outlets)
    return []
  } catch (error) {
    return error instanceof CatalogueError ? error.problems : [String(error)]
  }
}

t.test('feeds and sitemaps may be empty or absent; www. is taken off with a note', async t => {
  t.same(read({ ...OUTLET, domain: 'WWW.Dagkoerier.example' }), {
    outlets: [{ ...OUTLET, hosts: [], feeds: [], sitemaps: [] }],
    notes: [
      'De Dagkoerier: the domain is kept as dagkoerier.example, without "www.".',
      'dagkoerier.example has neither feeds nor sitemaps: nothing of it is crawled.',
    ],
  })
  const feeds = [
    'http://dagkoerier.example/rss',
    'http://dagkoerier.example/rss',
    'HTTP://127.0.0.1:8081/x.xml',
  ]
  t.same(read({ ...OUTLET, feeds, sitemaps: [] }).outlets[0]?.feeds, [
    'http://dagkoerier.example/rss',
    'http://127.0.0.1:8081/x.xml',
  ])
  t.equal(read({ ...OUTLET, licence: 'CC BY 4.0' }).outlets[0]?.licence, 'CC BY 4.0')
  t.notOk('licence' in read(OUTLET).outlets[0]!)
  t.same(read({ ...OUTLET, feed: 'x', timeZone: 'America/St_Johns', feeds }).notes, [
    'dagkoerier.example: the field "feed" means nothing here.',
  ])
})

t.test('a file that is no list of outlets is refused with a sentence', async t => {
  for (const file of ['null', '[]', '{}', '{"outlets": {}}', '{"outlets": 3}'])
    t.throws(() => readCatalogue(file), { name: 'CatalogueError' }, file)
})

t.test('mistakes are reported with the outlet’s and the field’s name', async t => {
  t.same(problems({ ...OUTLET, country: 'DE' }), [
    'dagkoerier.example: country must be one of NL, BE, LU, and not "DE".',
  ])
  t.same(problems({ ...OUTLET, languages: ['nl', 'fy'] }), [
    'dagkoerier.example: languages must be some of nl, fr, de, lb, en, and not "fy".',
  ])
  t.same(problems({ ...OUTLET, timeZone: 'Amsterdam' }), [
    'dagkoerier.example: timeZone is "Amsterdam"; write an IANA name such as Europe/Amsterdam.',
  ])
  t.match(problems({ ...OUTLET, feeds: ['ftp://x'] }), [
    /"ftp:\/\/x" is no address that can be fetched/,
  ])
  t.match(problems({ ...OUTLET, feeds: ['https://['] }), [
    /"https:\/\/\[" is no address that can be fetched/,
  ])
  t.match(
    problems({ ...OUTLET, country: 'DE' }, { ...OUTLET, timeZone: 'x', feeds: ['ftp://x'] }),
    [/country must be/, /timeZone is "x"/, /"ftp:\/\/x"/],
    'all at once',
  )
  t.match(
    problems({ ...OUTLET, country: 'DE', timeZone: 'x', feed: 1, feeds: [3, 'ftp://x'] }),
    [/country/, /feeds with 3 must be string/, /timeZone is "x"/, /"ftp:/, /"feed" means nothing/],
    'also of one outlet',
  )
  const alone: [string, object][] = [
    ['a zone that is empty', { timeZone: '' }],
    ['a zone that is no text', { timeZone: 3 }],
    ['an address that is empty', { feeds: [''] }],
  ]
  for (const [name, fields] of alone) t.equal(problems({ ...OUTLET, ...fields }).length, 1, name)
  t.match(problems({ ...OUTLET, country: 'DE', feed: 1 }), [/country/, /"feed" means nothing/])
  const [long = ''] = problems({ ...OUTLET, languages: ['x'.repeat(100)] })
  t.match(long, /and not "x{59}\.$/, 'a long value is cut')
  t.same(problems({ name: 'X' }), [
    'outlet 1 (X): domain is missing.',
    'outlet 1 (X): country is missing.',
    'outlet 1 (X): languages is missing.',
    'outlet 1 (X): timeZone is missing.',
  ])
  t.same(problems(OUTLET, { ...OUTLET, domain: 'www.dagkoerier.example' }), [
    'dagkoerier.example stands twice; an outlet is known by its domain.',
  ])
  t.throws(() => readCatalogue('{"outlets": [null]}'), /^outlet 1: must be object/)
  const many = Array.from({ length: 21 }, () => ({ ...OUTLET, country: 'DE' }))
  t.throws(() => read(...many), { message: /^(.+\n){20}and 1 more$/ })
  t.throws(() => read(...many.slice(1)), { message: /^(.+\n){19}.+not "DE"\.$/ })
  t.throws(() => readCatalogue('[', 'o.json'), /^o\.json is not JSON: /)
  t.throws(() => readCatalogue('[]'), /write \{"outlets"/)
})

t.test(
  'a field takes its longest value and no longer one; who is untried, or shares a feed, is told',
  async t => {
    const list = (length: number) => Array.from({ length }, (_, at) => `http://a.example/${at}`)
    const hosts = (length: number) => Array.from({ length }, (_, at) => `h${at}.example`)
    for (const [field, right, wrong] of [
      ['name', 'a'.repeat(200), 'a'.repeat(201)],
      ['licence', 'a'.repeat(200), 'a'.repeat(201)],
      ['domain', 'a'.repeat(253), 'a'.repeat(254)],
      ['hosts', hosts(50), hosts(51)],
      ['languages', ['nl'], []],
      ['feeds', list(200), list(201)],
      ['sections', list(200), list(201)],
      ['sections', ['a'.repeat(200)], ['a'.repeat(201)]],
    ] as const) {
      t.same(
        [right, wrong].map(value => problems({ ...OUTLET, [field]: value }).length),
        [0, 1],
        field,
      )
    }
    const written = ['B.example', 'www.a.example', OUTLET.domain]
    const { outlets, notes } = read({ ...OUTLET, feeds: list(1), hosts: written, tried: null })
    t.same(outlets[0]?.hosts, ['a.example', 'b.example'])
    t.match(notes, [/^1 outlet is marked as untried/])
    t.match(
      read({ ...OUTLET, tried: null }, { ...OUTLET, domain: 'b.example', tried: null }).notes.at(
        -1,
      ),
      /^2 outlets are/,
    )
    t.same(read({ ...OUTLET, feeds: list(1), tried: {} }).notes, [])
    const feeds = ['c', 'a', 'b'].map(domain => ({
      domain,
      url: `http${domain === 'a' ? 's' : ''}://x.example/f`,
    }))
    const [shared, ...others] = sharedFeeds([...feeds, { domain: 'a', url: 'http://x.example/g' }])
    t.same([shared, others], [{ url: 'http://x.example/f', domains: ['a', 'b', 'c'] }, []])
    t.match(
      shared && sharedFeedSentence(shared),
      /^a, b and c name the same feed http:\/\/x\.example\/f:/,
    )
  },
)
