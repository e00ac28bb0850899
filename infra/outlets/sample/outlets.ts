import { type Country, type Language, TIME_ZONES } from '../../../shared/articles/article.ts'
import type { Outlet } from '../../../shared/outlets/catalogue.ts'
import { readTexts, type SampleText } from './texts.ts'

/** A fictional outlet, and the properties of its site. */
export interface SampleOutlet {
  name: string
  domain: string
  motto: string
  country: Country
  /** The first is the language of the page around the articles. */
  languages: [Language, ...Language[]]
  /** Path of an article. */
  address: (text: SampleText) => string
  /** The form in which a page states title, authors and date for machines. `none`: only as text. */
  metadata: 'json-ld' | 'open-graph' | 'none'
  feed: { path: string; format: 'rss' | 'atom' | 'json' | 'sitemap'; whole: boolean }
  /** The folder that robots.txt forbids. */
  forbidden: string
}

const folder = (section: string) =>
  section
    .toLowerCase()
    .normalize('NFD')
    .replace(/[^a-z]/g, '')
const month = (text: SampleText) => text.publishedAt.toISOString().slice(0, 7).replace('-', '/')

const RSS = { path: '/rss.xml', format: 'rss', whole: false } as const

type Site = Pick<SampleOutlet, 'metadata' | 'forbidden' | 'address' | 'feed'>

const outletOf = (
  country: Country,
  languages: SampleOutlet['languages'],
  name: string,
  domain: string,
  motto: string,
  site: Site,
): SampleOutlet => ({ country, languages, name, domain, motto, ...site })

export const SAMPLE_OUTLETS: readonly SampleOutlet[] = [
  outletOf('NL', ['nl'], 'De Dagkoerier', 'dagkoerier.example', 'Nieuws uit het hele land', {
    metadata: 'json-ld',
    forbidden: '/zoeken',
    address: text => `/${folder(text.section)}/${text.slug}~a${text.number}/`,
    feed: RSS,
  }),
  outletOf(
    'NL',
    ['nl'],
    'Noorderkrant',
    'noorderkrant.example',
    'Groningen, Friesland, Drenthe en de eilanden',
    {
      metadata: 'none',
      forbidden: '/beheer/',
      address: text => `/artikel/${text.number}.html`,
      feed: RSS,
    },
  ),
  outletOf('NL', ['nl'], 'Polderpost', 'polderpost.example', 'Voor wie van het land leeft', {
    metadata: 'open-graph',
    forbidden: '/prijzen/',
    address: text => `/nieuws/${text.slug}`,
    feed: { path: '/feed.json', format: 'json', whole: false },
  }),
  outletOf(
    'NL',
    ['en'],
    'The Delta Dispatch',
    'deltadispatch.example',
    'The Netherlands in English',
    {
      metadata: 'json-ld',
      forbidden: '/previews/',
      address: text =>
        text.answer === 'disallowed' ? `/previews/${text.slug}` : `/${month(text)}/${text.slug}`,
      feed: { path: '/atom.xml', format: 'atom', whole: false },
    },
  ),
  outletOf(
    'BE',
    ['nl'],
    'De Scheldebode',
    'scheldebode.example',
    'De krant van Gent tot Antwerpen',
    {
      metadata: 'json-ld',
      forbidden: '/zoek',
      address: text => `/cnt/${text.number}`,
      feed: { path: '/sitemap.xml', format: 'sitemap', whole: false },
    },
  ),
  outletOf('BE', ['fr'], 'Le Fil wallon', 'lefilwallon.example', 'De Tournai à Verviers', {
    metadata: 'open-graph',
    forbidden: '/abonnes/',
    address: text => `/article/${text.slug}_${text.number}.html`,
    feed: { ...RSS, whole: true },
  }),
  outletOf('BE', ['de'], 'Ostblick', 'ostblick.example', 'Nachrichten aus Ostbelgien', {
    metadata: 'open-graph',
    forbidden: '/suche',
    address: text => `/${folder(text.section)}/${text.slug}-${text.number}`,
    feed: { path: '/aktuell.atom', format: 'atom', whole: true },
  }),
  outletOf(
    'BE',
    ['en'],
    'The Brussels Ledger',
    'brusselsledger.example',
    'Belgium and Europe, in plain English',
    {
      metadata: 'open-graph',
      forbidden: '/search',
      address: text => `/p/${text.slug}`,
      feed: RSS,
    },
  ),
  outletOf('LU', ['lb'], "D'Moiesblat", 'moiesblat.example', 'Wat zu Lëtzebuerg geschitt', {
    metadata: 'json-ld',
    forbidden: '/intern/',
    address: text => `/${text.answer === 'disallowed' ? 'intern' : 'a'}/${text.slug}`,
    feed: { ...RSS, whole: true },
  }),
  outletOf('LU', ['lb', 'de'], 'Uelzecht Bléck', 'uelzechtbleck.example', 'Den Süden erzielt', {
    metadata: 'json-ld',
    forbidden: '/admin/',
    address: text => `/bleck/${text.slug}`,
    feed: { path: '/feed.json', format: 'json', whole: true },
  }),
  outletOf('LU', ['de'], 'Moselkurier', 'moselkurier.example', 'Für beide Ufer', {
    metadata: 'none',
    forbidden: '/druck/',
    address: text => `/artikel/${text.number}.html`,
    feed: RSS,
  }),
  outletOf('LU', ['fr', 'en'], 'Le Plateau', 'leplateau.example', 'Le quotidien du Kirchberg', {
    metadata: 'json-ld',
    forbidden: '/compte/',
    address: text => `/${text.language}/${folder(text.section)}/${text.slug}`,
    feed: RSS,
  }),
]

/** The texts of an outlet, newest first. */
export const textsOf = ({ domain, country, languages: [language] }: SampleOutlet): SampleText[] =>
  readTexts(domain, TIME_ZONES[country], language)

/** The catalogue entry of an outlet whose site answers at `origin` (`http://127.0.0.1:24801`). */
export function catalogueEntry(outlet: SampleOutlet, origin: string): Outlet {
  const { name, domain, country, languages, feed } = outlet
  const addresses = [origin + feed.path]
  const isSitemap = feed.format === 'sitemap'
  return {
    name,
    domain,
    country,
    languages: [...languages],
    hosts: [new URL(origin).host],
    timeZone: TIME_ZONES[country],
    feeds: isSitemap ? [] : addresses,
    sitemaps: isSitemap ? addresses : [],
  }
}
