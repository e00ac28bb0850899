import t from 'tap'
import { ANNOUNCED_AT, interstitialOf as kindOf } from '../../../test/normaliser/interstitials.ts'
import { feedEntry, OUTLET, storedPage } from '../../../test/normaliser/pages.ts'
import { composeArticle } from '../article.ts'

/**
 * Good pages with another title in the feed, and interstitials. The page's own statements decide.
 */

const NOW = new Date('2026-11-20T12:00:00Z')

interface Golden {
  language: 'nl' | 'fr' | 'de' | 'lb' | 'en'
  title: string
  text: string
}

const GOLDEN: Golden[] = [
  {
    language: 'nl',
    title: 'Brug over de Schelde blijft dicht',
    text: 'De brug over de Schelde in Temse blijft zeker tot vrijdag dicht voor vrachtwagens. Dat meldt het agentschap dinsdag.',
  },
  {
    language: 'fr',
    title: 'Le pont sur l’Escaut reste fermé',
    text: 'Le pont sur l’Escaut à Tamise restera fermé aux camions jusqu’à vendredi au moins, a annoncé l’agence mardi soir.',
  },
  {
    language: 'de',
    title: 'Brücke über die Schelde bleibt gesperrt',
    text: 'Die Brücke über die Schelde bei Temse bleibt mindestens bis Freitag für Lastwagen gesperrt, teilte die Behörde mit.',
  },
  {
    language: 'lb',
    title: 'D’Bréck iwwer d’Schelde bleift zou',
    text: 'D’Bréck iwwer d’Schelde zu Temse bleift op d’mannst bis e Freideg fir Camionen zou, huet d’Agence en Dënschdeg matgedeelt.',
  },
  {
    language: 'en',
    title: 'Bridge over the Scheldt stays closed',
    text: 'The bridge over the Scheldt at Temse will stay closed to lorries until Friday at least, the agency said on Tuesday.',
  },
]
const FEED_TITLES = [
  'Liveblog',
  'Column',
  'Bericht 1',
  'Kabinet overweegt hogere accijns',
  'Gouvernement',
  '12:41',
  '…',
]

const OPEN_GRAPH = `<meta property="og:type" content="article"><meta property="article:published_time" content="2026-11-17T08:30:00Z">`
const JSON_LD = (title: string) =>
  `<script type="application/ld+json">{"@context":"https://schema.org","@type":"NewsArticle","headline":"${title}","datePublished":"2026-11-17T08:30:00Z","author":{"@type":"Person","name":"Jan Peeters"}}</script>`
const CANONICAL = `<link rel="canonical" href="${ANNOUNCED_AT}">`

function markup({ language, title, text }: Golden, head = ''): string {
  return `<!doctype html><html lang="${language}"><head><meta charset="utf-8"><title>${title}</title>${head}</head>
<body><article><h1>${title}</h1><p>${text}</p></article></body></html>`
}

const interstitialOf: typeof kindOf = (html, more) => kindOf(html, { feedTitle: 'Liveblog', ...more })

const stored = (html: string, title: string) =>
  storedPage(html, {
    url: `${ANNOUNCED_AT}?utm_source=rss`,
    entry: feedEntry({ url: ANNOUNCED_AT, title }),
    outlet: { ...OUTLET, languages: ['nl', 'fr', 'de', 'lb', 'en'] },
  })

for (const golden of GOLDEN) {
  t.test(`a short article (${golden.language}) is whole with any title in its feed`, async t => {
    for (const feedTitle of FEED_TITLES) {
      const html = markup(golden, OPEN_GRAPH + JSON_LD(golden.title) + CANONICAL)
      const composition = await composeArticle(stored(html, feedTitle), NOW)
      if (composition.kind !== 'article') throw new Error(`${feedTitle}: ${composition.detail}`)
      const { interstitial, article } = composition
      t.equal(interstitial, null, feedTitle)
      t.same(
        [article.title, article.body, article.publishedAt, article.authors, article.url],
        [golden.title, golden.text, new Date('2026-11-17T08:30:00Z'), ['Jan Peeters'], ANNOUNCED_AT],
      )
    }
  })

  t.test(`a short article (${golden.language}) without any markup is one too`, async t => {
    for (const feedTitle of [...FEED_TITLES, null])
      t.equal(interstitialOf(markup(golden), { feedTitle }), null, `${feedTitle}`)
  })
}

