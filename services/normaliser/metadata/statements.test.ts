import t from 'tap'
import { parsePage } from '#services/normaliser/markup/tree'
import { wholeEntry } from '#shared/outlets/page'
import { readMetadata } from './metadata.ts'
import { statementsOf } from './statements.ts'

const URL = 'https://www.krant.example/binnenland/brug-dicht-12.html'
const TITLE = 'De brug over de Maas is dicht'

/** What a page says whose JSON-LD has these fields, besides a head and a feed. */
function said(
  data: object | object[],
  { head = '', url = URL, categories = [] as string[], title = TITLE, below = '' } = {},
) {
  const things = [data].flat().map(one => ({ headline: title, url, ...one }))
  const html = `<html lang="nl"><head><title>${title} - De Krant</title><meta property="og:title" content="${title}">
    <meta property="og:site_name" content="De Krant"><meta property="og:type" content="article">${head}
    <script type="application/ld+json">${JSON.stringify(things)}</script></head><body><h1>${title}</h1>${below}</body></html>`
  return statementsOf(readMetadata(parsePage(html), url), wholeEntry({ categories }, url))
}

const NOTHING = { section: null, kind: null, access: null }
const crumbs = (...names: string[]) => ({
  '@type': 'BreadcrumbList',
  headline: undefined,
  url: undefined,
  itemListElement: names.map((name, at) => ({
    '@type': 'ListItem',
    position: at + 1,
    item: { '@id': at === 0 ? 'https://www.krant.example/' : `/${at}`, name },
  })),
})
const section = (...values: unknown[]) =>
  values.map(articleSection => said({ '@type': 'Article', articleSection }).section)
const meta = (name: string, content: string) => `<meta property="${name}" content="${content}">`

t.test('where nothing is said, nothing is guessed', async t => {
  t.same(said({ '@type': 'Article' }), NOTHING)
  t.same(said({ '@type': 'Article' }, { title: 'Waarom ik tegen de brug ben' }), NOTHING)
  t.same(said({ '@type': 'BlogPosting', keywords: 'opinie' }), NOTHING)
  t.same(statementsOf(readMetadata(parsePage(''), URL), null), NOTHING)
})

t.test('a section is the outlet’s own word', async t => {
  t.same(section('Binnenland', ['Sport', 'Voetbal'], 'Kunst &amp; Cultuur', ' Mens,\n wereld '), [
    'Binnenland',
    'Sport',
    'Kunst & Cultuur',
    'Mens, wereld',
  ])
  t.same(
    section(
      '',
      '…',
      'De Krant',
      'krant.example',
      TITLE,
      'Uncategorized',
      'Alle artikelen',
      'Home',
      'Politiek, Economie, Sport',
      'Ausgabe 42/2026',
      'nieuws_binnenland',
      'https://krant.example/sport',
      'x'.repeat(101),
      7,
      null,
    ).filter(one => one !== null),
    ['7'],
    'what names no section',
  )
  const none = { '@type': 'Article' }
  const of = (head: string) => said(none, { head }).section
  t.equal(of(meta('article:section', 'Sport')), 'Sport')
  const listed = { ...none, articleSection: 'Alles, Sport' }
  t.equal(said(listed, { head: meta('article:section', 'Sport') }).section, 'Sport', 'a list')
  t.equal(of('<span itemprop="articleSection">Sport</span>'), 'Sport')
  t.equal(said([none, crumbs('Home', 'Sport', 'Voetbal', TITLE)]).section, 'Sport')
  t.equal(said([none, crumbs('De Krant', TITLE)]).section, null)
  const rdfa = `<ol itemtype="https://schema.org/BreadcrumbList"><li itemprop="itemListElement"><a href="/"><b itemprop="name">Start</b></a></li>
    <li itemprop="itemListElement"><a href="/s"><b itemprop="name">Sport</b></a></li></ol>`
  t.equal(of(rdfa), 'Sport')
  t.equal(said(none, { categories: ['Sport'] }).section, 'Sport')
  t.equal(said(none, { categories: ['Sport', 'Brug'] }).section, null, 'one may be a keyword')
  t.equal(
    said({ ...none, articleSection: 'Sport' }, { head: meta('article:section', 'Regio') }).section,
    'Sport',
    'JSON-LD ranks first',
  )
})

