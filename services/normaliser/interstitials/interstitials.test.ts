import t from 'tap'
import { composeArticle } from '#services/normaliser/compose'
import { parsePage } from '#services/normaliser/markup/tree'
import { readPageText } from '#services/normaliser/text/page-text'
import { tryRows } from '#test/examples'
import {
  ANNOUNCED,
  ANNOUNCED_AT,
  INTERSTITIAL_EXAMPLES,
  interstitialOf,
} from '#test/normaliser/interstitials'
import { feedEntry, jsonLd, OUTLET, storedPage } from '#test/normaliser/pages'
import TABLE from './interstitials.json' with { type: 'json' }
import { openingOf } from './paywall.ts'
import { textFingerprint } from './served.ts'
import GOLDEN from './short-articles.json' with { type: 'json' }

/* Interstitials, and articles whose feed has another title. The page's own statements decide. */

const NOW = new Date('2026-11-20T12:00:00Z')
const OPEN_GRAPH = `<meta property="og:type" content="article"><meta property="article:published_time" content="2026-11-17T08:30:00Z">`
const CANONICAL = `<link rel="canonical" href="${ANNOUNCED_AT}">`
const data = (headline: string, more: object = {}) =>
  jsonLd({
    '@type': 'NewsArticle',
    headline,
    datePublished: '2026-11-17T08:30:00Z',
    author: 'Jan Peeters',
    ...more,
  })

const article = (title: string, text: string | readonly string[], head = '') =>
  `<html><head><title>${title}</title>${head}</head><body><article><h1>${title}</h1>${[text]
    .flat()
    .map(paragraph => `<p>${paragraph}</p>`)
    .join('')}</article></body></html>`

const compose = (html: string, title: string) =>
  composeArticle(
    storedPage(html, {
      url: `${ANNOUNCED_AT}?utm_source=rss`,
      entry: feedEntry({ url: ANNOUNCED_AT, title }),
      outlet: { ...OUTLET, languages: ['nl', 'fr', 'de', 'lb', 'en'] },
    }),
    NOW,
  )

/** Titles that feeds give to any article; null: the feed gives no title. */
const FEED_TITLES = ['Liveblog', 'Kabinet overweegt hogere accijns', '12:41', '…']
const UNRELATED = { feedTitle: 'Liveblog' }

for (const { language, title, text } of GOLDEN) {
  t.test(
    `a short article (${language}) is whole with any title in its feed, and without any markup`,
    async t => {
      for (const feedTitle of FEED_TITLES) {
        const composition = await compose(
          article(title, text, OPEN_GRAPH + data(title) + CANONICAL),
          feedTitle,
        )
        if (composition.kind !== 'article') throw new Error(`${feedTitle}: ${composition.detail}`)
        const { interstitial, article: made } = composition
        t.same(
          [interstitial, made.title, made.body, made.publishedAt, made.authors, made.url],
          [null, title, text, new Date('2026-11-17T08:30:00Z'), ['Jan Peeters'], ANNOUNCED_AT],
          feedTitle,
        )
      }
      for (const feedTitle of [...FEED_TITLES, null])
        t.equal(interstitialOf(article(title, text), { feedTitle }), null, `${feedTitle}`)
    },
  )
}

t.test('a paywall stub is one by its words too, when its data say nothing', async t => {
  for (const { name, html, says } of INTERSTITIAL_EXAMPLES.filter(
    ({ kind }) => kind === 'paywall',
  )) {
    const opening = openingOf(
      readPageText(parsePage(html.replace(/<script.*<\/script>/, ''))),
      null,
    )
    t.equal(opening.paywalled, true, name)
    t.notOk(opening.paragraphs.join('\n').includes(says), name)
  }
})

t.test('news about cookies, faults, subscriptions and agreements is no interstitial', async t => {
  const fine =
    'legt een bedrijf een boete op omdat het cookies plaatste zonder toestemming van bezoekers.'
  const paper =
    'De krant verhoogt de prijs van een abonnement tot 45 euro per maand. De uitgever telt nu een miljoen abonnees.'
  const fault =
    'Een storing in het betaalverkeer trof dinsdag duizenden winkels. De oorzaak was een fout in de software van de bank.'
  const vote =
    'De gemeenteraad bereikte woensdag een akkoord en gaf toestemming voor de bouw van de brug.'
  for (const [title, ...paragraphs] of [
    [
      'Boete voor cookies zonder toestemming',
      ...Array.from('12345678', at => `Waakhond ${at} ${fine}`),
    ],
    ['Krant wordt duurder', paper, paper.repeat(3)],
    ['Fout in software legt betaalverkeer plat', fault, fault.repeat(3)],
    ['Quorvex: De raad stemt in', vote],
    [
      'Loi sur le consentement',
      'Les députés ont voté la loi sur le consentement, après deux ans de débats.',
    ],
    [
      'Der Landtag stimmt zu',
      'Die Abgeordneten gaben ihre Zustimmung zum Gesetz über den Datenschutz.',
    ],
  ] as const)
    t.equal(interstitialOf(article(title, paragraphs), { feedTitle: title }), null, title)
})

interface Row {
  html: string
  feedTitle?: string | null | undefined
  finalUrl?: string | undefined
  url?: string | undefined
  /** null: it is an article. */
  kind: string | null
  why?: string | undefined
}

