import { anyOf } from '../languages/index.ts'
import type { TextRules } from '../languages/language-rules.ts'

/**
 * Chaff: lines between the paragraphs of an article that are no part of it. They are recognised by
 * their words. The patterns match whole lines, so an article about newsletters keeps its sentences.
 */

const any = (field: keyof TextRules) => anyOf(rules => rules.text[field])
const words = (...parts: string[]) => new RegExp(String.raw`^\W*(?:${parts.join('|')})`, 'iu')

const READ_ALSO = words(any('readAlso'))
const OFFER = words(any('offers'))
const STAMP = words(any('stamps'), String.raw`\d+ ?min(ut(e|en|es))?\.? ${any('readingTime')}`)
const MONTHS = any('months')
/** A date with at most a time, a name and a few words beside it. */
const DATE = new RegExp(
  `^.{0,40}(\\d{1,2}([.]|st|nd|rd|th|er)? (${MONTHS})\\p{L}*\\.?,? \\d{4}|(${MONTHS})\\p{L}*\\.? \\d{1,2}(st|nd|rd|th)?,? \\d{4}|\\d{1,2}[./-]\\d{1,2}[./-](\\d{4}|\\d{2})|\\d{4}-\\d{2}-\\d{2})\\b.{0,40}$`,
  'iu',
)

const PICTURE = words(String.raw`${any('captions')}s?( ?\(.{1,20}\)| ?by|/\S+)? ?[:©|]`, '© ')
const PICTURE_END = new RegExp(String.raw`[([]${any('captionNotes')}[^)\]]{0,60}[)\]]\W*$`, 'iu')
const SLIDE = new RegExp(String.raw`^\W*${any('slides')}?\s*\d+\s*(?:${any('slidesOf')}|\/)[\s/]*\d+\W*$`, 'iu')

const CREDIT = words(any('credits'))
const COMMENTS = new RegExp(String.raw`^\W*(\d+ )?${any('comments')}( \(?\d+\)?)?\W*$`, 'iu')
const RIGHTS = words('©', String.raw`\(c\) \d`, 'copyright', any('rights'))
const MACHINE = words(any('machine'))
const AFFILIATE = new RegExp(any('affiliates'), 'iu')
const SHORTCODE = /^\[\/?[a-z_-]+( [^\]]*)?\](.*\[\/[a-z_-]+\])?$/i

/**
 * Whether a line is no part of the article.
 * @param linked share of the line that is links, from 0 to 1
 */
export function isChaffLine(text: string, linked: number): boolean {
  if (!/[\p{L}\p{N}]/u.test(text)) return true
  const { length } = text
  if (length > 400) return false
  const sentence = /(?<!\.\.)[.!?]["”»’)]?$/u.test(text)
  if (READ_ALSO.test(text) && (linked > 0.2 || (length < 80 && !sentence) || /^[^.!?]{3,40}:/u.test(text))) return true
  if (length < 250 && OFFER.test(text)) return true
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
    (length < 300 && AFFILIATE.test(text)) ||
    SHORTCODE.test(text)
  )
}