t.test('a kind is a type of schema.org, or a label of the outlet', async t => {
  const kind = (type: string, how = {}) => said({ '@type': type, ...how }).kind
  t.same(
    ['NewsArticle', 'OpinionNewsArticle', 'AnalysisNewsArticle', 'ReviewNewsArticle'].map(type =>
      kind(type),
    ),
    ['news', 'opinion', 'analysis', 'review'],
  )
  t.equal(kind('LiveBlogPosting'), 'live')
  t.equal(said([{ '@type': 'NewsArticle' }, { '@type': 'LiveBlogPosting' }]).kind, 'live')
  const other = { '@type': 'LiveBlogPosting', headline: 'Sneeuw', url: '/sneeuw' }
  t.equal(said([{ '@type': 'NewsArticle' }, other]).kind, 'news', 'that of another article')
  t.equal(kind('ClaimReview'), null)
  t.equal(kind('NewsArticle', { articleSection: ['Binnenland', 'Opinie'] }), 'opinion')
  t.equal(kind('NewsArticle', { genre: 'Analyse' }), 'analysis')
  t.equal(kind('NewsArticle', { articleSection: 'Opinieonderzoek' }), 'news', 'a whole word')
  t.equal(said([{ '@type': 'NewsArticle' }, crumbs('Home', 'Meinung', TITLE)]).kind, 'opinion')
  const section = ['Tips & Advies', 'Persberichten', 'Eat & Drink', 'Wetenschap en innovatie']
  t.same(
    section.map(articleSection => kind('NewsArticle', { articleSection })),
    [null, null, null, 'news'],
    'the general type says nothing of guides and the like',
  )
  const whole = ['Food', 'Home & Garden', 'European Community', 'Food safety', 'Square Garden']
  t.same(
    whole.map(articleSection => kind('NewsArticle', { articleSection })),
    [null, null, 'news', 'news', 'news'],
    'a word of a name is no label',
  )
  const inFolder = (url: string) =>
    said({ '@type': 'NewsArticle' }, { url: `https://k.example${url}` }).kind
  t.same(['/koopgids/tv/12', '/binnenland/tips-gevraagd-na-brand-in-loods/12'].map(inFolder), [
    null,
    'news',
  ])
  for (const url of ['https://a.substack.com/p/brug', 'https://blog.krant.example/brug'])
    t.equal(said({ '@type': 'NewsArticle' }, { url }).kind, null)
  const at = (url: string) => said({ '@type': 'Article' }, { url: `https://k.example${url}` }).kind
  t.same(
    ['/opinie/12', '/cultuur/recensies/12', '/brug-opinie', '/opinie', '/a/reviews/'].map(at),
    ['opinion', 'review', null, null, null],
  )
  const titled = (title: string) => said({ '@type': 'NewsArticle' }, { title }).kind
  t.same(
    ['Kommentar: Die Brücke', 'Die Brücke | Kommentar', 'Live: de brug', 'Opinie over de brug'].map(
      titled,
    ),
    ['opinion', 'opinion', null, null],
  )
  t.same(
    ['Fiets X review: stil en duur', 'E-Bike im Test', 'The 10 Best Bikes', 'Best Buy sluit'].map(
      titled,
    ),
    [null, null, null, 'news'],
  )
  const others = ['De 25 grootste films', 'Les 10 plus belles îles', 'The Best Books of 2025']
  const advice = ['Ernten: 3 Profi-Tipps', '5 tips voor de tuin', 'Gift Guide for everyone']
  t.same(new Set([...others, ...advice].map(titled)), new Set([null]))
  t.same(
    ['Politie krijgt 30 tips na oproep', 'De 25 werknemers staken', 'De 5 burgemeesters'].map(
      titled,
    ),
    ['news', 'news', 'news'],
  )
  const rankings = ['Die 20 schönsten Seen', 'Best Bikes of 2025', 'De 5 meest gelezen boeken']
  t.same(new Set(rankings.map(titled)), new Set([null]))
  const nouns = [
    'De 3 gewesten maken een plan',
    'De 12 toeristen zijn terug',
    'Die 20 Terroristen vor Gericht',
    'De 2 laatste verdachten zijn vrij',
    'De 3 vermiste kinderen zijn terug',
    'Die 30 vermissten Wanderer leben',
    'The 12 West Bank towns without water',
    'Inwoners van Best kiezen in 2026',
    'Best krijgt een nieuwe brug in 2026',
  ]
  t.same(new Set(nouns.map(titled)), new Set(['news']), 'no superlatives')
  t.equal(titled('Rechter laat review van de zaak toe'), 'news')
  const offers = ['10 GB für nur 5,99 Euro', '40 % korting op fietsen', '7 reasons to ride a bike']
  const live = ['Nahost-Ticker: Die Brücke', 'Brug dicht: live updates', 'How to fix a bike']
  const own = ['Why I Ride', 'Waarom ik fiets', 'Wie ich fahre', 'Pourquoi je roule']
  t.same(new Set([...offers, ...live, ...own].map(titled)), new Set([null]))
  t.same(
    [
      '„Ich fahre nicht“, sagt sie',
      "'Ik was bang', zegt slachtoffer",
      'World War I bridge found',
      'Zoll: 50 Millionen Euro',
    ].map(titled),
    ['news', 'news', 'news', 'news'],
  )
  const below = (line: string) => said({ '@type': 'NewsArticle' }, { below: `<p>${line}</p>` }).kind
  t.same(
    ['Kommentar von A. B.', 'De brug is te smal. Een opinie', 'Live', 'Kommentare', 'De brug'].map(
      below,
    ),
    [null, null, null, 'news', 'news'],
  )
  const news = { '@type': 'NewsArticle' }
  t.equal(inFolder('/artikel/12'), null, 'no section of news')
  const bare = { url: 'https://krant.example/12' }
  t.equal(said(news, bare).kind, 'news', 'no section at all')
  t.equal(said(news, { ...bare, categories: ['Bart De Wever'] }).kind, 'news', 'a keyword is none')
  t.same(
    ['/2026/05/12', '/2026-05-31/12', '/fr/12', '/nl-be/2026/12', '/nl-be/artikel/12'].map(
      inFolder,
    ),
    ['news', 'news', 'news', 'news', null],
    'a date and a language are no section',
  )
  const both = { ...news, articleSection: 'Opinie', genre: 'Analyse' }
  t.equal(said(both).kind, null, 'two kinds at once')
  t.equal(
    said({ ...news, articleSection: 'Opinie' }, { categories: ['Beste boeken'] }).kind,
    'opinion',
  )
  t.equal(inFolder('/nieuws/analyse-van-de-brug'), null)
  const platforms = [meta('generator', 'Blogger'), meta('news_keywords', 'brug,opinie')]
  for (const head of platforms) t.equal(said(news, { head }).kind, null)
  const author = { '@type': 'Person', name: 'Ann Peeters' }
  const url = 'https://ann.peeters.example/nieuws/12'
  t.equal(said({ ...news, author }, { url }).kind, null, 'a site of one writer')
  const head = meta('article:opinion', 'true')
  t.equal(said({ '@type': 'NewsArticle' }, { head }).kind, 'opinion')
})

t.test('access is what the outlet says, unless it says both', async t => {
  const access = (how: object, head = '') =>
    said({ '@type': 'NewsArticle', ...how }, { head }).access
  t.equal(access({ isAccessibleForFree: 'True' }), 'free')
  t.equal(access({ isAccessibleForFree: false }), 'paid')
  const paid = { '@type': 'WebPageElement', isAccessibleForFree: false, cssSelector: '.paid' }
  t.equal(access({ hasPart: paid }), 'paid')
  t.equal(access({ isAccessibleForFree: true, hasPart: paid }), null)
  const tier = (content: string) => meta('article:content_tier', content)
  t.same(
    ['free', 'locked', 'metered'].map(one => access({}, tier(one))),
    ['free', 'paid', null],
  )
  t.equal(access({ isAccessibleForFree: true }, tier('locked')), null)
  t.equal(access({}, '<meta itemprop="isAccessibleForFree" content="false">'), 'paid')
})
