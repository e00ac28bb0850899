import type { Country } from '../../../shared/articles/article.ts'
import { SNIPPET_LENGTH } from '../../../shared/articles/snippet.ts'
import { type FeedMake, type SampleOutlet, type SampleText, summaryOf, type TextLanguage, textsOf } from './texts.ts'

/** The twelve fictional outlets and the properties of their sites, which all differ, as on the web. */

const UTF8 = { bytes: 'utf-8', header: 'utf-8', meta: 'utf-8' } as const

const FEED: Omit<FeedMake, 'path' | 'format'> = {
  body: 'summary',
  dates: 'zoned',
  authors: true,
  links: 'plain',
  charset: 'utf-8',
  takes: () => true,
}

const ORDINARY = {
  charset: UTF8,
  pageLanguage: (text: SampleText) => text.language,
  canonical: true,
  amp: false,
  desk: null,
  gzip: false,
}

const folder = (section: string) =>
  section
    .toLowerCase()
    .normalize('NFD')
    .replace(/[^a-z]/g, '')
const day = (text: SampleText) => text.publishedAt.toISOString().slice(0, 10)

const DUTCH: SampleOutlet[] = [
  {
    ...ORDINARY,
    name: 'De Dagkoerier',
    domain: 'dagkoerier.example',
    motto: 'Nieuws uit het hele land',
    country: 'NL',
    languages: ['nl'],
    timeZone: 'Europe/Amsterdam',
    colour: '#a3182d',
    address: text => `/${folder(text.section)}/${text.slug}~a${text.number}/`,
    metadata: 'json-ld-graph',
    amp: true,
    desk: 'Redactie',
    feeds: [
      { ...FEED, path: '/rss/voorpagina.xml', format: 'rss', links: 'tracked' },
      { ...FEED, path: '/rss/sport.xml', format: 'rss', links: 'amp', takes: text => text.section === 'Sport' },
    ],
    robots: { disallow: ['/zoeken', '/mijn-account/'], crawlDelay: null },
  },
  {
    ...ORDINARY,
    name: 'Noorderkrant',
    domain: 'noorderkrant.example',
    motto: 'Groningen, Friesland, Drenthe en de eilanden',
    country: 'NL',
    languages: ['nl'],
    timeZone: 'Europe/Amsterdam',
    colour: '#1d4e89',
    address: text => `/artikel.php?id=${text.number}`,
    metadata: 'none',
    charset: { bytes: 'windows-1252', header: 'windows-1252', meta: null },
    pageLanguage: null,
    canonical: false,
    feeds: [{ ...FEED, path: '/nieuws.rdf', format: 'rdf', dates: 'none', charset: 'windows-1252' }],
    robots: { disallow: ['/beheer/'], crawlDelay: 0.3 },
  },
  {
    ...ORDINARY,
    name: 'Polderpost',
    domain: 'polderpost.example',
    motto: 'Voor wie van het land leeft',
    country: 'NL',
    languages: ['nl'],
    timeZone: 'Europe/Amsterdam',
    colour: '#3f6f21',
    address: text => `/nieuws/${text.slug}`,
    metadata: 'open-graph',
    feeds: [{ ...FEED, path: '/feed.json', format: 'json' }],
    robots: { disallow: ['/marktplaats/prijzen/'], crawlDelay: null },
  },
  {
    ...ORDINARY,
    name: 'The Delta Dispatch',
    domain: 'deltadispatch.example',
    motto: 'The Netherlands in English',
    country: 'NL',
    languages: ['en'],
    timeZone: 'Europe/Amsterdam',
    colour: '#d9661f',
    address: text =>
      text.answer === 'disallowed'
        ? `/previews/${text.slug}`
        : `/${day(text).slice(0, 7).replace('-', '/')}/${text.slug}`,
    metadata: 'json-ld',
    feeds: [{ ...FEED, path: '/atom.xml', format: 'atom', links: 'short' }],
    robots: { disallow: ['/previews/'], crawlDelay: null },
  },
]

