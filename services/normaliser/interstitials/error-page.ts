import { isNoArticle, isSectionOf } from '../identity/places.ts'
import { ERROR, ERROR_TITLE, FAILURE_TITLE } from './phrases.ts'
import { isRelated, isTitledAs, shareOf } from './relation.ts'
import type { Served } from './served-page.ts'

/** An error page's text is shorter than this. */
const SHORT = 1_500
/** Below a title such as "Onderhoud", a text shorter than this is only about the error. */
const NOTE = 300

/**
 * Whether a page says that the article does not exist or that the site fails. Its title, its
 * sentences, or the section to which the redirects led show that. A page that calls itself a dated
 * article is no error page.
 */
export function isErrorPage(served: Served): boolean {
  const { page, signs, feedTitle } = served
  if ((signs.typed && signs.dated) || isTitledAs(page, feedTitle)) return false
  const text = page.paragraphs.join('\n')
  const isShort = text.length < SHORT
  // Some sites list other news below "not found". Without a feed's title that list could be the
  // article.
  if (page.titles.some(title => ERROR_TITLE.test(title))) return isShort || feedTitle !== null
  if (!isShort) return false
  const share = shareOf(page.paragraphs, ERROR)
  if (page.titles.some(title => FAILURE_TITLE.test(title))) return share >= 0.2 || text.length < NOTE
  if (feedTitle !== null && isRelated(feedTitle, text)) return false
  return (share >= 0.4 && !signs.typed) || (feedTitle !== null && endsAtSection(served))
}

/** Some sites redirect a removed article to its section. */
function endsAtSection({ url, finalUrl }: Served): boolean {
  if (url === finalUrl || !URL.canParse(url) || !URL.canParse(finalUrl)) return false
  const [from, to] = [new URL(url), new URL(finalUrl)]
  return !isNoArticle(from) && (isNoArticle(to) || (from.hostname === to.hostname && isSectionOf(to, from)))
}
