import { anyOf } from '../languages/index.ts'
import type { InterstitialRules } from '../languages/language-rules.ts'

/**
 * What stands on pages that are not the article they were asked for. Single words prove nothing,
 * news is written about all of this; `interstitials.ts` looks at their share of a text and at what
 * else is there. Each language's phrases stand in its rules, with what they mean.
 */

const any = (field: keyof InterstitialRules) => anyOf(rules => rules.interstitials[field])
const phrases = (field: keyof InterstitialRules) => new RegExp(any(field), 'iu')

export const CONSENT = phrases('consent')
export const CONSENT_ITSELF = new RegExp(any('consentItself'), 'i')
export const CHALLENGE = phrases('challenge')
/** What bot defences leave in the markup. Ordinary pages behind them carry some of it too. */
export const CHALLENGE_MARKUP =
  /_cf_chl_opt|cf-browser-verification|cf-challenge|challenge-form|challenges\.cloudflare\.com\/turnstile|captcha-delivery\.com|_Incapsula_Resource|px-captcha|perimeterx|distil_r_|sec-if-cpt|sec-cpt|\/_sec\/cp_challenge|awswaf|aws-waf|human-challenge|h-captcha|g-recaptcha|kasada|funcaptcha|meta http-equiv="refresh"[^<>]{1,500}captcha/i
export const CHALLENGE_TITLE = new RegExp(
  [
    String.raw`^\W*${any('challengeTitles')}`,
    String.raw`^\W*(${any('challengeWholeTitles')}|403|(403\W+)?forbidden)(\W*$|\s*[|–—·])`,
  ].join('|'),
  'iu',
)

/** A number alone is such a title: "500 banen weg" and "404 blessés" are news. */
export const ERROR_TITLE = new RegExp(
  [
    String.raw`^\W*((http|status|code|${any('beforeErrorNumber')})\W*)*(40[0-9]|410|429|50[0-9])(\W*$|\W+${any('behindErrorNumber')}\b|\s*[|–—·:-])`,
    any('errorTitles'),
  ].join('|'),
  'iu',
)
/** The text decides: news has such titles too. */
export const FAILURE_TITLE = new RegExp(String.raw`^\W*${any('failureTitles')}`, 'i')
export const ERROR = phrases('errors')
export const SUBSCRIPTION = phrases('subscription')
export const TERMS = phrases('terms')
export const WALLED = phrases('walled')
