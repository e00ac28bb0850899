import t from 'tap'
import { composeArticle } from '../../services/normaliser/compose.ts'
import type { StoredPage } from '../../shared/outlets/page.ts'
import { feedEntry, jsonLd, OUTLET, storedPage } from './pages.ts'

/*
 * Situations of the web, with inputs of our own: pages that are messages, parts that are paid, days
 * that are no publication, and what belongs to a text.
 */

const NOW = new Date('2026-11-25T12:00:00Z')
const URL_ = 'https://dagkoerier.example/a/1'
const TITLE = 'Stadsbos van Lokeren krijgt twaalf hectare bij'
const SUMMARY = 'Het bos wordt groter.'
const PROSE = [
  'Het stadsbos van Lokeren krijgt er deze winter twaalf hectare bij, heeft het schepencollege maandag beslist.',
  'Vrijwilligers planten vanaf december negenduizend eiken en linden op een akker die de stad vorig jaar kocht.',
  'De boswachter verwacht dat de eerste wandelpaden over vijf jaar open kunnen, als de jonge bomen sterk genoeg zijn.',
]
const ps = (texts: string[]) => texts.map(text => `<p>${text}</p>`).join('')
const page = (inside: string, { head = '', title = TITLE } = {}) =>
  `<!doctype html><html lang="nl"><head><title>${title}</title>${head}</head><body><main><article><h1>${title}</h1>${inside}</article></main></body></html>`

async function read(html: string, entry: Parameters<typeof feedEntry>[0] = {}) {
  const fed = feedEntry({ url: URL_, title: TITLE, summary: SUMMARY, ...entry })
  const outlet: StoredPage['outlet'] = { ...OUTLET, languages: ['nl', 'fr', 'de', 'lb'] }
  const made = await composeArticle(storedPage(html, { entry: fed, outlet }), NOW)
  return made.kind === 'article' ? made.article : null
}
const bodyOf = async (...asked: Parameters<typeof read>) => (await read(...asked))?.body ?? null
const dayOf = async (...asked: Parameters<typeof read>) =>
  (await read(...asked))?.publishedAt?.toISOString() ?? null

const data = (more: object) => jsonLd({ '@type': 'NewsArticle', headline: TITLE, ...more })
const part = (free: unknown, cssSelector: string) => ({
  '@type': 'WebPageElement',
  isAccessibleForFree: free,
  cssSelector,
})

t.test('the part that an outlet marks as paid stays out, and its free lead in', async t => {
  const lead = `<div class="vrij"><p>${PROSE[0]}</p></div>`
  const paid = `<div class="plus">${ps(PROSE.slice(1))}</div>`
  const head = data({ isAccessibleForFree: false, hasPart: [part('False', '.plus')] })
  t.equal(await bodyOf(page(lead + paid, { head })), PROSE[0])
  const alone = data({ hasPart: part(false, 'article > .plus') })
  t.equal(
    await bodyOf(page(lead + paid, { head: alone })),
    PROSE[0],
    'of an article that is silent',
  )
  for (const hasPart of [part(true, '.plus'), part(false, '.geen'), part(false, '..x[['), null])
    t.equal(await bodyOf(page(lead + paid, { head: data({ hasPart }) })), PROSE.join('\n\n'))
  const all = data({ isAccessibleForFree: false, hasPart: part(false, '.plus') })
  t.equal(
    await bodyOf(page(`<div class="plus">${ps(PROSE)}</div>`, { head: all })),
    PROSE.join('\n\n'),
    'a text that is marked whole, and shown, is not divided',
  )
})

t.test('a page of a message is no article', async t => {
  const messages = [
    ['Leeftijd', 'Bevestig je leeftijd. Deze pagina is alleen geschikt voor volwassenen.'],
    [
      'Browser',
      'Uw browser wordt niet meer ondersteund. Installeer een recente versie van Firefox.',
    ],
    ['Niet beschikbaar', 'Deze video kan alleen in België worden bekeken.'],
    ['Bericht', 'De licentie voor dit bericht is verlopen, we mogen het niet langer tonen.'],
    ['Accès', 'Ce contenu est réservé aux adultes. Confirmez que vous avez plus de 18 ans.'],
    ['Navigateur', 'Votre navigateur est obsolète. Veuillez mettre à jour votre navigateur.'],
    ['Hinweis', 'Bitte bestätigen Sie, dass Sie mindestens 18 Jahre alt sind.'],
    ['Hinweis', 'Aus rechtlichen Gründen dürfen wir diesen Text nicht mehr anbieten.'],
    ['Bitte einloggen', 'Um das zu sehen, müssen Sie eingeloggt sein. Passwort vergessen?'],
    ['Login', 'Loggt Iech w.e.g. an. Passwuert vergiess?'],
    ['Sign in', 'Log in to continue. Forgot your password? Create an account.'],
    ['This content has expired', 'We no longer have the rights to show this article.'],
    ['Äre Browser gëtt net ënnerstëtzt', 'Aktualiséiert w.e.g. Äre Browser, fir eis ze liesen.'],
  ]
  for (const [title = '', text = ''] of messages) {
    const found = await read(page(`<p>${text}</p>`, { title }))
    t.match(found, { title: TITLE, body: SUMMARY }, text)
  }
})

