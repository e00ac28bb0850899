import { anyOf } from '../languages/index.ts'
import type { InterstitialRules } from '../languages/language-rules.ts'

/**
 * Phrases of interstitials. A single phrase proves nothing, because news is written about all of
 * these subjects. `interstitials.ts` therefore measures their share of a text. The rules of each
 * language hold its phrases.
 */

const any = (field: keyof InterstitialRules) => anyOf(rules => rules.interstitials[field])
const phrases = (field: keyof InterstitialRules) => new RegExp(any(field), 'iu')

export const CONSENT = phrases('consent')
export const CONSENT_ITSELF = new RegExp(any('consentItself'), 'i')
export const CHALLENGE = phrases('challenge')
/**
 * Traces of bot defences in the markup. Ordinary pages behind a defence have some of them too.
 */
export const CHALLENGE_MARKUP =
  /_cf_chl_opt|cf-browser-verification|cf-challenge|challenge-form|challenges\.cloudflare\.com\/turnstile|captcha-delivery\.com|_Incapsula_Resource|px-captcha|perimeterx|distil_r_|sec-if-cpt|sec-cpt|\/_sec\/cp_challenge|awswaf|aws-waf|human-challenge|h-captcha|g-recaptcha|kasada|funcaptcha|meta http-equiv="refresh"[^<>]{1,500}captcha/i
export const CHALLENGE_TITLE = new RegExp(
  [
    String.raw`^\W*${any('challengeTitles')}`,
    String.raw`^\W*(${any('challengeWholeTitles')}|403|(403\W+)?forbidden)(\W*$|\s*[|–—·])`,
  ].join('|'),
  'iu',
)

/**
 * A number counts only when it is the whole title: "500 banen weg" and "404 blessés" are news.
 */
export const ERROR_TITLE = new RegExp(
  [
    String.raw`^\W*((http|status|code|${any('beforeErrorNumber')})\W*)*(40[0-9]|410|429|50[0-9])(\W*$|\W+${any('behindErrorNumber')}\b|\s*[|–—·:-])`,
    any('errorTitles'),
  ].join('|'),
  'iu',
)
/** Titles that news has too. The text then decides. */
export const FAILURE_TITLE = new RegExp(String.raw`^\W*${any('failureTitles')}`, 'i')
export const ERROR = phrases('errors')
export const SUBSCRIPTION = phrases('subscription')
export const TERMS = phrases('terms')
export const WALLED = phrases('walled')
