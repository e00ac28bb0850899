import type { ArticleSigns } from '../metadata/signs.ts'
import type { PageText } from '../text/page-text.ts'

/** A page as it was served, for `recogniseInterstitial`. */
export interface Served {
  /** As the feed named it; `finalUrl` after redirects. */
  url: string
  finalUrl: string
  html: string
  page: PageText
  /** The page's statements about itself. */
  signs: ArticleSigns
  /** The feed's title as plain text. */
  feedTitle: string | null
  outletDomain: string
}