t.test('news about such walls is an article', async t => {
  const news = [
    [
      'Minister wil leeftijdscontrole op sociale media',
      'Wie jonger is dan 16 jaar, mag van de minister geen account meer. Platformen moeten de leeftijd controleren.',
    ],
    [
      'Urteil: Pur-Abo muss ohne Tracking auskommen',
      'Das Urteil zum Pur-Abo verbietet Tracking ohne Einwilligung. Verlage müssen ihre Einwilligung neu einholen.',
    ],
    [
      'Oude browser op miljoenen toestellen',
      'De browser is verouderd en wordt niet meer ondersteund, waarschuwt de dienst. Toestellen lopen gevaar.',
    ],
  ]
  for (const [title = '', text = ''] of news)
    t.equal(await bodyOf(page(ps([text]), { title }), { title }), text)
})

t.test('a filling text in no language leaves the feed’s words', async t => {
  const filling =
    '<p>Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt.</p>'
  t.equal(await bodyOf(page(filling)), SUMMARY)
  const turkish =
    'Belediye meclisi pazartesi günü ormanın bu kış on iki hektar büyütülmesine karar verdi ve gönüllüleri çağırdı.'
  const entry = { title: 'Belediye ormanı büyütüyor', summary: turkish }
  t.equal(await read(page(ps([turkish]), { title: entry.title }), entry), null)
})

t.test('a day of printing or reading is no publication', async t => {
  for (const line of [
    'Afgedrukt op 25 november 2026 om 10:00',
    'Geraadpleegd op 25 november 2026',
    'Imprimé le 25/11/2026 à 10:00',
    'Page consultée le 25 novembre 2026',
    'Ausgedruckt am 25.11.2026, 10:00 Uhr',
    'Abgerufen am 25.11.2026',
    'Gedréckt de 25. November 2026',
    'Printed on 25 November 2026',
    '</p><div><div>Afgedrukt op</div><div>25 november 2026 12:58</div></div><p>',
  ]) {
    t.equal(await dayOf(page(`${ps(PROSE)}<p>${line}</p>`)), null, line)
    const stated = `<p>Gepubliceerd op 23 november 2026 om 9:05</p>${ps(PROSE)}<p>${line}</p>`
    t.equal(await dayOf(page(stated)), '2026-11-23T08:05:00.000Z', line)
  }
})

t.test('hours in words, 24:00, a change that is named first', async t => {
  const dates = [
    ['23 november 2026 om 9 uur 05', '2026-11-23T08:05:00.000Z'],
    ['23 novembre 2026 à 20 heures 5', '2026-11-23T19:05:00.000Z'],
    ['23. November 2026, 9 Uhr 05', '2026-11-23T08:05:00.000Z'],
    ['23. November 2026, 9 Auer 05', '2026-11-23T08:05:00.000Z'],
    ['Mon, 23 Nov 2026 24:00:00 +0100', '2026-11-23T23:00:00.000Z'],
    ['23 nov. ’26, 09:05', '2026-11-23T08:05:00.000Z'],
    ['Mon, 23 Nov 2026 09:05:00 EST5EDT', '2026-11-23T14:05:00.000Z'],
    ['Bijgewerkt: 24-11-2026 10:00; geplaatst: 23-11-2026 09:05', '2026-11-23T08:05:00.000Z'],
    ['Updated 24 November 2026 10:00, posted 23 November 2026 09:05', '2026-11-23T08:05:00.000Z'],
  ]
  for (const [published = '', day] of dates)
    t.equal(await dayOf(page(ps(PROSE)), { published }), day, published)
})

t.test('a date that the page or the feed contradicts is doubted', async t => {
  const line =
    '<p>Gepubliceerd op 17 november 2026 om 20:18. Bijgewerkt op 20 november 2026 om 9:02.</p>'
  const bare = data({ datePublished: '2026-11-20' })
  t.equal(await dayOf(page(line + ps(PROSE), { head: bare })), '2026-11-17T19:18:00.000Z')
  const fine = data({ datePublished: '2026-11-20T09:02:00+01:00' })
  t.equal(await dayOf(page(line + ps(PROSE), { head: fine })), '2026-11-20T08:02:00.000Z')
  const old = data({ datePublished: '2015-01-01T00:00:00+01:00' })
  const published = 'Mon, 23 Nov 2026 09:05:00 +0100'
  t.equal(await dayOf(page(ps(PROSE), { head: old }), { published }), '2026-11-23T08:05:00.000Z')
  const confirmed = `<p>Gepubliceerd op 1 januari 2015</p>${ps(PROSE)}`
  t.equal(
    await dayOf(page(confirmed, { head: old }), { published }),
    '2014-12-31T23:00:00.000Z',
    'another source names it, too',
  )
})

