import { getDomain } from 'tldts'
import { isNoArticle, isSectionOf } from '#services/normaliser/identity'
import {
  CHALLENGE,
  CHALLENGE_MARKUP,
  CHALLENGE_TITLE,
  CONSENT,
  CONSENT_ITSELF,
  ERROR,
  ERROR_TITLE,
  FAILURE_TITLE,
  isRelated,
  isTitledAs,
  MESSAGE,
  shareOf,
  speaksOf,
  totalLength,
} from '#services/normaliser/languages/phrases'
import type { ArticleSigns } from '#services/normaliser/metadata/signs'
import type { PageText } from '#services/normaliser/text/page-text'

/**
 * Kinds of interstitials. These values are stored in `outlet_blocks.kind` and `pages.reason`.
 */
export type InterstitialKind =
  | 'forbidden'
  | 'challenge'
  | 'cookie wall'
  | 'error page'
  | 'paywall'
  | 'repeated text'

/**
 * Recognises pages that are not the article. Their redirects end at another host or at the front
 * page, or their title or text is typical of interstitials. A different title in the feed proves
 * nothing: feeds say "Liveblog", or use another language. The page's own statements weigh more.
 * `paywall.ts` recognises paywalls, because such a page is the article's.
 */
export function recogniseInterstitial(served: Served): InterstitialKind | null {
  const way = { from: new URL(served.url), to: new URL(served.finalUrl) }
  if (isConsentAddress(way, served)) return 'cookie wall'
  if (isChallenge(served) || isUnaskedPage(served)) return 'challenge'
  if (isRoot(way.to) && !isRoot(way.from)) return 'error page'
  if (isCookieWall(served)) return 'cookie wall'
  return isErrorPage(served, way) || isMessage(served) ? 'error page' : null
}

/** The requested address, and the last address of the redirects. */
type Redirected = Record<'from' | 'to', URL>

const CONSENT_HOST =
  /(^|[.-])(my)?(consent|cookies?|privacy|cmp|cookiewall|gdpr|choices)[0-9]*([.-]|$)/
const CONSENT_PATH =
  /\/(cookie-?(wall|muur|consent|check|accept\w*|info)|consent|privacy-?(wall|gate|consent)|cookies?\/(accept|consent|wall)\w*)(\/|\.|$)/i

/**
 * Whether the redirects led to a consent page: on another site, or at such a path on the same site.
 */
function isConsentAddress({ from, to }: Redirected, { outletDomain }: Served): boolean {
  if (from.href === to.href) return false
  const sites = [getDomain(from.hostname) ?? from.hostname, getDomain(outletDomain) ?? outletDomain]
  // An outlet itself may have such a name: `privacy.example` leads to `www.privacy.example`.
  const isNamedSo = CONSENT_HOST.test(from.hostname) || CONSENT_HOST.test(outletDomain)
  const otherHost = from.hostname !== to.hostname
  const otherSite = !sites.includes(getDomain(to.hostname) ?? to.hostname)
  if (otherHost && CONSENT_HOST.test(to.hostname) && !isNamedSo) return true
  return (
    (otherSite || from.pathname !== to.pathname) &&
    CONSENT_PATH.test(to.pathname) &&
    !CONSENT_PATH.test(from.pathname)
  )
}

/** Characters. A page with more text is neither a challenge nor a message. */
const SHORT_PAGE = 2_500

function isChallenge({ html, page, signs, feedTitle }: Served): boolean {
  // Headlines may also begin with "Vérification", "Blocked", "Just a moment". But no bot defence
  // calls its page a dated article.
  if (signs.typed && signs.dated) return false
  if (totalLength(page.visible) > SHORT_PAGE || isTitledAs(page, feedTitle)) return false
  if (page.titles.some(title => CHALLENGE_TITLE.test(title))) return true
  const share = shareOf(page.visible, CHALLENGE)
  const text = totalLength(page.paragraphs)
  return (CHALLENGE_MARKUP.test(html) && (text < 200 || share > 0.2)) || share >= 0.4
}

/** Characters of prose. A page with fewer may be a bot defence, even without listed words. */
const LITTLE_PROSE = 600

/**
 * The most links that such a page has. Ordinary pages have more links, to the front page and to
 * sections.
 */
const FEW_LINKS = 2

/**
 * Recognises a bot defence with unknown words, by several signs together. The page has hardly a
 * link, little prose and a script, and does not call itself an article. It has no word of the title
 * in the feed. One sign alone proves nothing. `noindex` is no such sign, because outlets often set
 * it themselves.
 */
