import { anyOf } from '#services/normaliser/languages/index'
import type { LanguageRules } from '#services/normaliser/languages/rules'

/*
 * Chaff is a line between the paragraphs of an article that is no part of it, recognised by its
 * words. The patterns match whole lines, so an article about newsletters keeps its sentences.
 */

const any = (field: keyof LanguageRules['text']) => anyOf(rules => rules.text[field])
const words = (...parts: string[]) => new RegExp(String.raw`^\W*(?:${parts.join('|')})`, 'iu')

export const READ_ALSO: RegExp = words(any('readAlso'))
/** The whole heading of a box: one of these texts, and at most one more word. */
export const BOX: RegExp = new RegExp(
  String.raw`^\W*(?:${any('readAlso')}|${any('offers')})(?:\W+\S{1,20})?\W*$`,
  'iu',
)
/**
 * Offers. Those of a newsletter or a channel may follow other words and a sign: "+++", "To miss
 * nothing, subscribe to …".
 */
const OFFER = new RegExp(
  String.raw`^\W*${any('offers')}|(?:^[+>=*#]{2,}|^tipp?\b|(?<=[,:;.!?…–—-]\s*)(?!(?:\p{L}+ )?[\p{L}-]*newsletter)${any('offers')}).*(?:newsletter|nieuwsbrief|whatsapp|infolettre|\babo(?:nne|nnement)?\b)`,
  'iu',
)
/** A quoted sentence, and the words that tell who said it. */
const SPEECH = /^[„“”"«»‘'‚].{3,}[“”"«»’'‘],?\s(?=\p{Ll}).{6}/u
const STAMP = words(any('stamps'), String.raw`\d+ ?min(ut(e|en|es))?\.? ${any('readingTime')}`)
const MONTHS = any('months')
/** A date with at most a time, a name and a few words beside it. */
const DATE = new RegExp(
  `^.{0,40}(\\d{1,2}([.]|st|nd|rd|th|er)? (${MONTHS})\\p{L}*\\.?,? \\d{4}|(${MONTHS})\\p{L}*\\.? \\d{1,2}(st|nd|rd|th)?,? \\d{4}|\\d{1,2}[./-]\\d{1,2}[./-](\\d{4}|\\d{2})|\\d{4}-\\d{2}-\\d{2})\\b.{0,40}$`,
  'iu',
)

const PICTURE = words(String.raw`${any('captions')}s?( ?\(.{1,20}\)| ?by|/\S+)? ?[:©|]`, '© ')
const PICTURE_END = new RegExp(
  String.raw`[([]${any('captionNotes')}[^)\]]{0,60}[)\]]\W*$|(?<!^.{120,}[.!?]\W*)[|–—-]\s*©[^.!?]{2,40}$`,
  'iu',
)
const SLIDE = new RegExp(
  String.raw`^\W*${any('slides')}?\s*\d+\s*(?:${any('slidesOf')}|\/)[\s/]*\d+\W*$`,
  'iu',
)

const CREDIT = words(any('credits'))
const COMMENTS = new RegExp(String.raw`^\W*(\d+ )?${any('comments')}( \(?\d+\)?)?\W*$`, 'iu')
const RIGHTS = words('©', String.raw`\(c\) \d`, 'copyright', any('rights'))
const MACHINE = words(any('machine'))
const AFFILIATE = new RegExp(any('affiliates'), 'iu')
/** Lines of signs alone, settings of players, code of scripts, and shortcodes. */
const CODE =
  /^[^\p{L}\p{N}]*$|^(?:[[{]\s*(?:[[{]\s*)?"[\w-]+"\s*:|(?:var|let|const)\s+[\w$]+\s*=|(?:window|document|dataLayer|googletag)[.[][\w.'"\]]+\s*[=(]|\(?function\s*\w*\s*\()|^\[\/?[a-z_-]+( [^\]]*)?\](.*\[\/[a-z_-]+\])?$/iu

/**
 * Whether a line is no part of the article.
 * @param linked the share of the line that is in links, from 0 to 1
 */
export function isChaffLine(text: string, linked: number): boolean {
  if (CODE.test(text)) return true
  const { length } = text
  if (length > 400) return false
  const sentence = /(?<!\.\.)[.!?]["”»’)]?$/u.test(text)
  if (
    READ_ALSO.test(text) &&
    (linked > 0.2 || (length < 80 && !sentence) || /^[^.!?]{3,40}:/u.test(text))
  )
    return true
  if (length < 250 && OFFER.test(text) && !SPEECH.test(text)) return true
  if (length < 120 && STAMP.test(text) && (length < 40 || /\d/.test(text))) return true
  if (length < 90 && !sentence && DATE.test(text)) return true
  if (
    length < 250 &&
    (PICTURE.test(text) || PICTURE_END.test(text)) &&
    !(sentence && length > 120 && PICTURE.test(text))
  )
    return true
  return (
    SLIDE.test(text) ||
    CREDIT.test(text) ||
    COMMENTS.test(text) ||
    (length < 150 && RIGHTS.test(text)) ||
    MACHINE.test(text) ||
    (length < 300 && AFFILIATE.test(text))
  )
}
