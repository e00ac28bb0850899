import t from 'tap'
import { jsonLines, runScript } from '#test/script'

/*
 * Situations that people reported in public trackers of feed readers and extractors, with inputs of
 * our own. All lines go through one `npm run extract`.
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

/** A page whose JSON-LD states an article. */
const stating = (fields: object, own: Parameters<typeof page>[0] = {}) => {
  const article = { '@context': 'https://schema.org', '@type': 'NewsArticle', url, ...fields }
  const head = `<script type="application/ld+json">${JSON.stringify(article)}</script>`
  return page({ head, ...own })
}
const dated = (published: string, published_at: string): Row => [
  { status: 403, entry: { ...entry, published } },
  { published_at },
]
const timed = (date: string, published_at: string): Row => [
  { html: page({ head: `<meta property="article:published_time" content="${date}">` }), entry },
  { published_at },
]
const signed = (byline: string, author: string): Row => [
  { html: page({ head: `<meta name="author" content="${byline}">` }), entry },
  { authors: [author] },
]
const titled = (own: string, text: string, language: string): Row => [
  { status: 403, entry: { title: text }, outlet: { ...outlet, languages: [own] } },
  { language },
]

const NOINDEX = '<meta name="robots" content="noindex">'
const DEFENCE = `<!doctype html><html><head><title>Een ogenblik</title>${NOINDEX}</head><body><script>work(48213)</script><h1>Een ogenblik</h1><p>Uw computer lost een raadsel op.</p></body></html>`
const WHOLE =
  'Beheerder van het kanaal wil dat de sluis in Evergem voortaan elke vijf jaar wordt gedroogd en nagekeken'
const COOKIES =
  'Wij gebruiken cookies om advertenties te tonen die bij u passen en om het verkeer te meten. '
const SHORT = 'De sluis is een maand dicht, zegt de beheerder.'
const beforeCookies = (inside: string) =>
  page({ inside }).replace('</body>', `<div id="x1"><p>${COOKIES.repeat(15)}</p></div></body>`)
const SENTENCE =
  'In maart keurde de raad van Evergem het plan goed, nadat drie aannemers een prijs hadden genoemd.'
const TEASER =
  'Schippers van het kanaal eisen geld terug van de beheerder na een jaar van wachten en omvaren'
const linked = (text: string) => `<p><a href="/a/2">${text}</a></p>`
const between = (text: string) =>
  PROSE.map((each, at) => `<p>${each}</p>${at === 0 ? linked(text) : ''}`).join('')
const at = (path: string) => `https://www.dagkoerier.example${path}`
const canonical = (from: string, to: string, expected: string): Row => [
  { url: at(from), html: page({ head: `<link rel="canonical" href="${at(to)}">` }), entry },
  { url: at(expected) },
]

