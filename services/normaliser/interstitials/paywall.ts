import type { PageText } from '../text/page-text.ts'
import { totalLength } from './relation.ts'
import { SUBSCRIPTION, TERMS, WALLED } from './vocabulary.ts'

/** What a page leaves open of an article. */
export interface Opening {
  /**
   * The article's own paragraphs, without a word of the offer; none when what is open is a mere
   * stub.
   */
  paragraphs: string[]
  /** Whether the rest is for those who pay. */
  walled: boolean
}

/**
 * An opening shorter than this is a stub: what the feed says is worth as much, and certainly the
 * article's.
 */
const STUB = 500
/** A text longer than this is there as a whole, whatever the page sells beside it. */
const WHOLE = 2_500
/** An offer is a paragraph, not an essay. */
const LONGEST_OFFER = 400
/** So many blocks behind an article's end its offer comes, if there is one. */
const BEHIND = 12

/**
 * Takes the offer of a subscription out of a page's text. Done only where something says that there
 * is one, the page's own data or a sentence that ends the article for those who do not pay:
 * newspapers report on subscriptions too.
 *
 * @param free JSON-LD's `isAccessibleForFree`, null when it does not say
 */
export function openingOf(page: PageText, free: boolean | null): Opening {
  const says = page.paragraphs.some(isEnd)
  const own = says || free === false ? page.paragraphs.filter(text => !isOffer(text)) : page.paragraphs
  if (own.length < page.paragraphs.length) while (isLabel(own.at(-1))) own.pop()
  // A page that says that all may read it may report on what is for subscribers only.
  if (free === true) return { paragraphs: own.length > 0 ? own : page.paragraphs, walled: false }
  const length = totalLength(own)
  const walled =
    length < WHOLE &&
    (says || (free === false && offersBehind(page, own)) || (length < STUB && offersBehind(page, own)))
  return { paragraphs: walled && length < STUB ? [] : own, walled }
}

/** Whether a paragraph says that the article ends here for whoever does not pay. */
const isEnd = (text: string) => text.length <= LONGEST_OFFER && WALLED.test(text)

/** A paragraph that ends the article, or one that names a subscription and how it is sold. */
const isOffer = (text: string) =>
  isEnd(text) || (text.length <= LONGEST_OFFER && SUBSCRIPTION.test(text) && TERMS.test(text))

/**
 * Whether an offer stands right behind the text, left out of it already. One above it is the page's
 * header.
 */
function offersBehind({ visible }: PageText, own: string[]): boolean {
  const last = own.at(-1)
  const from = last === undefined ? 0 : visible.lastIndexOf(last) + 1
  return visible.slice(from, from + BEHIND).some(isEnd)
}

/** A heading that introduced the offer. */
const isLabel = (text: string | undefined) => text !== undefined && text.length < 40 && !/[.!?…"”»:]$/.test(text)
