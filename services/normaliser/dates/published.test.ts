import t from 'tap'
import { feedEntry } from '../../../test/normaliser/pages.ts'
import { parsePage } from '../markup/tree.ts'
import { readMetadata } from '../metadata/metadata.ts'
import { dateChoice } from './published.ts'

const NOW = new Date('2026-11-21T12:00:00Z')
const URL_ = 'https://www.dagkoerier.example/artikel/brug-dicht'

interface Said {
  head?: string
  jsonLd?: object
  body?: string
  feed?: string
  url?: string
  text?: string
  timeZone?: string
}

function published(said: Said): string | null {
  const jsonLd =
    said.jsonLd === undefined ? '' : `<script type="application/ld+json">${JSON.stringify(said.jsonLd)}</script>`
  const html = `<html lang="nl"><head><title>Brug over de Maas dicht</title>${said.head ?? ''}${jsonLd}</head>
    <body><h1>Brug over de Maas dicht</h1>${said.body ?? ''}</body></html>`
  const entry = said.feed === undefined ? null : feedEntry({ published: said.feed })
  const outlet = { timeZone: said.timeZone ?? 'Europe/Amsterdam' }
  const found = dateChoice(readMetadata(parsePage(html), said.url ?? URL_), entry, outlet, said.text ?? '', NOW)
  return found?.value.toISOString() ?? null
}

const article = (datePublished: string, more: object = {}) => ({ '@type': 'NewsArticle', datePublished, ...more })
const meta = (name: string, content: string) => `<meta property="${name}" content="${content}">`

t.test('decision 36: structured data, meta tags, feed, page, in that order of trust', async t => {
  const said = {
    jsonLd: article('2026-11-01T10:00:00+01:00'),
    head: meta('article:published_time', '2026-11-02T10:00:00+01:00'),
    feed: 'Tue, 03 Nov 2026 10:00:00 +0100',
    body: '<time datetime="2026-11-04T10:00:00+01:00">4 november 2026 10:00</time>',
  }
  t.equal(published(said), '2026-11-01T09:00:00.000Z')
  t.equal(published({ head: said.head, feed: said.feed, body: said.body }), '2026-11-02T09:00:00.000Z')
  t.equal(published({ feed: said.feed, body: said.body }), '2026-11-03T09:00:00.000Z')
  t.equal(published({ body: said.body }), '2026-11-04T09:00:00.000Z')
  t.equal(published({ url: 'https://www.dagkoerier.example/2026/11/05/brug-dicht' }), '2026-11-05T00:00:00.000Z')
  t.equal(published({}), null)
})

t.test('decision 36: without an offset, the outlet’s clocks count', async t => {
  const at = (written: string, timeZone: string) => published({ jsonLd: article(written), timeZone })
  t.equal(at('2026-07-15T14:05:00', 'Europe/Brussels'), '2026-07-15T12:05:00.000Z')
  t.equal(published({ body: '<p>Gepubliceerd op 3 november 2026 om 14.05 uur</p>' }), '2026-11-03T13:05:00.000Z')
  t.equal(published({ feed: '3 november 2026 14:05', timeZone: 'Europe/London' }), '2026-11-03T14:05:00.000Z')
})

t.test('decision 36: impossible dates are ignored: more than a day ahead, before 1990, no calendar’s day', async t => {
  const feed = 'Tue, 03 Nov 2026 10:00:00 +0100'
  for (const bad of [
    '2026-11-22T12:00:01Z',
    '2099-01-01',
    '1989-12-31T23:59:59Z',
    '1970-01-01T00:00:00Z',
    '2026-02-30T10:00:00Z',
    '0001-01-01T00:00:00',
    'gisteren',
    '',
  ]) {
    t.equal(published({ jsonLd: article(bad) }), null, bad)
    t.equal(published({ jsonLd: article(bad), feed }), '2026-11-03T09:00:00.000Z', bad)
  }
  t.equal(
    published({ jsonLd: article('2026-11-22T12:00:00Z') }),
    '2026-11-22T12:00:00.000Z',
    'up to 24 hours ahead is a clock that goes wrong',
  )
  t.equal(published({ jsonLd: article('1990-01-01T00:00:00Z') }), '1990-01-01T00:00:00.000Z')
})

t.test('decision 36: a change of the article is not its publication', async t => {
  t.equal(published({ jsonLd: { '@type': 'NewsArticle', dateModified: '2026-11-01T10:00:00Z' } }), null)
  t.equal(
    published({
      head: meta('article:modified_time', '2026-11-01T10:00:00Z') + meta('og:updated_time', '2026-11-01T10:00:00Z'),
    }),
    null,
  )
  t.equal(published({ body: '<p>Bijgewerkt: 3 november 2026, 14:05</p>' }), null)
  t.equal(
    published({ body: '<p>3 november 2026, 14:05 | bijgewerkt 4 november 2026, 9:00</p>' }),
    '2026-11-03T13:05:00.000Z',
  )
})

t.test('a day without a time takes its time from the next source of that day, else it is 00:00 UTC', async t => {
  t.equal(
    published({ jsonLd: article('2026-11-03'), feed: 'Tue, 03 Nov 2026 10:00:00 +0100' }),
    '2026-11-03T09:00:00.000Z',
  )
  t.equal(
    published({ jsonLd: article('2026-11-03'), feed: 'Wed, 04 Nov 2026 10:00:00 +0100' }),
    '2026-11-03T00:00:00.000Z',
  )
})

