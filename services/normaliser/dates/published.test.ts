import t from 'tap'
import { feedEntry, jsonLd, metaOf } from '../../../test/normaliser/pages.ts'
import { dateChoice } from './published.ts'

const NOW = new Date('2026-11-21T12:00:00Z')
const URL_ = 'https://www.dagkoerier.example/artikel/brug-dicht'
const HEADLINE = 'Brug over de Maas dicht voor al het verkeer'
const PROSE = `<p>${'De brug blijft tot het voorjaar dicht, zegt de gemeente. '.repeat(4)}</p>`

interface Said {
  head?: string
  data?: object
  /** `above` is before the headline, `body` behind it. */
  above?: string
  body?: string
  feed?: string
  url?: string
  text?: string
  timeZone?: string
  lang?: string
}

function published(said: Said): string | null {
  const {
    head = '',
    data,
    above = '',
    body = '',
    feed,
    url = URL_,
    timeZone = 'Europe/Amsterdam',
    lang = 'nl',
  } = said
  const stated = data === undefined ? '' : jsonLd(data)
  const html = `<html lang="${lang}"><head><title>${HEADLINE}</title>${head}${stated}</head>
    <body>${above}<h1>${HEADLINE}</h1>${body}</body></html>`
  const entry = feed === undefined ? null : feedEntry({ published: feed })
  return (
    dateChoice(metaOf(html, url), entry, { timeZone }, said.text ?? '', NOW)?.value.toISOString() ??
    null
  )
}

/** The day that a page without structured data shows as its publication. */
const dayOf = (said: Said) => published(said)?.slice(0, 10) ?? null
const behind = (markup: string) => dayOf({ body: markup + PROSE })

const article = (datePublished: string, more: object = {}) => ({
  '@type': 'NewsArticle',
  datePublished,
  ...more,
})
const meta = (name: string, content: string) => `<meta property="${name}" content="${content}">`

t.test('decision 36: structured data, meta tags, feed, page, in that order of trust', async t => {
  const said = {
    data: article('2026-11-01T10:00:00+01:00'),
    head: meta('article:published_time', '2026-11-02T10:00:00+01:00'),
    feed: 'Tue, 03 Nov 2026 10:00:00 +0100',
    body: '<time datetime="2026-11-04T10:00:00+01:00">4 november 2026 10:00</time>',
  }
  t.equal(published(said), '2026-11-01T09:00:00.000Z')
  t.equal(
    published({ head: said.head, feed: said.feed, body: said.body }),
    '2026-11-02T09:00:00.000Z',
  )
  t.equal(published({ feed: said.feed, body: said.body }), '2026-11-03T09:00:00.000Z')
  t.equal(published({ body: said.body }), '2026-11-04T09:00:00.000Z')
  t.equal(
    published({ url: 'https://www.dagkoerier.example/2026/11/05/brug-dicht' }),
    '2026-11-05T00:00:00.000Z',
  )
  t.equal(published({}), null)
})

t.test('decision 36: without an offset, the outlet’s clocks count', async t => {
  const at = (written: string, timeZone: string) => published({ data: article(written), timeZone })
  t.equal(at('2026-07-15T14:05:00', 'Europe/Brussels'), '2026-07-15T12:05:00.000Z')
  t.equal(
    published({ body: '<p>Gepubliceerd op 3 november 2026 om 14.05 uur</p>' }),
    '2026-11-03T13:05:00.000Z',
  )
  t.equal(
    published({ feed: '3 november 2026 14:05', timeZone: 'Europe/London' }),
    '2026-11-03T14:05:00.000Z',
  )
})

t.test(
  'decision 36: impossible dates are ignored: more than a day ahead, before 1990, no calendar’s day',
  async t => {
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
      t.equal(published({ data: article(bad) }), null, bad)
      t.equal(published({ data: article(bad), feed }), '2026-11-03T09:00:00.000Z', bad)
    }
    // A date up to 24 hours ahead may come from a clock that is wrong.
    for (const good of [
      '2026-11-22T12:00:00.000Z',
      '1990-01-01T00:00:00.000Z',
      '2026-11-03T13:05:06.789Z',
    ])
      t.equal(published({ data: article(good) }), good)
  },
)

