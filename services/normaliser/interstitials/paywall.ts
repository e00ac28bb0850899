import {
  isLanguage,
  PAYWALLED,
  SUBSCRIPTION,
  TERMS,
  totalLength,
} from '#services/normaliser/languages/phrases'
import type { Element, Page } from '#services/normaliser/markup/tree'
import type { PageText } from '#services/normaliser/text/page-text'

/**
 * Characters. A shorter opening is a stub. The summary in the feed is as useful, and is certainly
 * the article's.
 */
const STUB = 500
/** Characters. A longer text is complete, even when the page offers subscriptions beside it. */
const WHOLE = 2_500
/** The most characters of an offer, which is a single paragraph. */
const LONGEST_OFFER = 400
/** The offer stands within this many blocks after the article's end. */
const BEHIND = 12

export interface Opening {
  paragraphs: string[]
  paywalled: boolean
}

/**
 * Removes the offer of a subscription from a page's text. Newspapers also report on subscriptions,
 * so the offer needs evidence: the page's own data, or a sentence that ends the article for readers
 * who do not pay.
 *
 * @param free JSON-LD's `isAccessibleForFree`; null without it
 * @returns the paragraphs that everybody may read (none when they are a stub), and whether the rest
 * of the article is for subscribers
 */
export function openingOf(whole: PageText, free: boolean | null): Opening {
  const page = free === false ? { ...whole, paragraphs: readable(whole) } : whole
  // A page of offers alone may say so in its heading: "Log in to read on".
  const says =
    page.paragraphs.some(isEnd) || (page.titles.some(isEnd) && page.paragraphs.every(isOffer))
  const own =
    says || free === false ? page.paragraphs.filter(text => !isOffer(text)) : page.paragraphs
  if (own.length < page.paragraphs.length) while (isLabel(own.at(-1))) own.pop()
  // What remains of a divided text is its free lead, however short.
  if (page.parted) return { paragraphs: own, paywalled: true }
  // A page that everybody may read can be a report on subscriptions.
  if (free === true) return { paragraphs: own.length > 0 ? own : page.paragraphs, paywalled: false }
  const length = totalLength(own)
  const paywalled =
    length < WHOLE &&
    (says ||
      (free === false && offersBehind(page, own)) ||
      (length < STUB && offersBehind(page, own)))
  return { paragraphs: paywalled && length < STUB ? [] : own, paywalled }
}

/** The most selectors of a page, and the characters and parts of one. */
const SELECTORS = 10
const SELECTOR = /^[\w.#*[\]="'-]{1,100}(?:(?:\s*[>,]\s*|\s+)[\w.#*[\]="'-]{1,100}){0,3}$/

/**
 * The elements that an outlet marks as the part for subscribers, by its CSS selectors. A selector
 * that names the whole page marks no part. Those with pseudo-classes, or with many parts, are not
 * read: they may take long.
 */
export const paidElements = ({ $ }: Page, selectors: string[]): Element[] =>
  selectors.slice(0, SELECTORS).flatMap(selector => {
    if (!SELECTOR.test(selector.trim())) return []
    try {
      return $<Element, string>(selector.trim())
        .toArray()
        .filter(({ name }) => !['html', 'body', 'script'].includes(name))
    } catch {
      // The selector is broken.
      return []
    }
  })

/**
 * The paragraphs that readers see and that are real language, because some paywalls scramble
 * paragraphs.
 */
function readable({ paragraphs, veiled }: PageText): string[] {
  const seen = paragraphs.filter(text => !veiled.has(text))
  return (seen.length > 0 ? seen : paragraphs).filter(isLanguage)
}

/** Whether a paragraph says that the article ends here for readers who do not pay. */
const isEnd = (text: string) => text.length <= LONGEST_OFFER && PAYWALLED.test(text)

/** A paragraph that ends the article, or one that names a subscription and how it is sold. */
const isOffer = (text: string) =>
  isEnd(text) || (text.length <= LONGEST_OFFER && SUBSCRIPTION.test(text) && TERMS.test(text))

/**
 * Whether an offer directly follows the text, outside of its paragraphs. An offer above the text
 * belongs to the page's header, and a hidden offer may be on every page.
 */
function offersBehind({ shown }: PageText, own: string[]): boolean {
  const last = own.at(-1)
  const from = last === undefined ? 0 : shown.lastIndexOf(last) + 1
  return shown.slice(from, from + BEHIND).some(isEnd)
}

/** A heading that introduced the offer. */
const isLabel = (text: string | undefined) =>
  text !== undefined && text.length < 40 && !/[.!?…"”»:]$/.test(text)