t.test('words in buttons of a sentence stay; marks of notes go', async t => {
  const inside = [
    '<p>Volgens de <button>boswachter</button><span hidden>Wie het bos bewaakt.</span> is dat te laat voor de eiken.</p>',
    '<p>Het bos is van 1934<a href="#n1">3</a> en de wet van 1990<sup>[2]</sup>, zegt Delvaux<sup><a href="#n4">4</a></sup>.</p>',
    '<p>Het meet 400 m<sup>2</sup>, neemt CO<sub>2</sub> op en is het 2<sup>de</sup> van het land, zegt zij.</p>',
    '<p><button>Deel dit bericht</button></p>',
  ]
  t.equal(
    await bodyOf(page(inside.join('') + ps(PROSE))),
    [
      'Volgens de boswachter is dat te laat voor de eiken.',
      'Het bos is van 1934 en de wet van 1990, zegt Delvaux.',
      'Het meet 400 m2, neemt CO2 op en is het 2de van het land, zegt zij.',
      ...PROSE,
    ].join('\n\n'),
  )
})

t.test('boxes that ask for an address, and placeholders of embeds, are no text', async t => {
  const between = [
    '<div><h4>De Ochtend</h4><p>Elke dag het nieuws van Lokeren vóór het ontbijt.</p><form><input type="email"></form></div>',
    '<div><p>Kaart wordt geladen…</p></div>',
    '<div><p>Diese Grafik kann leider nicht angezeigt werden.</p></div>',
    '<div><p>Chargement de la vidéo en cours…</p></div>',
  ]
  for (const box of between) {
    const inside = `<p>${PROSE[0]}</p>${box}${ps(PROSE.slice(1))}`
    t.equal(await bodyOf(page(inside)), PROSE.join('\n\n'), box)
  }
  const loaded = 'De vrachtwagen wordt geladen met negenduizend jonge bomen, zegt de boswachter.'
  t.equal(await bodyOf(page(ps([loaded, ...PROSE]))), [loaded, ...PROSE].join('\n\n'))
})

t.test(
  'first headings, points in short and the names below letters belong to the text',
  async t => {
    const points = ['Vrijwilligers planten bomen.', 'De paden volgen over vijf jaar.']
    const short = `<ul>${points.map(point => `<li>${point}</li>`).join('')}</ul>${ps(PROSE)}`
    t.equal(await bodyOf(page(short)), [...points, ...PROSE].join('\n\n'))
    const letters = `<h2>Bos</h2><p>${PROSE[0]}</p><p>Els Claes, Gent</p><h2>Bomen</h2><p>${PROSE[1]}</p><p>Jan Mol, Temse</p>`
    t.equal(
      await bodyOf(page(letters, { title: 'Lezers schrijven' }), { title: 'Lezers schrijven' }),
      ['Bos', PROSE[0], 'Els Claes, Gent', 'Bomen', PROSE[1], 'Jan Mol, Temse'].join('\n\n'),
    )
  },
)

t.test('a part that React streams stands in its place', async t => {
  const html = page(`<p>${PROSE[0]}</p><template id="B:1"></template><p>${PROSE[2]}</p>`).replace(
    '</body>',
    `<div hidden id="S:1"><p>${PROSE[1]}</p></div><script>$RC("B:1","S:1")</script></body>`,
  )
  t.equal(await bodyOf(html), PROSE.join('\n\n'))
})

t.test('the end of a summary that announces the article is left out', async t => {
  for (const end of [
    'Lees het volledige artikel',
    'Lire l’article complet sur lecourrier.example',
    'Plus d’infos…',
    'Mehr dazu',
    'Liest méi',
    'Read the full story',
  ]) {
    const summary = `<p>${PROSE[0]} <a href="${URL_}">${end}</a></p>`
    t.equal(await bodyOf('', { summary }), PROSE[0], end)
  }
  const cited = '<p>Het staat in <a href="/r">het volledige rapport</a>.</p>'
  t.equal(await bodyOf('', { summary: cited }), 'Het staat in het volledige rapport.')
})

t.test('by-lines: kinds of text, letters, staff and professions name nobody', async t => {
  const lines: [string, string[]][] = [
    ['OPINIE. Jan Mol', ['Jan Mol']],
    ['Chronique | Claire Roux', ['Claire Roux']],
    ['Billet d’humeur. Claire Roux', ['Claire Roux']],
    ['Leserbrief von Eva Roth, Wiltz', ['Eva Roth']],
    ['Letter from Ann Hill, Ghent', ['Ann Hill']],
    ['Von unserem Redaktionsmitglied Eva Roth', ['Eva Roth']],
    ['Claire Roux est journaliste au Courrier', ['Claire Roux']],
    ['Jan Mol is hoofdredacteur', ['Jan Mol']],
    ['D’Anne Roux et Luc Noir', ['Anne Roux', 'Luc Noir']],
    ['Mia d’Hoker', ['Mia d’Hoker']],
    ['d’Hoker', ['d’Hoker']],
    ['Werbung', []],
    ['Publicité', []],
    ['Reklamm', []],
  ]
  for (const [line, people] of lines) {
    const head = `<meta name="author" content="${line}">`
    t.same((await read(page(ps(PROSE), { head })))?.authors, people, line)
  }
})
