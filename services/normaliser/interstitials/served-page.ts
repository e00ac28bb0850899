import type { ArticleSigns } from '../metadata/signs.ts'
import type { PageText } from '../text/page-text.ts'

/** A page as it came, for `recogniseInterstitial`. */
export interface Served {
  /** As the feed named it, and after redirects. */
  url: string
  finalUrl: string
  html: string
  page: PageText
  /** What the page says of itself. */
  signs: ArticleSigns
  /** The feed's title as plain text. */
  feedTitle: string | null
  outletDomain: string
}
