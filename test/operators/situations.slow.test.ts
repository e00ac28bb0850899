import t from 'tap'
import { jsonLines, runScript } from '../script.ts'

/*
 * Situations that people reported in public trackers of feed readers and extractors, with inputs of
 * our own. Each line goes through `npm run extract`.
 */

const url = 'https://dagkoerier.example/a/1'
const now = '2026-11-25T12:00:00Z'
const outlet = {
  name: 'De Dagkoerier',
  domain: 'dagkoerier.example',
  country: 'BE',
  timeZone: 'Europe/Brussels',
  languages: ['nl', 'fr', 'de'],
}
const title = 'Sluis in Evergem gaat een maand dicht'
const entry = { title, summary: 'Schepen varen om.' }
const PROSE = [
  'De sluis in Evergem gaat vanaf maandag een maand dicht, omdat de deuren van de westelijke kolk zijn versleten.',
  'Schepen moeten omvaren via Terneuzen en zijn daardoor een halve dag langer onderweg, zegt de beheerder van het kanaal.',
  'De werken kosten twee miljoen euro en waren voor het voorjaar gepland, maar een duiker vond in oktober een scheur.',
]
const page = ({
  head = '',
  heading = title,
  inside = PROSE.map(text => `<p>${text}</p>`).join(''),
}) =>
  `<!doctype html><html lang="nl"><head><title>${title}</title>${head}</head><body><article><h1>${heading}</h1>${inside}</article></body></html>`

async function extract(lines: object[]): Promise<Record<string, unknown>[]> {
  const input = lines.map(line => JSON.stringify({ url, outlet, now, ...line })).join('\n')
  return jsonLines((await runScript('extract', [], {}, input)).out)
}

/** A field of articles, or a place of rows. */
const column = (rows: readonly object[], key: string | number) =>
  rows.map(row => Reflect.get(row, key))

t.test(
  'a stated time zone counts: names, offsets after a name, a minus sign of typographers',
  async t => {
    const dates = [
      ['Wed, 25 Nov 2026 04:00:00 America/New_York', '2026-11-25T09:00:00.000Z'],
      ['2026-11-24T10:15:00[Europe/London]', '2026-11-24T10:15:00.000Z'],
      ['Tue, 24 Nov 2026 10:00:00 GMT +0200', '2026-11-24T08:00:00.000Z'],
      ['Tue, 24 Nov 2026 10:00:00 CET +0100', '2026-11-24T09:00:00.000Z'],
      ['2026-11-24T10:00:00\u221205:00', '2026-11-24T15:00:00.000Z'],
      ['Tue, 24 Nov 2026 7:4:9 +0100', '2026-11-24T06:04:09.000Z'],
      ['Tue, 24 Nov 2026 10:00:00 Somewhere/Else', '2026-11-24T09:00:00.000Z'],
    ] as const
    const found = await extract(
      dates.map(([published]) => ({ status: 403, entry: { ...entry, published } })),
    )
    t.same(column(found, 'published_at'), column(dates, 1))
  },
)

t.test('a page’s date may be one number', async t => {
  const metas = ['202611230715', '20261123071530'].map(
    date => `<meta property="article:published_time" content="${date}">`,
  )
  const found = await extract(metas.map(head => ({ html: page({ head }), entry })))
  t.same(column(found, 'published_at'), ['2026-11-23T06:15:00.000Z', '2026-11-23T06:15:30.000Z'])
})

t.test('by-lines name people, without agencies, photographers, offices and others', async t => {
  const bylines: [string, string[]][] = [
    ['Claire Lambert avec Belga', ['Claire Lambert']],
    ['Pieter Claes met ANP', ['Pieter Claes']],
    ['Jonas Keller mit dpa', ['Jonas Keller']],
    ['Von BLATT-Online-Korrespondentin Eva Roth', ['Eva Roth']],
    ['Text Eva Roth, Fotos Uwe Kern', ['Eva Roth']],
    ['Tekst Pieter Claes, beeld Ans Mol', ['Pieter Claes']],
    ['Pieter Claes sr.', ['Pieter Claes sr.']],
    ['Pieter Claes en anderen', ['Pieter Claes']],
    ['Claire Lambert et autres', ['Claire Lambert']],
  ]
  const found = await extract(
    bylines.map(([byline]) => ({
      html: page({ head: `<meta name="author" content="${byline}">` }),
      entry,
    })),
  )
  t.same(column(found, 'authors'), column(bylines, 1))
})

t.test('names and loan words do not prove another language than the outlet’s only one', async t => {
  const titles = [
    ['nl', 'Herman van der Straeten', 'nl'],
    ['fr', 'Jan De Smet à Paris', 'fr'],
    ['de', 'New York Marathon', 'de'],
    ['nl', 'The storm is not over and they want you to stay', 'en'],
  ] as const
  const found = await extract(
    titles.map(([language, text]) => ({
      status: 403,
      entry: { title: text },
      outlet: { ...outlet, languages: [language] },
    })),
  )
  t.same(column(found, 'language'), column(titles, 2))
})

