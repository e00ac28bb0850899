import { fold } from '#services/normaliser/markup/plain'
import { allWords, anyOf } from './index.ts'
import type { LanguageRules } from './rules.ts'

/**
 * Phrases of interstitials. A single phrase proves nothing, because there is also news about
 * cookies and subscriptions, for instance. So `interstitials.ts` measures their share of a text.
 * The rules of each language hold its phrases.
 */

const any = (field: keyof LanguageRules['interstitials']) =>
  anyOf(rules => rules.interstitials[field])
const phrases = (field: keyof LanguageRules['interstitials']) => new RegExp(any(field), 'iu')

export const CONSENT: RegExp = phrases('consent')
export const CONSENT_ITSELF: RegExp = new RegExp(any('consentItself'), 'i')
export const CHALLENGE: RegExp = phrases('challenge')
/** Traces of bot defences in the markup. Ordinary pages behind a defence also have some of them. */
export const CHALLENGE_MARKUP: RegExp =
  /_cf_chl_opt|cf-browser-verification|cf-challenge|challenge-form|challenges\.cloudflare\.com\/turnstile|captcha-delivery\.com|_Incapsula_Resource|px-captcha|perimeterx|distil_r_|sec-if-cpt|sec-cpt|\/_sec\/cp_challenge|awswaf|aws-waf|human-challenge|h-captcha|g-recaptcha|kasada|funcaptcha|meta http-equiv="refresh"[^<>]{1,500}captcha/i
export const CHALLENGE_TITLE: RegExp = new RegExp(
  [
    String.raw`^\W*${any('challengeTitles')}`,
    String.raw`^\W*(${any('challengeWholeTitles')}|403|(403\W+)?forbidden)(\W*$|\s*[|–—·])`,
  ].join('|'),
  'iu',
)

/**
 * A number counts only when it is the whole title: "500 banen weg" and "404 blessés" are news.
 */
export const ERROR_TITLE: RegExp = new RegExp(
  [
    String.raw`^\W*((http|status|code|${any('beforeErrorNumber')})\W*)*(40[0-9]|410|429|50[0-9])(\W*$|\W+${any('behindErrorNumber')}\b|\s*[|–—·:-])`,
    any('errorTitles'),
  ].join('|'),
  'iu',
)
/** Titles that news has, too, so the text decides. */
export const FAILURE_TITLE: RegExp = new RegExp(String.raw`^\W*${any('failureTitles')}`, 'i')
export const ERROR: RegExp = phrases('errors')
/** Sentences of gates, and their titles: an age check, an old browser, a country, a login. */
export const MESSAGE: RegExp = phrases('messages')
export const SUBSCRIPTION: RegExp = phrases('subscription')
export const TERMS: RegExp = phrases('terms')
export const PAYWALLED: RegExp = phrases('paywalled')

/** Shorter words say little about the subject of a text. */
const LONG_WORD = 4
/** This many letters at the beginning of a word are the same in most of its forms. */
const STEM = 5

/**
 * Whether a text contains at least `share` of a title's longer words, in any form; by default at
 * least one word. A title without words is related to every text.
 */
export function isRelated(title: string, text: string, share = 0): boolean {
  const words = fold(title).split(' ')
  const long = words.filter(word => word.length >= LONG_WORD)
  const telling = long.length > 0 ? long : words
  if (telling[0] === '') return true
  const found = fold(text)
  const shared = telling.filter(word => found.includes(word.slice(0, STEM))).length
  return shared > 0 && shared >= share * telling.length
}

/** The common words of all languages, as written. */
const COMMON: ReadonlySet<string> = new Set(allWords(rules => rules.detection.commonWords))

const FEWEST_WORDS = 6
const COMMON_SHARE = 0.1

/**
 * Whether enough words of a text in lower case are common words of our languages. A text with few
 * words in lower case passes, because names and numbers look alike in all languages.
 */
export function isLanguage(text: string): boolean {
  const small = text.match(/(?<![\p{L}\p{M}])\p{Ll}[\p{L}\p{M}]*/gu) ?? []
  if (/lorem ipsum|dolor sit amet/i.test(text)) return false
  return (
    small.length < FEWEST_WORDS ||
    small.filter(word => COMMON.has(word)).length >= COMMON_SHARE * small.length
  )
}

/** Whether a text has a word of a title that is none of the common words of our languages. */
export function speaksOf(title: string, text: string): boolean {
  const words = title.toLowerCase().split(/[^\p{L}\p{M}\p{N}]+/u)
  return isRelated(words.filter(word => !COMMON.has(word)).join(' '), text)
}

/** Whether a title of the page has at least half of the words of the feed's title. */
export const isTitledAs = ({ titles }: { titles: string[] }, feedTitle: string | null): boolean =>
  feedTitle !== null && titles.some(title => isRelated(feedTitle, title, 0.5))

/**
 * The share of the sentences in some paragraphs that match a pattern, by length; 0 without
 * sentences.
 */
export function shareOf(paragraphs: string[], pattern: RegExp): number {
  let total = 0
  let matching = 0
  for (const sentence of paragraphs
    .join('\n')
    .slice(0, SAMPLE)
    .split(/(?<=[.!?…])\s+|\n+/)) {
    total += sentence.length
    if (pattern.test(sentence)) matching += sentence.length
  }
  return total === 0 ? 0 : matching / total
}
const SAMPLE = 20_000

export const totalLength = (paragraphs: string[]): number =>
  paragraphs.reduce((sum, { length }) => sum + length, 0)