tryRows<Row>(t, TABLE, { announced: ANNOUNCED, at: ANNOUNCED_AT }, (t, row, about) =>
  t.equal(interstitialOf(row.html, row), row.kind, about),
)

t.test('the visible opening of a paywalled article is kept, the offer is not', async t => {
  const opening =
    'De brug over de Schelde in Temse blijft zeker tot vrijdag dicht voor vrachtwagens. '
      .repeat(8)
      .trim()
  const offer = [
    'Lees verder met een abonnement',
    'Word abonnee en lees onbeperkt voor € 2,50 per week.',
  ]
  const page = readPageText(parsePage(article(ANNOUNCED, [opening, ...offer])))
  t.same(openingOf(page, false), { paragraphs: [opening], paywalled: true })
})

t.test('a line that sells the rest with a subscription ends an article, in each language', t => {
  const isEnd = (line: string) =>
    openingOf(readPageText(parsePage(article(ANNOUNCED, line))), null).paywalled
  for (const line of [
    'Lees verder met een abonnement',
    'Lisez la suite avec un abonnement numérique.',
    'Poursuivez votre lecture avec un abonnement',
    'Lesen Sie weiter mit einem digitalen Abo',
    'Liest weider mat engem Abonnement',
  ])
    t.equal(isEnd(line), true, line)
  for (const line of [
    'Les voyageurs poursuivent la lecture avec un livre.',
    'Der Zug fährt weiter mit einem Abonnement der Bahn.',
    'Si fueren weider mat engem Bus.',
  ])
    t.equal(isEnd(line), false, line)
  t.end()
})

t.test(
  'a page of offers alone is a paywall when its heading says so; a heading alone proves nothing',
  async t => {
    const paywalled = (title: string, text: string) =>
      openingOf(readPageText(parsePage(article(title, text))), null).paywalled
    t.equal(
      paywalled(
        'Log in om verder te lezen',
        'Maak gratis een account aan of log in met je e-mailadres.',
      ),
      true,
    )
    t.equal(
      paywalled(
        'Je hebt nog 3 dagen voor je aangifte',
        'Vrijdag om middernacht sluit het loket van de fiscus.',
      ),
      false,
    )
  },
)

t.test('an offer that no reader sees makes no stub of a short article', async t => {
  const offer = '<div><p>Word nu abonnee en lees alle artikelen.</p></div>'
  const opening =
    'De brug over de Schelde in Temse blijft zeker tot vrijdag dicht voor vrachtwagens.'
  const paywalled = (html: string) => openingOf(readPageText(parsePage(html)), null).paywalled
  const html = article(ANNOUNCED, opening)
  t.equal(paywalled(html.replace('</article>', `</article>${offer}`)), true)
  t.equal(
    paywalled(html.replace('</article>', `</article>${offer.replace('div', 'div hidden')}`)),
    false,
  )
})

t.test('a whole text under a paywall flag is whole', async t => {
  const paragraphs = Array.from({ length: 12 }, (_, at) =>
    `Alinea ${at} van een heel artikel. ${'Er staat genoeg in om te lezen. '.repeat(8)}`.trim(),
  )
  const opening = openingOf(readPageText(parsePage(article(ANNOUNCED, paragraphs))), false)
  t.equal(opening.paywalled, false)
  t.equal(opening.paragraphs.length, 12)
})

t.test(
  'one text in other spaces, signs and capitals has one fingerprint; short texts have none',
  async t => {
    const fingerprint = (text: string, titled = true, strange = false) =>
      textFingerprint(text, { titled, strange })
    const text =
      'Wij gebruiken cookies om u beter van dienst te zijn, en onze partners ook. Maak hieronder uw keuze; u kunt die altijd wijzigen.'
    t.same(fingerprint(text), fingerprint(text.toUpperCase().replaceAll(' ', '\n\n')))
    t.notSame(fingerprint(text), fingerprint(`${text} Nee.`))
    t.equal(fingerprint('Foto van de dag'), null)
    const numbered = (number: string) => `${text} Uw nummer is ${number}.`
    t.notSame(
      fingerprint(numbered('8842')),
      fingerprint(numbered('77-1a')),
      'numbers tell reports apart',
    )
    t.same(
      fingerprint(numbered('8842'), false),
      fingerprint(numbered('77-1a'), false),
      'where no word is the title’s',
    )
    t.same(
      fingerprint('Even geduld: 1432', false, true),
      fingerprint('Even geduld: 1433', false, true),
    )
  },
)

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
  const text = 'De gemeente maakte dinsdag bekend wat er is gebeurd en wat dat kost. '.repeat(5)
  for (const title of headlines) {
    t.equal(interstitialOf(article(title, text), UNRELATED), null, title)
    t.equal(interstitialOf(article(title, text), { feedTitle: null }), null, title)
    t.equal(interstitialOf(article(title, text.repeat(6)), UNRELATED), null, title)
  }
})

t.test('a page that says that all may read it is no paywall', async t => {
  const text = 'De wedstrijden zijn voortaan alleen voor abonnees te zien, meldt de zender dinsdag.'
  const html = article(
    'Sport verdwijnt van de buis',
    text,
    data('Sport', { isAccessibleForFree: true }),
  )
  t.match(await compose(html, 'Column'), { interstitial: null, article: { body: text } })
})