const BELGIAN: SampleOutlet[] = [
  {
    ...ORDINARY,
    name: 'De Scheldebode',
    domain: 'scheldebode.example',
    motto: 'De krant van Gent tot Antwerpen',
    country: 'BE',
    languages: ['nl'],
    timeZone: 'Europe/Brussels',
    colour: '#0b6e6e',
    address: text => `/cnt/dmf${day(text).replaceAll('-', '')}_${text.number}`,
    metadata: 'json-ld-list',
    pageLanguage: () => 'nl-BE',
    feeds: [{ ...FEED, path: '/sitemap-index.xml.gz', format: 'sitemap-index', body: 'none', authors: false }],
    robots: { disallow: ['/zoek'], crawlDelay: null },
  },
  {
    ...ORDINARY,
    name: 'Le Fil wallon',
    domain: 'lefilwallon.example',
    motto: 'De Tournai à Verviers',
    country: 'BE',
    languages: ['fr'],
    timeZone: 'Europe/Brussels',
    colour: '#b3001b',
    address: text => `/article/${text.slug}_${text.number}.html`,
    metadata: 'open-graph',
    charset: { bytes: 'utf-8', header: 'iso-8859-1', meta: 'utf-8' },
    pageLanguage: () => 'fr-BE',
    feeds: [{ ...FEED, path: '/feed/', format: 'rss', body: 'full' }],
    robots: { disallow: ['/recherche', '/abonnes/'], crawlDelay: null },
  },
  {
    ...ORDINARY,
    name: 'Ostblick',
    domain: 'ostblick.example',
    motto: 'Nachrichten aus Ostbelgien',
    country: 'BE',
    languages: ['de'],
    timeZone: 'Europe/Brussels',
    colour: '#54428e',
    address: text => `/${folder(text.section)}/${text.slug}-${text.number}`,
    metadata: 'dublin-core',
    charset: { bytes: 'iso-8859-15', header: null, meta: 'iso-8859-15' },
    feeds: [{ ...FEED, path: '/aktuell.atom', format: 'atom', body: 'full', charset: 'iso-8859-1' }],
    robots: { disallow: ['/suche'], crawlDelay: null },
  },
  {
    ...ORDINARY,
    name: 'The Brussels Ledger',
    domain: 'brusselsledger.example',
    motto: 'Belgium and Europe, in plain English',
    country: 'BE',
    languages: ['en'],
    timeZone: 'Europe/Brussels',
    colour: '#22333b',
    address: text => `/p/${text.slug}`,
    metadata: 'json-ld-broken',
    feeds: [{ ...FEED, path: '/rss', format: 'rss', links: 'tracked', dates: 'zoneless' }],
    robots: { disallow: ['/search'], crawlDelay: null },
  },
]

