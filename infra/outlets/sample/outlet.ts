/** The properties of a sample outlet and its site. */

import type { Country, Language } from '../../../shared/articles/article.ts'
import type { Outlet } from '../../../shared/outlets/catalogue.ts'
import type { Charset } from './markup.ts'
import { readTexts, type SampleText } from './texts.ts'

/** The shape of a catalogue file, as `outlets sync` reads it. */
export interface OutletsFile {
  outlets: Outlet[]
}

/** How a page names its title, authors and date to machines. `none`: only in words, for people. */
export type Metadata =
  | 'json-ld'
  | 'json-ld-graph'
  | 'json-ld-list'
  | 'json-ld-broken'
  | 'open-graph'
  | 'microdata'
  | 'dublin-core'
  | 'none'

export interface FeedMake {
  path: string
  format: 'rss' | 'rdf' | 'atom' | 'json' | 'sitemap-index'
  body: 'none' | 'summary' | 'full'
  dates: 'zoned' | 'zoneless' | 'none'
  authors: boolean
  /** `tracked`: with `utm_…` parameters; `short`: an address that redirects; `amp`: the AMP variant. */
  links: 'plain' | 'tracked' | 'short' | 'amp'
  charset: Charset
  takes: (text: SampleText) => boolean
}

export interface SampleOutlet {
  name: string
  domain: string
  motto: string
  country: Country
  /** The first is the language of the navigation and other text around the articles. */
  languages: [Language, ...Language[]]
  timeZone: string
  colour: string
  /** Path of an article, with its query where the outlet keeps its identity there. */
  address: (text: SampleText) => string
  metadata: Metadata
  /** `bytes` is the real charset. The header and the meta element may claim another (null: none). */
  charset: { bytes: Charset; header: Charset | null; meta: Charset | null }
  /** The value of `<html lang>`; null without one. */
  pageLanguage: ((text: SampleText) => string) | null
  canonical: boolean
  amp: boolean
  /** The name in feeds for an article without an author. It is no author. */
  desk: string | null
  gzip: boolean
  feeds: FeedMake[]
  robots: { disallow: string[]; crawlDelay: number | null }
}

/** The texts of an outlet, newest first. */
export function textsOf(outlet: SampleOutlet): SampleText[] {
  return readTexts(outlet.domain, outlet.timeZone, outlet.languages[0])
}

/** The catalogue entry of an outlet whose site answers at `origin` (`http://127.0.0.1:24801`). */
export function catalogueEntry(outlet: SampleOutlet, origin: string): Outlet {
  const addresses = (wanted: boolean) =>
    outlet.feeds.filter(feed => (feed.format === 'sitemap-index') === wanted).map(feed => origin + feed.path)
  return {
    name: outlet.name,
    domain: outlet.domain,
    country: outlet.country,
    languages: [...outlet.languages],
    timeZone: outlet.timeZone,
    feeds: addresses(false),
    sitemaps: addresses(true),
  }
}