t.test('milliseconds are kept', async t => {
  t.equal(published({ jsonLd: article('2026-11-03T14:05:06.789+01:00') }), '2026-11-03T13:05:06.789Z')
})

t.test('the page’s own dateline is the one near the headline, not another article’s or the text’s', async t => {
  const teaser = '<aside class="related"><time datetime="2026-11-09T09:00:00Z">9 november 2026</time></aside>'
  const prose = `<p>${'De brug werd op 12 mei 1987 geopend en daarna nog twee keer verbreed. '.repeat(4)}</p>`
  t.equal(published({ body: `${teaser}<p>3 november 2026, 14:05</p>${prose}` }), '2026-11-03T13:05:00.000Z')
  t.equal(published({ body: `<p>Door Jan Smit</p>${prose}${prose}${prose}${teaser}` }), null)
  const opening = `Op 12 mei 1987 ging de brug open voor het verkeer. ${'Daarna werd zij nog twee keer verbreed. '.repeat(4)}`
  t.equal(published({ body: `<p>${opening}</p>`, text: opening }), null)
  t.equal(published({ text: `MAASTRICHT (3 november 2026) – ${opening}` }), '2026-11-03T00:00:00.000Z')
  t.equal(published({ body: `<p>Maastricht (03.11.2026) – ${prose.slice(3)}` }), '2026-11-03T00:00:00.000Z')
})

t.test('decision 36: never now: the masthead’s date of today is no article’s', async t => {
  const heads = [
    '<header><p>zaterdag 21 november 2026</p></header>',
    '<div class="topbar">zaterdag 21 november 2026</div>',
    '<div class="date-today"><time datetime="2026-11-21">21 november</time></div>',
  ]
  for (const head of heads) {
    const html = `<html><head><title>Brug over de Maas dicht</title></head><body>${head}<main><h1>Brug over de Maas dicht</h1><p>Tekst</p></main></body></html>`
    t.equal(
      dateChoice(readMetadata(parsePage(html), URL_), null, { timeZone: 'Europe/Amsterdam' }, '', NOW)?.value ?? null,
      null,
      head,
    )
  }
})

t.test('the dateline counts before a meta tag that says only "date"', async t => {
  const head = '<meta name="date" content="2026-11-09">'
  t.equal(published({ head, body: '<p>3 november 2026, 14:05</p>' }), '2026-11-03T13:05:00.000Z')
  t.equal(published({ head }), '2026-11-09T00:00:00.000Z')
})

t.test('pages of scripts: the data they carry', async t => {
  const body = '<script>window.state={"article":{"publishedAt":"2026-11-03T13:05:00Z"}}</script>'
  t.equal(published({ body }), '2026-11-03T13:05:00.000Z')
})

t.test('a page that names its title in the address only has its dateline behind that headline', async t => {
  const page = (heading: string) => `<html><head><title>dagkoerier.example</title></head><body>
    <h1><a href="/"><img src="/logo.svg" alt=""></a></h1><main><h2>${heading}</h2><p>door <a>Jan Smit</a>, 3.11.26</p>
    <p>${'De brug over de Maas is dicht. '.repeat(20)}</p></main></body></html>`
  const url = 'https://dagkoerier.example/brug-over-de-maas-weken-dicht-12345.html'
  const read = (heading: string) => {
    const meta = readMetadata(parsePage(page(heading)), url)
    return [
      meta.titles.headline,
      (dateChoice(meta, null, { timeZone: 'Europe/Amsterdam' }, '', NOW)?.value ?? null)?.toISOString(),
    ]
  }
  t.same(read('Brug over de Maas – weken dicht!'), ['Brug over de Maas – weken dicht!', '2026-11-03T00:00:00.000Z'])
  t.same(read('Waar de stad om draait'), [null, undefined])
})

t.test('of two clocks that show one time the one that is not late counts; another time is another date', async t => {
  const both = (structured: string, tag: string) =>
    published({ jsonLd: article(structured), head: meta('article:published_time', tag) })
  t.equal(both('2026-11-03T14:05:06Z', '2026-11-03T13:05:06+00:00'), '2026-11-03T13:05:06.000Z')
  t.equal(both('2026-11-03T13:05:06Z', '2026-11-03T14:05:06+00:00'), '2026-11-03T13:05:06.000Z')
  t.equal(both('2026-11-03T14:05:00Z', '2026-11-03T14:05:00+01:00'), '2026-11-03T13:05:00.000Z')
  t.equal(both('2026-11-03T14:05:00+01:00', '2026-11-03T14:05:00Z'), '2026-11-03T13:05:00.000Z')
  t.equal(both('2026-11-03T14:05:00Z', '2026-11-03T13:05:00Z'), '2026-11-03T14:05:00.000Z')
  t.equal(both('2026-11-03T14:05:06Z', '2026-11-03T13:05:07Z'), '2026-11-03T14:05:06.000Z')
  t.equal(both('2026-11-03T23:05:06Z', '2026-11-03T08:05:06Z'), '2026-11-03T23:05:06.000Z')
})