const LUXEMBOURGISH: SampleOutlet[] = [
  {
    ...ORDINARY,
    name: "D'Moiesblat",
    domain: 'moiesblat.example',
    motto: 'Wat zu Lëtzebuerg geschitt',
    country: 'LU',
    languages: ['lb'],
    timeZone: 'Europe/Luxembourg',
    colour: '#00699b',
    address: text => (text.answer === 'disallowed' ? `/intern/${text.slug}` : `/a/${text.number}/${text.slug}`),
    metadata: 'json-ld',
    feeds: [{ ...FEED, path: '/rss.xml', format: 'rss', body: 'full' }],
    robots: { disallow: ['/intern/'], crawlDelay: null },
  },
  {
    ...ORDINARY,
    name: 'Uelzecht Bléck',
    domain: 'uelzechtbleck.example',
    motto: 'Den Süden erzielt',
    country: 'LU',
    languages: ['lb', 'de'],
    timeZone: 'Europe/Luxembourg',
    colour: '#8c4a1f',
    address: text => `/bleck/${text.slug}`,
    metadata: 'microdata',
    // A system that was set up in German, for texts that are mostly Luxembourgish.
    pageLanguage: () => 'de-LU',
    feeds: [{ ...FEED, path: '/feed.json', format: 'json', body: 'full' }],
    robots: { disallow: ['/admin/'], crawlDelay: null },
  },
  {
    ...ORDINARY,
    name: 'Moselkurier',
    domain: 'moselkurier.example',
    motto: 'Für beide Ufer',
    country: 'LU',
    languages: ['de'],
    timeZone: 'Europe/Luxembourg',
    colour: '#5b1a3a',
    address: text => `/artikel/${text.number}.html`,
    metadata: 'none',
    charset: { bytes: 'windows-1252', header: null, meta: 'windows-1252' },
    pageLanguage: null,
    canonical: false,
    feeds: [{ ...FEED, path: '/rss.php', format: 'rss', body: 'none', dates: 'none', authors: false }],
    robots: { disallow: ['/druck/'], crawlDelay: null },
  },
  {
    ...ORDINARY,
    name: 'Le Plateau',
    domain: 'leplateau.example',
    motto: 'Le quotidien du Kirchberg',
    country: 'LU',
    languages: ['fr', 'en'],
    timeZone: 'Europe/Luxembourg',
    colour: '#14213d',
    address: text => (text.language === 'en' ? `/en/${text.slug}` : `/fr/${folder(text.section)}/${text.slug}`),
    metadata: 'json-ld',
    gzip: true,
    feeds: [
      { ...FEED, path: '/rss/fr.xml', format: 'rss', takes: text => text.language === 'fr' },
      { ...FEED, path: '/rss/en.xml', format: 'rss', takes: text => text.language === 'en' },
    ],
    robots: { disallow: ['/compte/', '/recherche'], crawlDelay: null },
  },
]

export const SAMPLE_OUTLETS: readonly SampleOutlet[] = [...DUTCH, ...BELGIAN, ...LUXEMBOURGISH]

/** The result that the pipeline should produce from the sample outlets, for tests. */

/**
 * `article`: made from its page. `article-from-feed`: the page is refused, and the article is made
 * from the feed. `refused`: never indexed (another language, gone, robots.txt). `failing`: tried
 * again and again, never indexed.
 */
type Expectation = 'article' | 'article-from-feed' | 'refused' | 'failing'

interface SampleTruth {
  domain: string
  /** The canonical path at the outlet's address, with the query if that names the article. */
  path: string
  title: string
  /** The first 200 code points of the body, white space collapsed; null without a body. */
  body: string | null
  authors: string[]
  /** ISO 8601, UTC. */
  published_at: string
  language: TextLanguage
  country: Country
  /** The event that it reports; null when no other outlet reports it. */
  event: string | null
  expectation: Expectation
}

/** One entry for every text, in the order of the outlets, newest first. */
export function sampleTruth(): SampleTruth[] {
  return SAMPLE_OUTLETS.flatMap(outlet => textsOf(outlet).map(text => truthOf(outlet, text)))
}

function truthOf(outlet: SampleOutlet, text: SampleText): SampleTruth {
  const expectation = expectationOf(outlet, text)
  const feed = outlet.feeds.find(candidate => candidate.takes(text))
  const fromFeed = expectation === 'article-from-feed'
  const body = fromFeed
    ? { none: null, summary: summaryOf(text), full: whole(text) }[feed?.body ?? 'none']
    : whole(text)
  return {
    domain: outlet.domain,
    path: outlet.address(text),
    title: text.title,
    body: body === null ? null : [...body].slice(0, SNIPPET_LENGTH).join('').trimEnd(),
    authors: fromFeed && !feed?.authors ? [] : text.authors,
    published_at: text.publishedAt.toISOString(),
    language: text.language,
    country: outlet.country,
    event: text.event,
    expectation,
  }
}

function whole(text: SampleText): string {
  return text.paragraphs.join(' ')
}

function expectationOf(outlet: SampleOutlet, text: SampleText): Expectation {
  if (!outlet.languages.some(language => language === text.language)) return 'refused'
  switch (text.answer) {
    case 'page':
    case 'fails-once':
      return 'article'
    case 'forbidden':
    case 'consent-wall':
    case 'consent-redirect':
    case 'paywall':
      return 'article-from-feed'
    case 'disallowed':
    case 'gone':
      return 'refused'
    case 'fails':
      return 'failing'
  }
}