function isUnaskedPage({ html, page, signs, feedTitle }: Served): boolean {
  if (feedTitle === null || signs.typed || signs.dated || signs.canonical) return false
  if ((html.match(/<a\s/gi)?.length ?? 0) > FEW_LINKS) return false
  const text = [...page.titles, ...page.visible].join('\n')
  return totalLength(page.visible) < LITTLE_PROSE && hasScript(html) && !isRelated(feedTitle, text)
}

/**
 * Whether a page has a script that is not JSON-LD. Each tag is read only once, even when it never
 * ends, so that the time stays linear.
 */
const hasScript = (html: string) =>
  html.matchAll(/<script\b[^>]*/gi).some(([tag]) => !/ld\+json/i.test(tag))

// Many sites redirect a removed article to the front page. `/nl`, `/fr/` and `/index.html` are
// front pages, too.
const isRoot = ({ pathname, search }: URL) =>
  search === '' && /^\/([a-z]{2}\/?)?((index|home)(\.\w+)?\/?)?$/i.test(pathname)

function isCookieWall({ page, signs, feedTitle }: Served): boolean {
  const { paragraphs, visible } = page
  if (paragraphs.length === 0)
    return shareOf(visible, CONSENT) >= 0.4 && !isTitledAs(page, feedTitle)
  if (shareOf(paragraphs, CONSENT) < 0.5 || !CONSENT_ITSELF.test(paragraphs.join('\n')))
    return false
  // A cookie wall may be on the article's own page, with all statements of the article. The
  // headline is then not about cookies.
  if (signs.typed && signs.dated && page.titles.some(title => CONSENT.test(title))) return false
  // An article about cookies has such a title in the feed, or speaks of what the title says, or is
  // longer than any dialog.
  const isNews =
    feedTitle === null
      ? totalLength(paragraphs) > SHORT_PAGE
      : isTitledAs(page, feedTitle) &&
        (CONSENT.test(feedTitle) || isRelated(feedTitle, paragraphs.join('\n'), 0.5))
  return !isNews
}

/** Characters. The text of an error page is shorter. */
const SHORT = 1_500
/** Characters. Under a title such as "Onderhoud", a shorter text is only about the error. */
const NOTE = 300

/**
 * Whether a page says that the article does not exist or that the site fails. Its title or its
 * sentences show this, or the redirects or its canonical address lead to the front page or a
 * section. A page that calls itself a dated article is no error page.
 */
function isErrorPage({ page, signs, feedTitle }: Served, { from, to }: Redirected): boolean {
  if ((signs.typed && signs.dated) || isTitledAs(page, feedTitle)) return false
  // Other sites send the front page itself, with its own canonical address. Some name that address
  // on all their pages, so the title must be another one, too.
  const stated = signs.address ?? to
  if (feedTitle !== null && isRoot(stated) && !isRoot(from)) return true
  const text = page.paragraphs.join('\n')
  const isShort = text.length < SHORT
  // Some sites list other news below "not found". Without a title in the feed, that list could be
  // the article.
  if (page.titles.some(title => ERROR_TITLE.test(title))) return isShort || feedTitle !== null
  if (!isShort) return false
  const share = shareOf(page.paragraphs, ERROR)
  if (page.titles.some(title => FAILURE_TITLE.test(title)))
    return share >= 0.2 || text.length < NOTE
  if (feedTitle !== null && isRelated(feedTitle, text)) return false
  return (
    (share >= 0.4 && !signs.typed) ||
    (feedTitle !== null && [to, stated].some(end => endsAtSection(from, end)))
  )
}

/**
 * Whether a page only says why the article is not shown: the reader must be of age, log in, be in
 * another country, or have another browser, or the right to show the text has ended. Half of its
 * sentences say so, or its title does. It has no word of the feed's title; news about such gates
 * has.
 */
function isMessage({ page, signs, feedTitle }: Served): boolean {
  const { paragraphs, visible, titles } = page
  const texts = paragraphs.length > 0 ? paragraphs : visible
  const text = texts.join('\n')
  if (text.length >= SHORT || (feedTitle !== null && speaksOf(feedTitle, paragraphs.join('\n'))))
    return false
  const share = shareOf(texts, MESSAGE)
  const isSaid = titles.some(title => MESSAGE.test(title))
  if ((signs.typed && signs.dated) || feedTitle === null) return isSaid && share >= 0.5
  return share >= 0.5 || (isSaid && (share >= 0.2 || text.length < NOTE))
}

/** Some sites redirect a removed article to its section. */
const endsAtSection = (from: URL, to: URL): boolean =>
  !isNoArticle(from) &&
  (isNoArticle(to) || (from.hostname === to.hostname && isSectionOf(to, from)))

/** A page as it was served, for `recogniseInterstitial`. */
interface Served {
  /** `url`: the address in the feed; `finalUrl`: the last address of the redirects. */
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
