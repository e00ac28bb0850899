import type { Country } from '#search/types'
import type { Language } from '#shared/articles/article'
import type { Outlet } from '#shared/outlets/catalogue'

/** One feed of a site. */
export interface SiteFeed {
  path: string
  format: 'rss' | 'atom' | 'sitemap'
  /** `tracked`: with `utm_…`; `short`: an address that redirects to the article. */
  links: 'plain' | 'tracked' | 'short'
  /**
   * A forgetful feed drops an article as soon as a reader says, by the ETag that it presents, that
   * it has it. Whoever keeps an ETag without the addresses that came with it has then lost them for
   * good.
   */
  forgetful?: boolean
}

/**
 * An outlet that is served on a loopback address of its own, 127.2.0.N, because politeness goes by
 * host.
 */
export interface SiteOutlet {
  name: string
  domain: string
  country: Country
  language: Language
  timeZone: string
  address: string
  feeds: SiteFeed[]
}

/** Between them they have every way in which one article can be named twice. */
export const SITE_OUTLETS: readonly SiteOutlet[] = [
  outlet(1, 'De Stormvogel', 'stormvogel.example', 'NL', 'nl', [
    { path: '/rss.xml', format: 'rss', links: 'tracked' },
    { path: '/news-sitemap.xml', format: 'sitemap', links: 'plain' },
  ]),
  outlet(2, 'Het Baken', 'baken.example', 'NL', 'nl', [
    { path: '/atom.xml', format: 'atom', links: 'plain', forgetful: true },
  ]),
  outlet(3, 'De Dijkwacht', 'dijkwacht.example', 'BE', 'nl', [
    { path: '/rss.xml', format: 'rss', links: 'plain' },
    { path: '/kort.xml', format: 'atom', links: 'short' },
  ]),
  outlet(4, 'Le Veilleur', 'veilleur.example', 'BE', 'fr', [
    { path: '/rss.xml', format: 'rss', links: 'plain', forgetful: true },
  ]),
  outlet(5, 'La Vigie', 'vigie.example', 'LU', 'fr', [
    { path: '/news-sitemap.xml', format: 'sitemap', links: 'plain' },
  ]),
  outlet(6, 'Der Leuchtturm', 'leuchtturm.example', 'LU', 'de', [
    { path: '/atom.xml', format: 'atom', links: 'short', forgetful: true },
  ]),
  outlet(7, 'D’Wuecht', 'wuecht.example', 'LU', 'lb', [
    { path: '/rss.xml', format: 'rss', links: 'tracked' },
  ]),
  outlet(8, 'The Lookout', 'lookout.example', 'NL', 'en', [
    { path: '/atom.xml', format: 'atom', links: 'tracked' },
    { path: '/rss.xml', format: 'rss', links: 'plain' },
  ]),
]

function outlet(
  number: number,
  name: string,
  domain: string,
  country: Outlet['country'],
  language: Language,
  feeds: SiteFeed[],
): SiteOutlet {
  const timeZone = { NL: 'Europe/Amsterdam', BE: 'Europe/Brussels', LU: 'Europe/Luxembourg' }[
    country
  ]
  return { name, domain, country, language, timeZone, address: `127.2.0.${number}`, feeds }
}

/** The outlet in a catalogue. */
export function entryOf(
  { feeds, language, address, ...outlet }: SiteOutlet,
  origin: string,
): Outlet {
  const addresses = (sitemaps: boolean) =>
    feeds
      .filter(({ format }) => (format === 'sitemap') === sitemaps)
      .map(({ path }) => origin + path)
  return {
    ...outlet,
    languages: [language],
    hosts: [address],
    feeds: addresses(false),
    sitemaps: addresses(true),
  }
}
