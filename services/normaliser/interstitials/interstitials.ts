import { getDomain } from 'tldts'
import { isErrorPage } from './error-page.ts'
import { isTitledAs, shareOf, totalLength } from './relation.ts'
import type { Served } from './served-page.ts'
import { CHALLENGE, CHALLENGE_MARKUP, CHALLENGE_TITLE, CONSENT, CONSENT_ITSELF } from './vocabulary.ts'

/** What stood in the article's place, as the outlet's health names it (`outlet_blocks.kind`). */
export type InterstitialKind = 'forbidden' | 'challenge' | 'cookie wall' | 'error page' | 'paywall' | 'repeated text'

/**
 * Recognises pages that are something else than the article asked for, by what such pages have in
 * common: another host or the site's front page at the end of the redirects, a title that says so,
 * a text that speaks of little else. A feed's title that differs proves nothing: feeds say
 * "Liveblog", or speak another language. What a page says of itself weighs more. Paywalls are told
 * in `paywall.ts`: their pages are the article's.
 */
export function recogniseInterstitial(served: Served): InterstitialKind | null {
  if (isConsentAddress(served)) return 'cookie wall'
  if (isChallenge(served)) return 'challenge'
  if (isFrontPage(served)) return 'error page'
  if (isCookieWall(served)) return 'cookie wall'
  return isErrorPage(served) ? 'error page' : null
}

const CONSENT_HOST = /(^|[.-])(my)?(consent|cookies?|privacy|cmp|cookiewall|gdpr|choices)[0-9]*([.-]|$)/
const CONSENT_PATH =
  /\/(cookie-?(wall|muur|consent|check|accept\w*|info)|consent|privacy-?(wall|gate|consent)|cookies?\/(accept|consent|wall)\w*)(\/|\.|$)/i

/** Redirected to a place for consent: another site, or such a path on the same one. */
function isConsentAddress({ url, finalUrl, outletDomain }: Served): boolean {
  const [from, to] = [readUrl(url), readUrl(finalUrl)]
  if (from === null || to === null || from.href === to.href) return false
  const sites = [getDomain(from.hostname) ?? from.hostname, getDomain(outletDomain) ?? outletDomain]
  // An outlet may be called so: `privacy.example` that leads to `www.privacy.example`.
  const isNamedSo = CONSENT_HOST.test(from.hostname) || CONSENT_HOST.test(outletDomain)
  const otherHost = from.hostname !== to.hostname
  const otherSite = !sites.includes(getDomain(to.hostname) ?? to.hostname)
  if (otherHost && CONSENT_HOST.test(to.hostname) && !isNamedSo) return true
  return (
    (otherSite || from.pathname !== to.pathname) && CONSENT_PATH.test(to.pathname) && !CONSENT_PATH.test(from.pathname)
  )
}

/** Above so many characters on the whole page, it is more than a challenge or a message. */
const SHORT_PAGE = 2_500

function isChallenge({ html, page, signs, feedTitle }: Served): boolean {
  // "Vérification", "Blocked", "Just a moment": headlines begin so too. No defence calls its page a
  // dated article.
  if (signs.typed && signs.dated) return false
  if (totalLength(page.visible) > SHORT_PAGE || isTitledAs(page, feedTitle)) return false
  if (page.titles.some(title => CHALLENGE_TITLE.test(title))) return true
  const share = shareOf(page.visible, CHALLENGE)
  const text = totalLength(page.paragraphs)
  return (CHALLENGE_MARKUP.test(html) && (text < 200 || share > 0.2)) || share >= 0.4
}

/** An article that is gone is often answered with the front page. */
function isFrontPage({ url, finalUrl }: Served): boolean {
  const [from, to] = [readUrl(url), readUrl(finalUrl)]
  if (from === null || to === null) return false
  return isRoot(to) && !isRoot(from)
}
// `/nl`, `/fr/` and `/index.html` are front pages too.
const isRoot = ({ pathname, search }: URL) =>
  search === '' && /^\/([a-z]{2}\/?)?((index|home)(\.\w+)?\/?)?$/i.test(pathname)

function isCookieWall({ page, signs, feedTitle }: Served): boolean {
  const { paragraphs, visible } = page
  if (paragraphs.length === 0) return shareOf(visible, CONSENT) >= 0.4 && !isTitledAs(page, feedTitle)
  if (shareOf(paragraphs, CONSENT) < 0.5 || !CONSENT_ITSELF.test(paragraphs.join('\n'))) return false
  // A wall may stand on the article's own page, with all of its signs: but the headline is then of
  // something else.
  if (signs.typed && signs.dated && page.titles.some(title => CONSENT.test(title))) return false
  // News about cookies says so in the feed's title, or is longer than any dialog.
  const isNews =
    feedTitle === null ? totalLength(paragraphs) > SHORT_PAGE : CONSENT.test(feedTitle) && isTitledAs(page, feedTitle)
  return !isNews
}

function readUrl(url: string): URL | null {
  return URL.canParse(url) ? new URL(url) : null
}
