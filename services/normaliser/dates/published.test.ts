import t from 'tap'
import { tryRows } from '#test/examples'
import { feedEntry, jsonLd, metaOf } from '#test/normaliser/pages'
import TABLE from './published.json' with { type: 'json' }
import { dateChoice } from './published.ts'

const NOW = new Date('2026-11-21T12:00:00Z')
const URL_ = 'https://www.dagkoerier.example/artikel/brug-dicht'
const HEADLINE = 'Brug over de Maas dicht voor al het verkeer'
const PROSE = `<p>${'De brug blijft tot het voorjaar dicht, zegt de gemeente. '.repeat(4)}</p>`

interface Said {
  head?: string | undefined
  data?: object | undefined
  /** `above` is before the headline, `body` behind it. */
  above?: string | undefined
  body?: string | undefined
  feed?: string | undefined
  url?: string | undefined
  text?: string | undefined
  timeZone?: string | undefined
  lang?: string | undefined
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

/** `why` is for those who read the table. */
interface Row extends Said {
  /** A whole time, or a day where the day alone counts. */
  date: string | null
  why?: string | undefined
}

tryRows<Row>(t, TABLE, { prose: PROSE, headline: HEADLINE }, (t, { date, ...said }, about) =>
  t.equal(published(said)?.slice(0, date?.length) ?? null, date, about),
)

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

t.test('where the page tells the headline once more, the date beside it counts', async t => {
  const box = (inner: string) => dayOf({ body: `${PROSE.repeat(15)}<aside>${inner}</aside>` })
  t.equal(box(`<p>${HEADLINE}</p><p>Wat er gebeurt.</p><p>3 november 2026</p>`), '2026-11-03')
  t.equal(box(`<p>${HEADLINE} 3-11-2026 - 10:24</p>`), '2026-11-03')
  t.equal(box('<p>Een heel ander bericht over de Maas</p><p>9 november 2026</p>'), null)
  const dateFirst = `<p>3 november 2026</p><p>${HEADLINE}</p><p>2 november 2026</p><p>Een ander bericht over iets</p>`
  t.not(box(dateFirst), '2026-11-02', 'a list whose dates stand before what they date')
})

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