t.test('decision 36: a change of the article is not its publication', async t => {
  t.equal(
    published({ data: { '@type': 'NewsArticle', dateModified: '2026-11-01T10:00:00Z' } }),
    null,
  )
  for (const name of ['article:modified_time', 'og:updated_time', 'dateModified'])
    t.equal(published({ head: meta(name, '2026-11-01T10:00:00Z') }), null, name)
  t.equal(published({ body: '<p>Bijgewerkt: 3 november 2026, 14:05</p>' }), null)
  t.equal(
    published({
      body: '<p>Correctie 4 november 2026: in een eerdere versie stond een andere naam.</p>',
    }),
    null,
  )
  const both = '<p>3 november 2026, 14:05 | bijgewerkt 4 november 2026, 9:00</p>'
  t.equal(published({ body: both }), '2026-11-03T13:05:00.000Z')
})

t.test(
  'a day without a time takes its time from the next source of that day, else it is 00:00 UTC',
  async t => {
    const data = article('2026-11-03')
    t.equal(
      published({ data, feed: 'Tue, 03 Nov 2026 10:00:00 +0100' }),
      '2026-11-03T09:00:00.000Z',
    )
    t.equal(
      published({ data, feed: 'Wed, 04 Nov 2026 10:00:00 +0100' }),
      '2026-11-03T00:00:00.000Z',
    )
  },
)

t.test(
  'the page’s own dateline is the one near the headline, not another article’s or the text’s',
  async t => {
    const teaser =
      '<aside class="related"><time datetime="2026-11-09T09:00:00Z">9 november 2026</time></aside>'
    const prose = `<p>${'De brug werd op 12 mei 1987 geopend en daarna nog twee keer verbreed. '.repeat(4)}</p>`
    t.equal(
      published({ body: `${teaser}<p>3 november 2026, 14:05</p>${prose}` }),
      '2026-11-03T13:05:00.000Z',
    )
    t.equal(published({ body: `<p>Door Jan Smit</p>${prose}${prose}${prose}${teaser}` }), null)
    const opening = `Op 12 mei 1987 ging de brug open voor het verkeer. ${'Daarna werd zij nog twee keer verbreed. '.repeat(4)}`
    t.equal(published({ body: `<p>${opening}</p>`, text: opening }), null)
    t.equal(
      published({ text: `MAASTRICHT (3 november 2026) – ${opening}` }),
      '2026-11-03T00:00:00.000Z',
    )
    t.equal(
      published({ body: `<p>Maastricht (03.11.2026) – ${prose.slice(3)}` }),
      '2026-11-03T00:00:00.000Z',
    )
  },
)

