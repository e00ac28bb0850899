import { isNoArticle, isSectionOf } from '../identity/places.ts'
import { isRelated, isTitledAs, shareOf } from './relation.ts'
import type { Served } from './served-page.ts'
import { ERROR, ERROR_TITLE, FAILURE_TITLE } from './vocabulary.ts'

/** What an error page says of the error is shorter than this. */
const SHORT = 1_500
/** A text shorter than this under a title such as "Onderhoud" has nothing else to say. */
const NOTE = 300

/**
 * Whether a page says that the article is not there or that something does not work: by its title,
 * by what its sentences say, or by the section to which the redirects led. Nothing of this counts
 * where the page calls itself a dated article.
 */
export function isErrorPage(served: Served): boolean {
  const { page, signs, feedTitle } = served
  if ((signs.typed && signs.dated) || isTitledAs(page, feedTitle)) return false
  const text = page.paragraphs.join('\n')
  const isShort = text.length < SHORT
  // Below "not found" stands a list of other news at times; without a feed's title that could be
  // the article.
  if (page.titles.some(title => ERROR_TITLE.test(title))) return isShort || feedTitle !== null
  if (!isShort) return false
  const share = shareOf(page.paragraphs, ERROR)
  if (page.titles.some(title => FAILURE_TITLE.test(title))) return share >= 0.2 || text.length < NOTE
  if (feedTitle !== null && isRelated(feedTitle, text)) return false
  return (share >= 0.4 && !signs.typed) || (feedTitle !== null && endsAtSection(served))
}

/** An article that is gone is also answered with the section in which it stood. */
function endsAtSection({ url, finalUrl }: Served): boolean {
  if (url === finalUrl || !URL.canParse(url) || !URL.canParse(finalUrl)) return false
  const [from, to] = [new URL(url), new URL(finalUrl)]
  return !isNoArticle(from) && (isNoArticle(to) || (from.hostname === to.hostname && isSectionOf(to, from)))
}