t.test('a headline may begin as an error page’s does', async t => {
  const headlines = [
    '500 banen weg bij staalfabriek in Gent',
    '404 blessés dans un accident de train',
    '403 Stimmen für das neue Gesetz',
    'Fout in software legt betaalverkeer plat',
    'Onderhoud aan de brug begint maandag',
    'Wartung der Schleuse dauert bis Mai',
    'Oeps: minister leest verkeerde toespraak voor',
    'Ein Fehler mit Folgen',
    'Une erreur qui coûte cher',
    'Not found in translation: a novel',
  ]
  const text = `${'De gemeente maakte dinsdag bekend wat er is gebeurd en wat dat kost. '.repeat(5)}`.trim()
  for (const title of headlines) {
    t.equal(interstitialOf(markup({ language: 'nl', title, text })), null, title)
    t.equal(interstitialOf(markup({ language: 'nl', title, text }), { feedTitle: null }), null, title)
    t.equal(interstitialOf(markup({ language: 'nl', title, text: text.repeat(6) })), null, title)
  }
})

t.test('a dated article outweighs a headline that fails and sentences of an error', async t => {
  const title = 'Fout op de site'
  const text = 'De website is niet bereikbaar. De pagina is verwijderd.'
  t.equal(interstitialOf(markup({ language: 'nl', title, text })), 'error page')
  t.equal(interstitialOf(markup({ language: 'nl', title, text }, OPEN_GRAPH)), null)
  t.equal(interstitialOf(markup({ language: 'nl', title, text }, JSON_LD(title))), null)
  const elsewhere = JSON_LD('Iets anders').replace(
    '"headline"',
    '"url":"https://www.dagkoerier.example/ander","headline"',
  )
  t.equal(interstitialOf(markup({ language: 'nl', title, text }, elsewhere)), 'error page', 'data of another article')
})

t.test('a dated article is no challenge, though its headline begins like one’s', async t => {
  for (const title of [
    'Vérification des comptes : la commune épinglée',
    'Blocked for hours on the motorway',
    'Un instant de grâce',
  ]) {
    const html = markup({ language: 'fr', title, text: 'La commune a dépensé trop, selon la cour.' }, OPEN_GRAPH)
    t.equal(interstitialOf(html), null, title)
    t.equal(interstitialOf(html, { feedTitle: null }), null, title)
  }
})

t.test('a dated article about cookies is no cookie wall, though the feed says "Liveblog"', async t => {
  const title = 'Boete voor cookies zonder toestemming'
  const text = 'De privacywaakhond legt een bedrijf een boete op omdat het cookies plaatste zonder toestemming.'
  t.equal(interstitialOf(markup({ language: 'nl', title, text }, OPEN_GRAPH)), null)
  const interstitial = markup({ language: 'nl', title: 'Brug over de Schelde dicht', text }, OPEN_GRAPH)
  t.equal(interstitialOf(interstitial), 'cookie wall', 'on the page of an article about something else it is one')
})

t.test('an outlet that is called as consent pages are may redirect within itself', async t => {
  const at = (host: string) => `https://${host}/nieuws/2026/brug-schelde-dicht`
  const html = markup(GOLDEN[0]!)
  t.equal(interstitialOf(html, { url: at('privacy-first.example'), finalUrl: at('www.privacy-first.example') }), null)
  t.equal(interstitialOf(html, { finalUrl: at('consent.uitgever.example') }), 'cookie wall')
})

t.test('a page that says that all may read it is no paywall', async t => {
  const text = 'De wedstrijden zijn voortaan alleen voor abonnees te zien, meldt de zender dinsdag.'
  const free = JSON_LD('Sport').replace('"headline"', '"isAccessibleForFree":true,"headline"')
  const html = markup({ language: 'nl', title: 'Sport verdwijnt van de buis', text }, free)
  const composition = await composeArticle(stored(html, 'Column'), NOW)
  t.match(composition, { interstitial: null, article: { body: text } })
})

t.test('a template’s article type without a date does not save a page that is not found', async t => {
  const head = '<meta property="og:type" content="article">'
  t.equal(
    interstitialOf(markup({ language: 'nl', title: 'Pagina niet gevonden', text: 'Zoek iets anders.' }, head)),
    'error page',
  )
})

t.test('an article that is gone is told by the section to which it leads', async t => {
  const html = markup({ language: 'nl', title: 'Binnenland', text: 'Het laatste nieuws uit het land, elke dag.' })
  t.equal(interstitialOf(html, { finalUrl: 'https://www.dagkoerier.example/binnenland' }), 'error page')
  t.equal(interstitialOf(html), null, 'at its own address it may be the article')
})