t.test('decision 36: never now: the masthead’s date of today is no article’s', async t => {
  const heads = [
    '<header><p>zaterdag 21 november 2026</p></header>',
    '<div class="topbar">zaterdag 21 november 2026</div>',
    '<div class="date-today"><time datetime="2026-11-21">21 november</time></div>',
  ]
  for (const above of heads) t.equal(published({ above, body: '<p>Tekst</p>' }), null, above)
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

t.test(
  'a page that names its title in the address only has its dateline behind that headline',
  async t => {
    const page = (heading: string) => `<html><head><title>dagkoerier.example</title></head><body>
    <h1><a href="/"><img src="/logo.svg" alt=""></a></h1><main><h2>${heading}</h2><p>door <a>Jan Smit</a>, 3.11.26</p>
    <p>${'De brug over de Maas is dicht. '.repeat(20)}</p></main></body></html>`
    const url = 'https://dagkoerier.example/brug-over-de-maas-weken-dicht-12345.html'
    const read = (heading: string) => {
      const meta = metaOf(page(heading), url)
      return [
        meta.titles.headline,
        dateChoice(meta, null, { timeZone: 'Europe/Amsterdam' }, '', NOW)?.value.toISOString(),
      ]
    }
    t.same(read('Brug over de Maas – weken dicht!'), [
      'Brug over de Maas – weken dicht!',
      '2026-11-03T00:00:00.000Z',
    ])
    t.same(read('Waar de stad om draait'), [null, undefined])
  },
)

t.test(
  'of two clocks that show one time the one that is not late counts; another time is another date',
  async t => {
    const both = (structured: string, tag: string) =>
      published({ data: article(structured), head: meta('article:published_time', tag) })
    t.equal(both('2026-11-03T14:05:06Z', '2026-11-03T13:05:06+00:00'), '2026-11-03T13:05:06.000Z')
    t.equal(both('2026-11-03T13:05:06Z', '2026-11-03T14:05:06+00:00'), '2026-11-03T13:05:06.000Z')
    t.equal(both('2026-11-03T14:05:00Z', '2026-11-03T14:05:00+01:00'), '2026-11-03T13:05:00.000Z')
    t.equal(both('2026-11-03T14:05:00+01:00', '2026-11-03T14:05:00Z'), '2026-11-03T13:05:00.000Z')
    t.equal(both('2026-11-03T14:05:00Z', '2026-11-03T13:05:00Z'), '2026-11-03T14:05:00.000Z')
    t.equal(both('2026-11-03T14:05:06Z', '2026-11-03T13:05:07Z'), '2026-11-03T14:05:06.000Z')
    t.equal(both('2026-11-03T23:05:06Z', '2026-11-03T08:05:06Z'), '2026-11-03T23:05:06.000Z')
  },
)

t.test('a label in the line before a date tells its meaning', async t => {
  t.equal(behind('<dl><dt>Bijgewerkt</dt><dd>4 november 2026</dd></dl>'), null)
  for (const label of [
    'Gepubliceerd',
    'Publié le',
    'Veröffentlicht',
    'Publiziert am',
    'Verëffentlecht',
    'Posted',
  ]) {
    const listed = `<ul><li>Laatst gewijzigd</li><li>4 november 2026</li><li>${label}</li><li>3 november 2026</li></ul>`
    t.equal(behind(listed), '2026-11-03', label)
  }
  t.equal(behind('<p>Gepubliceerd in Maastricht</p><p>3 november 2026</p>'), '2026-11-03')
})

t.test('words before a marked date count as well as its class name', async t => {
  t.equal(
    behind('<p>Bijgewerkt: <time datetime="2026-11-04T09:00:00Z">4 november</time></p>'),
    null,
  )
  const both =
    '<p>Mis à jour le <time datetime="2026-11-04T09:00Z">4 novembre</time>, publié le <time datetime="2026-11-03T09:00Z">3 novembre</time></p>'
  t.equal(behind(both), '2026-11-03')
})

t.test('a date that calls itself the publication comes before one that does not', async t => {
  t.equal(
    behind('<p><time>2 januari 2026</time></p><p>Gepubliceerd: 3 november 2025</p>'),
    '2025-11-03',
  )
})

t.test('the time of a change that a theme hides in the byline is not the dateline', async t => {
  const hidden =
    '<div class="post-meta">Jan Smit <span class="updated">2026-11-07T10:10:52+01:00</span> <span>3 november 2026</span></div>'
  t.equal(behind(hidden), '2026-11-03')
  const hatom = '<div>door Jan Smit, <time class="updated">3 november 2026</time></div>'
  t.equal(behind(hatom), '2026-11-03', 'hAtom knows no other class')
})

t.test('the date of a quotation is not the article’s', async t => {
  const lead = '<p>Kort.</p>'.repeat(4)
  t.equal(
    behind(`${lead}<blockquote>Posted by Jan Smit on Monday, November 2, 2026</blockquote>`),
    null,
  )
  t.equal(behind('<div>— Jan Smit (@jansmit) 2 november 2026</div>'), null)
  t.equal(behind('<p>Soldaten op wacht bij de oude brug (Maastricht, 6-12-2010)</p>'), null)
  t.equal(behind('<p>Foto: Jan Smit, 6-12-2010</p>'), null)
  t.equal(
    behind('<p>De open dag op de werf is op 6 december 2010 om 14 uur.</p>'),
    null,
    'nor is that of an event',
  )
})

t.test('a box named for its byline is the article’s, with any other words in its name', async t => {
  t.equal(
    dayOf({ above: '<div class="teaser_text_meta">Jan Smit / 03.11.2026 / 09:30</div>' }),
    '2026-11-03',
  )
  const teaser = '<div class="teaser"><h3>Een ander bericht</h3><p>9 november 2026</p></div>'
  t.equal(behind(PROSE.repeat(3) + teaser), null)
})

t.test('where the page tells the headline once more, the date beside it counts', async t => {
  const box = (inner: string) => dayOf({ body: `${PROSE.repeat(15)}<aside>${inner}</aside>` })
  t.equal(box(`<p>${HEADLINE}</p><p>Wat er gebeurt.</p><p>3 november 2026</p>`), '2026-11-03')
  t.equal(box(`<p>${HEADLINE} 3-11-2026 - 10:24</p>`), '2026-11-03')
  t.equal(box('<p>Een heel ander bericht over de Maas</p><p>9 november 2026</p>'), null)
  const dateFirst = `<p>3 november 2026</p><p>${HEADLINE}</p><p>2 november 2026</p><p>Een ander bericht over iets</p>`
  t.not(box(dateFirst), '2026-11-02', 'a list whose dates stand before what they date')
})

t.test('a line of a date and nothing else may stand further off', async t => {
  const far = (line: string) => behind(`${'<p>Kort.</p>'.repeat(20)}<div>${line}</div>`)
  t.equal(far('op dinsdag 3 november 2026 om 10:30 uur (reageer)'), '2026-11-03')
  t.equal(far('am Dienstag, 03.11.2026 - 10:30'), '2026-11-03')
  t.equal(far('mardi 3 novembre 2026 à 10h30'), '2026-11-03')
  t.equal(far('Op 3 november 2026 ging de brug dicht'), null)
  t.equal(far('Dit bericht werd gepubliceerd op 3 november 2026 door Jan Smit'), '2026-11-03')
  const opening =
    'De aannemer, die al jaren aan bruggen over de Maas werkt en van wie vorig jaar een boek verscheen op'
  t.equal(
    far(
      `${opening} 3 november 2025, zegt dat er geen haast bij is en dat niemand zich zorgen hoeft te maken.`,
    ),
    null,
  )
})

t.test(
  '3/4/2026 is read in the order that the page’s other dates show, else day first',
  async t => {
    const byline = '<p>03/04/2026</p>'
    const elsewhere = (date: string, lang = 'nl') =>
      dayOf({ lang, body: `${byline}${PROSE}<div>Agenda ${date} en verder</div>` })
    t.equal(behind(byline), '2026-04-03')
    t.equal(elsewhere('11/23/2025'), '2026-03-04')
    t.equal(elsewhere('23/11/2025', 'en-US'), '2026-04-03')
    t.equal(elsewhere('niets', 'en-US'), '2026-03-04')
  },
)

t.test(
  'a date of an item that links elsewhere, or of data about another address, is none',
  async t => {
    const time = (day: number) => `<time datetime="2026-11-${day}">${day} november 2026</time>`
    const lists = {
      items: `<ul>${[12, 13].map(day => `<li>${time(day)} <a href="/a/${day}">Tram ontspoord</a></li>`).join('')}</ul>`,
      texts: `<ul>${[12, 13].map(day => `<li>${day}-11-2026 <a href="/a/${day}">Tram ontspoord</a></li>`).join('')}</ul>`,
      cards: [12, 13]
        .map(
          day =>
            `<div class="k"><p>${time(day)}</p><h4><a href="/a/${day}">Tram ontspoord</a></h4></div>`,
        )
        .join(''),
      articles: `<article><meta itemprop="datePublished" content="2026-11-12"><h3><a href="/a/12">Tram</a></h3></article>`,
      data: jsonLd({
        '@type': 'ItemList',
        itemListElement: {
          '@type': 'ListItem',
          item: article('2026-11-12', {
            headline: 'Tram ontspoord',
            url: 'https://www.dagkoerier.example/a/12',
          }),
        },
      }),
      one: jsonLd(
        article('2026-11-12', {
          headline: 'Tram ontspoord in Aalst',
          url: 'https://www.dagkoerier.example/a/12',
        }),
      ),
    }
    for (const [name, list] of Object.entries(lists)) {
      t.equal(dayOf({ above: list, body: PROSE }), null, name)
      t.equal(
        dayOf({ above: list, body: `<span class="datePublished">3 november 2026</span>${PROSE}` }),
        '2026-11-03',
        name,
      )
    }
    const byline = `<ul><li>Door <a href="/auteur/jan">Jan Smit</a></li><li>${time(3)}</li></ul>`
    t.equal(behind(byline), '2026-11-03', 'a by-line is no such item')
    t.equal(behind(`<p><a href="/politiek">Politiek</a> ${time(3)}</p>`), '2026-11-03')
    t.equal(
      published({
        data: article('2026-11-12', {
          headline: 'Maas: brug dicht',
          url: 'https://www.dagkoerier.example/amp/9',
        }),
      })?.slice(0, 10),
      '2026-11-12',
    )
  },
)
t.test(
  'a live blog began when it was published, its coverage began, or its oldest entry came',
  async t => {
    const liveBlogUpdate = [
      '2026-11-05T18:00:00Z',
      '2026-11-05T06:00:00Z',
      '2026-11-05T12:00:00Z',
    ].map(at => ({
      '@type': 'BlogPosting',
      datePublished: at,
    }))
    const live = { '@type': 'LiveBlogPosting', liveBlogUpdate }
    t.equal(published({ data: live }), '2026-11-05T06:00:00.000Z')
    t.equal(
      published({ data: { ...live, coverageStartTime: '2026-11-05T05:00:00Z' } }),
      '2026-11-05T05:00:00.000Z',
    )
    t.equal(
      published({
        data: {
          ...live,
          coverageStartTime: '2026-11-05T05:00:00Z',
          datePublished: '2026-11-04T05:00:00Z',
        },
      }),
      '2026-11-04T05:00:00.000Z',
    )
  },
)