t.test(
  'a bot defence in words that nobody has listed is told by several signs, noindex alone by none',
  async t => {
    const head = '<meta name="robots" content="noindex">'
    const defence = `<!doctype html><html><head><title>Een ogenblik</title>${head}</head><body><script>work(48213)</script><h1>Een ogenblik</h1><p>Uw computer lost een raadsel op.</p></body></html>`
    const [blocked, wished, indexed] = await extract([
      { html: defence, entry },
      { html: page({ head: `${head}<script>menu()</script>` }), entry },
      { html: defence.replace(head, ''), entry },
    ])
    t.match(blocked, { title, body: 'Schepen varen om.', interstitial: 'challenge' })
    t.match(wished, { refused: 'rights', interstitial: null })
    t.equal(indexed?.interstitial, 'challenge', 'the other signs suffice')
  },
)

t.test('an article in a hidden wrapper is read; one sentence of it may be a link', async t => {
  const linked = PROSE.map((text, at) =>
    at === 1 ? `<p><a href="/kanaal">${text}</a></p>` : `<p>${text}</p>`,
  ).join('')
  const hidden = page({ inside: linked }).replace(
    '<body>',
    '<body><div id="root" aria-hidden="true">',
  )
  const [found] = await extract([{ html: hidden, entry }])
  t.match(found?.body, /^De sluis in Evergem/)
})

t.test(
  'a headline that was cut for search engines is read whole, and a site’s name is no part of it',
  async t => {
    const whole =
      'Beheerder van het kanaal wil dat de sluis in Evergem voortaan elke vijf jaar wordt gedroogd en nagekeken'
    const json = (headline: string) =>
      `<script type="application/ld+json">${JSON.stringify({ '@context': 'https://schema.org', '@type': 'NewsArticle', url, headline, datePublished: '2026-11-24T09:00:00+01:00' })}</script>`
    const [cut, marked, named] = await extract([
      { html: page({ head: json(`${whole.slice(0, 70)}…`), heading: whole }) },
      { html: page({ head: json(`${whole.slice(0, 62)}...`), heading: whole }) },
      { html: page({ heading: '' }).replace(`<title>${title}`, `<title>${title} « De Dagkoerier`) },
    ])
    t.same([cut?.title, marked?.title, named?.title], [whole, whole, title])
  },
)

t.test('markup that JSON-LD escapes once more is no text', async t => {
  const articleBody = PROSE.map(text => `&lt;p&gt;${text}&lt;/p&gt;`).join('')
  const head = `<script type="application/ld+json">${JSON.stringify({ '@context': 'https://schema.org', '@type': 'NewsArticle', url, headline: title, articleBody })}</script>`
  const [found] = await extract([{ html: page({ head, inside: '' }), entry }])
  t.match(found?.snippet, /^De sluis in Evergem/)
})

t.test(
  'a long text about cookies in a box without a name does not hide a short article',
  async t => {
    const cookies =
      'Wij gebruiken cookies om advertenties te tonen die bij u passen en om het verkeer te meten. '.repeat(
        15,
      )
    const box = `<div id="x1"><p>${cookies}</p></div>`
    const short = 'De sluis is een maand dicht, zegt de beheerder.'
    const [shown, wall] = await extract([
      { html: page({ inside: `<p>${short}</p>` }).replace('</body>', `${box}</body>`), entry },
      { html: page({ inside: '' }).replace('</body>', `${box}</body>`), entry },
    ])
    t.match(shown, { body: short, interstitial: null })
    t.match(wall, { body: 'Schepen varen om.', interstitial: 'cookie wall' })
  },
)

t.test(
  'a sentence of the article that is a link stays, a teaser between its sentences goes',
  async t => {
    const sentence =
      'In maart keurde de raad van Evergem het plan goed, nadat drie aannemers een prijs hadden genoemd.'
    const teaser =
      'Schippers van het kanaal eisen geld terug van de beheerder na een jaar van wachten en omvaren'
    const linked = (text: string) => `<p><a href="/a/2">${text}</a></p>`
    const inside = (text: string) =>
      PROSE.map((each, at) => `<p>${each}</p>${at === 0 ? linked(text) : ''}`).join('')
    const [kept, left] = await extract(
      [sentence, teaser].map(text => ({ html: page({ inside: inside(text) }), entry })),
    )
    t.match(kept?.body, sentence)
    t.notMatch(left?.body, teaser)
    t.match(left?.body, PROSE[2])
  },
)

t.test('the canonical link of an AMP page is believed, however short its last step', async t => {
  const at = (path: string) => `https://www.dagkoerier.example${path}`
  const head = (path: string) => `<link rel="canonical" href="${at(path)}">`
  const [amp, section] = await extract([
    {
      url: at('/amp/nieuws/sluis-dicht'),
      html: page({ head: head('/nieuws/sluis-dicht') }),
      entry,
    },
    { url: at('/nieuws/gent/sluis-dicht'), html: page({ head: head('/nieuws/gent') }), entry },
  ])
  t.equal(amp?.url, at('/nieuws/sluis-dicht'))
  t.equal(section?.url, at('/nieuws/gent/sluis-dicht'))
})