/** Lines, and fields of what comes of them. */
type Row = [line: object, expected: Record<string, unknown>]
const SITUATIONS: Record<string, Row[]> = {
  'a stated time zone counts: names, offsets after a name, a minus sign of typographers': [
    dated('Wed, 25 Nov 2026 04:00:00 America/New_York', '2026-11-25T09:00:00.000Z'),
    dated('2026-11-24T10:15:00[Europe/London]', '2026-11-24T10:15:00.000Z'),
    dated('Tue, 24 Nov 2026 10:00:00 GMT +0200', '2026-11-24T08:00:00.000Z'),
    dated('Tue, 24 Nov 2026 10:00:00 CET +0100', '2026-11-24T09:00:00.000Z'),
    dated('2026-11-24T10:00:00\u221205:00', '2026-11-24T15:00:00.000Z'),
    dated('Tue, 24 Nov 2026 7:4:9 +0100', '2026-11-24T06:04:09.000Z'),
    dated('Tue, 24 Nov 2026 10:00:00 Somewhere/Else', '2026-11-24T09:00:00.000Z'),
  ],
  'a page’s date may be one number': [
    timed('202611230715', '2026-11-23T06:15:00.000Z'),
    timed('20261123071530', '2026-11-23T06:15:30.000Z'),
  ],
  'by-lines name people, without agencies, photographers, offices and others': [
    signed('Claire Lambert avec Belga', 'Claire Lambert'),
    signed('Pieter Claes met ANP', 'Pieter Claes'),
    signed('Jonas Keller mit dpa', 'Jonas Keller'),
    signed('Von BLATT-Online-Korrespondentin Eva Roth', 'Eva Roth'),
    signed('Text Eva Roth, Fotos Uwe Kern', 'Eva Roth'),
    signed('Tekst Pieter Claes, beeld Ans Mol', 'Pieter Claes'),
    signed('Pieter Claes sr.', 'Pieter Claes sr.'),
    signed('Pieter Claes en anderen', 'Pieter Claes'),
    signed('Claire Lambert et autres', 'Claire Lambert'),
  ],
  'names and loan words do not prove another language than the outlet’s only one': [
    titled('nl', 'Herman van der Straeten', 'nl'),
    titled('fr', 'Jan De Smet à Paris', 'fr'),
    titled('de', 'New York Marathon', 'de'),
    titled('nl', 'The storm is not over and they want you to stay', 'en'),
  ],
  'a bot defence in words that nobody has listed is told by several signs, noindex alone by none': [
    [
      { html: DEFENCE, entry },
      { title, body: entry.summary, interstitial: 'challenge' },
    ],
    [
      { html: page({ head: `${NOINDEX}<script>menu()</script>` }), entry },
      { refused: 'rights', interstitial: null },
    ],
    // The other signs suffice.
    [{ html: DEFENCE.replace(NOINDEX, ''), entry }, { interstitial: 'challenge' }],
  ],
  'an article in a hidden wrapper is read; one sentence of it may be a link': [
    [
      {
        html: page({ inside: `<p>${PROSE[0]}</p>${linked(PROSE[1]!)}<p>${PROSE[2]}</p>` }).replace(
          '<body>',
          '<body><div id="root" aria-hidden="true">',
        ),
        entry,
      },
      { body: /^De sluis in Evergem/ },
    ],
  ],
  'a headline that was cut for search engines is read whole, and a site’s name is no part of it': [
    [
      {
        html: stating(
          { headline: `${WHOLE.slice(0, 70)}…`, datePublished: now },
          { heading: WHOLE },
        ),
      },
      { title: WHOLE },
    ],
    [
      {
        html: stating(
          { headline: `${WHOLE.slice(0, 62)}...`, datePublished: now },
          { heading: WHOLE },
        ),
      },
      { title: WHOLE },
    ],
    [
      { html: page({ heading: '' }).replace(`<title>${title}`, `<title>${title} « De Dagkoerier`) },
      { title },
    ],
  ],
  'markup that JSON-LD escapes once more is no text': [
    [
      {
        html: stating(
          {
            headline: title,
            articleBody: PROSE.map(text => `&lt;p&gt;${text}&lt;/p&gt;`).join(''),
          },
          { inside: '' },
        ),
        entry,
      },
      { snippet: /^De sluis in Evergem/ },
    ],
  ],
  'a long text about cookies in a box without a name does not hide a short article': [
    [
      { html: beforeCookies(`<p>${SHORT}</p>`), entry },
      { body: SHORT, interstitial: null },
    ],
    [
      { html: beforeCookies(''), entry },
      { body: entry.summary, interstitial: 'cookie wall' },
    ],
  ],
  'a sentence of the article that is a link stays, a teaser between its sentences goes': [
    [{ html: page({ inside: between(SENTENCE) }), entry }, { body: RegExp(SENTENCE) }],
    [
      { html: page({ inside: between(TEASER) }), entry },
      { body: RegExp(`^(?!.*${TEASER}).*${PROSE[2]}`, 's') },
    ],
  ],
  'the canonical link of an AMP page is believed, however short its last step': [
    canonical('/amp/nieuws/sluis-dicht', '/nieuws/sluis-dicht', '/nieuws/sluis-dicht'),
    canonical('/nieuws/gent/sluis-dicht', '/nieuws/gent', '/nieuws/gent/sluis-dicht'),
  ],
}

const lines = Object.values(SITUATIONS).flat()
const input = lines.map(([line]) => JSON.stringify({ url, outlet, now, ...line })).join('\n')
const found = jsonLines((await runScript('extract', [], {}, input)).out)
t.equal(found.length, lines.length)
for (const [about, rows] of Object.entries(SITUATIONS)) {
  t.test(about, async t => {
    for (const row of rows) {
      const made = found[lines.indexOf(row)]
      for (const [field, value] of Object.entries(row[1])) {
        const own = made?.[field]
        if (value instanceof RegExp) t.match(own, value, JSON.stringify(row[0]))
        else t.strictSame(own, value, JSON.stringify(row[0]))
      }
    }
  })
}
