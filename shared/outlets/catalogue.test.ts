import t from 'tap'
import { CatalogueError, readCatalogue } from './catalogue.ts'

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
  const feeds = ['http://dagkoerier.example/rss', 'http://dagkoerier.example/rss', 'HTTP://127.0.0.1:8081/x.xml']
  t.same(read({ ...OUTLET, feeds, sitemaps: [] }).outlets[0]?.feeds, [
    'http://dagkoerier.example/rss',
    'http://127.0.0.1:8081/x.xml',
  ])
  t.same(read({ ...OUTLET, feed: 'x', timeZone: 'America/St_Johns', feeds }).notes, [
    'dagkoerier.example: the field "feed" means nothing here.',
  ])
})

t.test('mistakes are reported with the outlet’s and the field’s name', async t => {
  t.same(problems({ ...OUTLET, country: 'DE' }), ['dagkoerier.example: country must be one of NL, BE, LU.'])
  t.same(problems({ ...OUTLET, languages: ['nl', 'fy'] }), [
    'dagkoerier.example: languages 1 must be one of nl, fr, de, lb, en.',
  ])
  t.same(problems({ ...OUTLET, timeZone: 'Amsterdam' }), [
    'dagkoerier.example: timeZone is "Amsterdam"; write an IANA name such as Europe/Amsterdam.',
  ])
  t.match(problems({ ...OUTLET, feeds: ['ftp://x'] }), [/"ftp:\/\/x" is no address that can be fetched/])
  t.match(problems({ ...OUTLET, feeds: ['https://['] }), [/"https:\/\/\[" is no address that can be fetched/])
  t.same(problems({ name: 'X' }), [
    'outlet 1 (X): domain is missing.',
    'outlet 1 (X): country is missing.',
    'outlet 1 (X): languages is missing.',
    'outlet 1 (X): timeZone is missing.',
  ])
  t.same(problems(OUTLET, { ...OUTLET, domain: 'www.dagkoerier.example' }), [
    'dagkoerier.example stands twice; an outlet is known by its domain.',
  ])
  t.throws(() => readCatalogue('['), /not JSON/)
  t.throws(() => readCatalogue('[]'), /write \{"outlets"/)
})
