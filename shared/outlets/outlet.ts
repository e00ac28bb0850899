import type { Country, Language } from '../articles/article.ts'

/** One outlet of the catalogue, as `infra/outlets/*.json` writes it. Known by its domain. */
export interface Outlet {
  name: string
  /** Without `www.`; covers its subdomains. */
  domain: string
  country: Country
  languages: Language[]
  /** IANA name, for dates without an offset. */
  timeZone: string
  feeds: string[]
  sitemaps: string[]
}
