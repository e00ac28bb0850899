import { decodeHTML } from 'entities'
import { Tokenizer, type TokenizerCallbacks } from 'htmlparser2'
import { boundMarks } from '#search/analysis/text'

/**
 * The plain text of a source that may be HTML. It has no tags, scripts and styles, its entities are
 * decoded once, and blocks become paragraphs with a blank line between them. A text without markup
 * keeps its `<` and `>`; only its entities are decoded. Null when no text remains.
 */
export function plainText(source: string): string | null {
  const text = source.includes('<') && MARKUP.test(source) ? ofMarkup(source) : ofPlain(source)
  return text === '' ? null : text
}

const BLOCKS =
  'address|article|aside|blockquote|center|dd|details|div|dl|dt|figcaption|figure|footer|form|h[1-6]|header|hr|li|main|nav|ol|p|pre|section|summary|table|tbody|td|tfoot|th|thead|tr|ul'
/**
 * Recognises HTML by the end tag of a known element, or by an element that needs no end tag. A
 * start tag alone proves nothing, because people write `<b>` when they write about it. In this
 * pattern the attributes of a tag end at the next `<`, so that the search stays linear.
 */
const MARKUP = new RegExp(
  `</(?:a|abbr|b|cite|code|del|em|font|html|body|i|iframe|ins|mark|noscript|q|s|script|small|span|strong|style|sub|sup|u|video|${BLOCKS})\\s*>|<(?:br|hr|p)\\s*/?>|<img\\s[^<>]*>|<(?:p|div)\\s[^<>]*>|<!--`,
  'i',
)
const BLOCK = new RegExp(`^(?:${BLOCKS})$`)
const UNREAD = new Set(['script', 'style', 'template'])

/**
 * Reads tags without building a tree. On hostile input, a tree would take time quadratic in its
 * depth.
 */
function ofMarkup(html: string): string {
  const pieces: string[] = []
  let unread: string | null = null
  const nameAt = (start: number, end: number) => html.slice(start, end).toLowerCase()
  const read = (text: string) => {
    if (unread === null) pieces.push(text)
  }
  tokenize(html, {
    onopentagname(start, end) {
      const name = nameAt(start, end)
      if (UNREAD.has(name)) unread ??= name
      else if (name === 'br') read('\n')
      else if (BLOCK.test(name)) read('\n\n')
    },
    onclosetag(start, end) {
      const name = nameAt(start, end)
      if (BLOCK.test(name)) read('\n\n')
      else if (unread === name) unread = null
    },
    ontext: (start, end) => read(html.slice(start, end).replace(/\s+/g, ' ')),
    ontextentity: code => read(String.fromCodePoint(code).replace(/\s+/g, ' ')),
  })
  return tidy(pieces.join(''))
}

/** Makes plain text of a text without markup. Keeps its lines. */
const ofPlain = (text: string): string => tidy(decodeHTML(text.slice(0, LONGEST)))

const nothing = () => {}
const UNHEARD: TokenizerCallbacks = {
  onattribdata: nothing,
  onattribentity: nothing,
  onattribend: nothing,
  onattribname: nothing,
  oncdata: nothing,
  onclosetag: nothing,
  oncomment: nothing,
  ondeclaration: nothing,
  onend: nothing,
  onopentagend: nothing,
  onopentagname: nothing,
  onprocessinginstruction: nothing,
  onselfclosingtag: nothing,
  ontext: nothing,
  ontextentity: nothing,
}

function tokenize(source: string, heard: Partial<TokenizerCallbacks>): void {
  const tokenizer = new Tokenizer({}, { ...UNHEARD, ...heard })
  tokenizer.write(source.slice(0, LONGEST))
  tokenizer.end()
}
/** How many UTF-16 units of a source are read. */
const LONGEST = 10_000_000

/**
 * Leaves single spaces, no space at the ends of lines, and at most one blank line. The patterns
 * skip single spaces, because most spaces are single already.
 */
function tidy(text: string): string {
  return withoutControls(boundMarks(text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text))
    .replace(/[^\S\n]{2,}|[^\S\n ]/g, ' ')
    .replace(/ \n ?|\n /g, '\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
}

/**
 * Removes control characters. A control character above ASCII becomes the sign that has its number
 * in Windows-1252, as browsers read references such as `&#146;`.
 */
export const withoutControls = (text: string): string => text.replace(CONTROLS, signOf)

// biome-ignore lint/suspicious/noControlCharactersInRegex: \p{Cc} takes longer
const CONTROLS = /[\0-\x08\x0e-\x1f\x7f-\x9f]/g
const WINDOWS = new TextDecoder('windows-1252')

function signOf(control: string): string {
  const sign = control < '\u0080' ? '' : WINDOWS.decode(Uint8Array.of(control.charCodeAt(0)))
  return sign > '\u009f' ? sign : ''
}

/**
 * The most UTF-16 units of the title and of the body of a page. A body may be as long as a novel.
 * Any outlet can send one, and twice as much would block the thread that reads it for too long.
 */
export const PAGE_LIMITS = { title: 500, body: 500_000 }
