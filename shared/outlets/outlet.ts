import type { Country, Language } from '../articles/article.ts'

/** One outlet of the catalogue, as in `infra/outlets/*.json`. The domain identifies it. */
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
