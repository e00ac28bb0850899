/** Longest markup that is read, in UTF-16 units; the crawler stores at most as many bytes. */
export const MAX_MARKUP = 10_485_760
/** Most tags that are read. A live blog of a whole day has about 20,000. */
export const MAX_TAGS = 40_000
/** Deepest nesting that is kept; browsers stop at 512. Real pages stay below 60. */
export const MAX_DEPTH = 200
/**
 * Most open elements that are counted over all tags. Every stage behind this one looks at the
 * elements around an element, so its work grows with tags times depth. A live blog's 20,000 tags at
 * depth 30 come to 600,000.
 */
export const MAX_NESTING = 1_600_000

/**
 * Makes markup safe to parse: what lies behind `MAX_MARKUP`, `MAX_TAGS` or `MAX_NESTING` is left
 * out, tags nested deeper than `MAX_DEPTH` are taken out (their text stays), and drawings (`svg`,
 * `math`) are removed. HTML parsers take time quadratic in the depth: 100,000 nested `div`s, one
 * megabyte, kept parse5 busy for 49 seconds.
 *
 * The depth is counted so that it is never below what a parser would nest, in time linear in the
 * length.
 */
export function boundMarkup(markup: string): string {
  const html = markup.length > MAX_MARKUP ? markup.slice(0, MAX_MARKUP) : markup
  const open: string[] = []
  const kept: string[] = []
  let keptUntil = 0
  let tags = 0
  let nesting = 0
  for (let at = html.indexOf('<'); at !== -1; at = html.indexOf('<', at)) {
    const name = tagName(html, at)
    if (name === null) {
      at = html.startsWith('<!--', at) ? find(html, COMMENT_END, at + 2) : at + 1
      continue
    }
    const end = tagEnd(html, at)
    tags += 1
    nesting += Math.min(open.length, MAX_DEPTH)
    if (end === -1 || tags > MAX_TAGS || nesting > MAX_NESTING) return kept.join('') + html.slice(keptUntil, at)
    const closing = html.charCodeAt(at + 1) === SLASH
    const drawing = DRAWINGS.get(name)
    if (drawing !== undefined || !nest(open, name, closing)) {
      kept.push(html.slice(keptUntil, at), ' ')
      keptUntil = drawing === undefined || closing ? end + 1 : find(html, drawing, end)
      at = keptUntil
      continue
    }
    const raw = closing ? undefined : RAW_TEXT.get(name)
    at = raw === undefined ? end + 1 : find(html, raw, end)
  }
  return keptUntil === 0 ? html : kept.join('') + html.slice(keptUntil)
}

const SPACE = 32
const DOUBLE_QUOTE = 34
const SINGLE_QUOTE = 39
const SLASH = 47
const EQUALS = 61
const GREATER = 62

const TAG_NAME = /<\/?([a-z][^\s/>]{0,40})/iy
// `<!-->` and `--!>` end a comment too (HTML Standard, 13.2.5.43 and 13.2.5.52).
const COMMENT_END = /--!?>/g
const endTag = (name: string) => new RegExp(`</${name}(?=[\\s/>])`, 'gi')
/** Their contents are no markup (HTML Standard, 13.1.2: raw text elements). */
const RAW_TEXT = new Map(['script', 'style', 'title', 'textarea', 'xmp'].map(name => [name, endTag(name)]))
// Inside them `<g/>` closes itself, outside it does not, and parsers differ on where "inside" ends.
const DRAWINGS = new Map(['svg', 'math'].map(name => [name, endTag(name)]))

const VOID = new Set('area base basefont br col embed frame hr img input link meta param source track wbr'.split(' '))
/**
 * An open element that the next one of these names closes, unless something else was opened in
 * between.
 */
const CLOSED_BY_NEXT = new Map([
  ['p', ['p']],
  ['li', ['li']],
  ['option', ['option']],
  ['tr', ['td', 'th', 'tr']],
  ['td', ['td', 'th']],
  ['th', ['td', 'th']],
  ['dt', ['dt', 'dd']],
  ['dd', ['dt', 'dd']],
])

/** Follows one tag on the stack of open elements. False: too deep, or the end of one that was. */
function nest(open: string[], name: string, closing: boolean): boolean {
  if (VOID.has(name)) return true
  if (!closing) {
    const closed = CLOSED_BY_NEXT.get(name)
    if (closed !== undefined) while (closed.includes(open.at(-1) ?? '')) open.pop()
    open.push(name)
    return open.length <= MAX_DEPTH
  }
  // Looking all the way up for the start of a stray end tag would be quadratic again.
  const highest = Math.max(0, open.length - MAX_DEPTH)
  for (let level = open.length - 1; level >= highest; level -= 1) {
    if (open[level] !== name) continue
    open.length = level
    return level < MAX_DEPTH
  }
  return false
}

function tagName(html: string, at: number): string | null {
  TAG_NAME.lastIndex = at
  return TAG_NAME.exec(html)?.[1]?.toLowerCase() ?? null
}

/**
 * Where the `>` of the tag stands that begins at `at`; one inside a quoted attribute value is none.
 * -1: nowhere.
 */
function tagEnd(html: string, at: number): number {
  let quote = 0
  let afterEquals = false
  for (let end = at + 1; end < html.length; end += 1) {
    const code = html.charCodeAt(end)
    if (quote !== 0) {
      if (code === quote) quote = 0
      continue
    }
    if (code === GREATER) return end
    if (afterEquals && (code === DOUBLE_QUOTE || code === SINGLE_QUOTE)) quote = code
    if (code > SPACE) afterEquals = code === EQUALS
  }
  return -1
}

/** The place of the next match of `pattern`, or the end of everything. */
function find(html: string, pattern: RegExp, from: number): number {
  pattern.lastIndex = from
  return pattern.exec(html)?.index ?? html.length
}
