import { type Country, type Language, TIME_ZONES } from '../../../shared/articles/article.ts'
import type { Outlet } from '../../../shared/outlets/catalogue.ts'
import { readTexts, type SampleText } from './texts.ts'

/** A fictional outlet, and what its site is like. */
export interface SampleOutlet {
  name: string
  domain: string
  motto: string
  country: Country
  /** The first is the language of what stands around the articles. */
  languages: [Language, ...Language[]]
  colour: string
  /** Path of an article. */
  address: (text: SampleText) => string
  /** The form in which a page tells machines its title, authors and date. `none`: in words alone. */
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

export const SAMPLE_OUTLETS: readonly SampleOutlet[] = [
  {
    name: 'De Dagkoerier',
    domain: 'dagkoerier.example',
    country: 'NL',
    languages: ['nl'],
    motto: 'Nieuws uit het hele land',
    colour: '#a3182d',
    metadata: 'json-ld',
    forbidden: '/zoeken',
    address: text => `/${folder(text.section)}/${text.slug}~a${text.number}/`,
    feed: RSS,
  },
  {
    name: 'Noorderkrant',
    domain: 'noorderkrant.example',
    country: 'NL',
    languages: ['nl'],
    motto: 'Groningen, Friesland, Drenthe en de eilanden',
    colour: '#1d4e89',
    metadata: 'none',
    address: text => `/artikel/${text.number}.html`,
    feed: RSS,
    forbidden: '/beheer/',
  },
  {
    name: 'Polderpost',
    domain: 'polderpost.example',
    country: 'NL',
    languages: ['nl'],
    motto: 'Voor wie van het land leeft',
    colour: '#3f6f21',
    metadata: 'open-graph',
    forbidden: '/prijzen/',
    address: text => `/nieuws/${text.slug}`,
    feed: { path: '/feed.json', format: 'json', whole: false },
  },
  {
    name: 'The Delta Dispatch',
    domain: 'deltadispatch.example',
    country: 'NL',
    languages: ['en'],
    motto: 'The Netherlands in English',
    colour: '#b34d10',
    metadata: 'json-ld',
    forbidden: '/previews/',
    address: text => (text.answer === 'disallowed' ? `/previews/${text.slug}` : `/${month(text)}/${text.slug}`),
    feed: { path: '/atom.xml', format: 'atom', whole: false },
  },
  {
    name: 'De Scheldebode',
    domain: 'scheldebode.example',
    country: 'BE',
    languages: ['nl'],
    motto: 'De krant van Gent tot Antwerpen',
    colour: '#0b6e6e',
    metadata: 'json-ld',
    forbidden: '/zoek',
    address: text => `/cnt/${text.number}`,
    feed: { path: '/sitemap.xml', format: 'sitemap', whole: false },
  },
  {
    name: 'Le Fil wallon',
    domain: 'lefilwallon.example',
    country: 'BE',
    languages: ['fr'],
    motto: 'De Tournai à Verviers',
    colour: '#b3001b',
    metadata: 'open-graph',
    forbidden: '/abonnes/',
    address: text => `/article/${text.slug}_${text.number}.html`,
    feed: { ...RSS, whole: true },
  },
  {
    name: 'Ostblick',
    domain: 'ostblick.example',
    country: 'BE',
    languages: ['de'],
    motto: 'Nachrichten aus Ostbelgien',
    colour: '#54428e',
    metadata: 'open-graph',
    forbidden: '/suche',
    address: text => `/${folder(text.section)}/${text.slug}-${text.number}`,
    feed: { path: '/aktuell.atom', format: 'atom', whole: true },
  },
  {
    name: 'The Brussels Ledger',
    domain: 'brusselsledger.example',
    country: 'BE',
    languages: ['en'],
    motto: 'Belgium and Europe, in plain English',
    colour: '#22333b',
    metadata: 'open-graph',
    address: text => `/p/${text.slug}`,
    feed: RSS,
    forbidden: '/search',
  },
  {
    name: "D'Moiesblat",
    domain: 'moiesblat.example',
    country: 'LU',
    languages: ['lb'],
    motto: 'Wat zu Lëtzebuerg geschitt',
    colour: '#00699b',
    metadata: 'json-ld',
    forbidden: '/intern/',
    address: text => `/${text.answer === 'disallowed' ? 'intern' : 'a'}/${text.slug}`,
    feed: { ...RSS, whole: true },
  },
  {
    name: 'Uelzecht Bléck',
    domain: 'uelzechtbleck.example',
    country: 'LU',
    languages: ['lb', 'de'],
    motto: 'Den Süden erzielt',
    colour: '#8c4a1f',
    metadata: 'json-ld',
    forbidden: '/admin/',
    address: text => `/bleck/${text.slug}`,
    feed: { path: '/feed.json', format: 'json', whole: true },
  },
  {
    name: 'Moselkurier',
    domain: 'moselkurier.example',
    country: 'LU',
    languages: ['de'],
    motto: 'Für beide Ufer',
    colour: '#5b1a3a',
    metadata: 'none',
    forbidden: '/druck/',
    address: text => `/artikel/${text.number}.html`,
    feed: RSS,
  },
  {
    name: 'Le Plateau',
    domain: 'leplateau.example',
    country: 'LU',
    languages: ['fr', 'en'],
    motto: 'Le quotidien du Kirchberg',
    colour: '#14213d',
    metadata: 'json-ld',
    forbidden: '/compte/',
    address: text => `/${text.language}/${folder(text.section)}/${text.slug}`,
    feed: RSS,
  },
]

/** The texts of an outlet, newest first. */
export const textsOf = ({ domain, country, languages: [language] }: SampleOutlet): SampleText[] =>
  readTexts(domain, TIME_ZONES[country], language)

/** The catalogue entry of an outlet whose site answers at `origin` (`http://127.0.0.1:24801`). */
export function catalogueEntry(outlet: SampleOutlet, origin: string): Outlet {
  const { name, domain, country, languages, feed } = outlet
  const [addresses, isSitemap] = [[origin + feed.path], feed.format === 'sitemap']
  return {
    ...{ name, domain, country, languages: [...languages], hosts: [new URL(origin).host] },
    timeZone: TIME_ZONES[country],
    feeds: isSitemap ? [] : addresses,
    sitemaps: isSitemap ? addresses : [],
  }
}
