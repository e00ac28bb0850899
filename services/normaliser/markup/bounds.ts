/** Longest markup that is read, in UTF-16 units; the crawler stores at most as many bytes. */
export const MAX_MARKUP = 10_485_760
/** The most tags that are read. A live blog of a whole day has about 20,000. */
export const MAX_TAGS = 40_000
/** Deepest nesting that is kept; browsers stop at 512. Real pages stay below 60. */
export const MAX_DEPTH = 200
/**
 * The most open elements, summed over all tags. Every later stage reads the elements around an
 * element, so its work grows with tags times depth. A live blog's 20,000 tags at depth 30 give
 * 600,000.
 */
const MAX_NESTING = 1_600_000

/**
 * Makes markup safe to parse. It cuts off everything after `MAX_MARKUP`, `MAX_TAGS` or
 * `MAX_NESTING`, removes tags nested deeper than `MAX_DEPTH` (their text stays), and removes
 * drawings (`svg`, `math`). The time of HTML parsers grows with the square of the depth, so deep
 * nesting could block a thread for long.
 *
 * The counted depth is never below the depth that a parser would build. Counting takes time linear
 * in the length.
 */
export function boundMarkup(markup: string): string {
  const html = markup.length > MAX_MARKUP ? markup.slice(0, MAX_MARKUP) : markup
  const kept: string[] = []
  let keptUntil = 0
  const counts: TagCounts = { open: [], tags: 0, nesting: 0 }
  for (let at = html.indexOf('<'); at !== -1; at = html.indexOf('<', at)) {
    const tag = tagAt(html, at)
    if (tag === null) at = behindText(html, at)
    else if (tag.end === -1 || !isWithinLimits(counts))
      return kept.join('') + html.slice(keptUntil, at)
    else if (!DRAWINGS.has(tag.name) && nest(counts.open, tag)) at = behindKept(html, tag)
    else {
      kept.push(html.slice(keptUntil, at), closedInstead(counts.open, tag))
      keptUntil = behindRemoved(html, tag)
      at = keptUntil
    }
  }
  return keptUntil === 0 ? html : kept.join('') + html.slice(keptUntil)
}

/** Counts of the markup that was read so far. */
interface TagCounts {
  /** Names of the open elements, from the outside in. */
  open: string[]
  tags: number
  /** Open elements, summed over all tags. */
  nesting: number
}

/** Counts one more tag. False: the markup ends before it. */
function isWithinLimits(counts: TagCounts): boolean {
  counts.tags += 1
  counts.nesting += Math.min(counts.open.length, MAX_DEPTH)
  return counts.tags <= MAX_TAGS && counts.nesting <= MAX_NESTING
}

/** The position after a `<` that begins no tag: the end of its comment, or the next character. */
const behindText = (html: string, at: number): number =>
  html.startsWith('<!--', at) ? find(html, COMMENT_END, at + 2) : at + 1

/** The position after a tag that stays, and after its content when that is no markup. */
function behindKept(html: string, { name, closing, end }: Tag): number {
  const raw = closing ? undefined : RAW_TEXT.get(name)
  return raw === undefined ? end + 1 : find(html, raw, end)
}

/** The position after a tag that is removed, and after the content of a drawing. */
function behindRemoved(html: string, { name, closing, end }: Tag): number {
  const drawing = closing ? undefined : DRAWINGS.get(name)
  return drawing === undefined ? end + 1 : find(html, drawing, end)
}

/**
 * The text that replaces a removed tag. In HTML, the end tag of any heading closes an open heading
 * (HTML Standard, 13.2.6.4.7). So an end tag of a heading becomes the end tag of the open heading.
 * Any other tag becomes a space.
 */
function closedInstead(open: string[], { name, closing }: Tag): string {
  const heading =
    closing && HEADING.test(name)
      ? open.slice(-MAX_DEPTH).findLast(at => HEADING.test(at))
      : undefined
  return heading !== undefined && nest(open, { name: heading, closing, end: -1 })
    ? `</${heading}>`
    : ' '
}
const HEADING = /^h[1-6]$/

interface Tag {
  /** In lower case. */
  name: string
  closing: boolean
  /** The position of the tag's `>`; -1 when the tag never ends. */
  end: number
}

const SPACE = 32
const DOUBLE_QUOTE = 34
const SINGLE_QUOTE = 39
const SLASH = 47
const EQUALS = 61
const GREATER = 62

const TAG_NAME = /<\/?([a-z][^\s/>]{0,40})/iy
// `<!-->` and `--!>` also end a comment (HTML Standard, 13.2.5.43 and 13.2.5.52).
const COMMENT_END = /--!?>/g
const endTag = (name: string) => new RegExp(`</${name}(?=[\\s/>])`, 'gi')
/** Elements whose content is no markup (HTML Standard, 13.1.2: raw text elements). */
const RAW_TEXT = new Map(
  ['script', 'style', 'title', 'textarea', 'xmp'].map(name => [name, endTag(name)]),
)
// Drawings are removed, because parsers disagree on where a drawing ends. `<g/>` closes itself
// inside a drawing, but not outside of it.
const DRAWINGS = new Map(['svg', 'math'].map(name => [name, endTag(name)]))

const VOID = new Set(
  'area base basefont br col embed frame hr img input link meta param source track wbr'.split(' '),
)
/**
 * For each name: a start tag of this name closes an open element with one of these names, when
 * nothing else was opened in between.
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

/**
 * Applies one tag to the stack of open elements. Returns false when the tag is too deep, or when it
 * ends an element that was too deep.
 */
function nest(open: string[], { name, closing }: Tag): boolean {
  if (VOID.has(name)) return true
  if (!closing) {
    const closed = CLOSED_BY_NEXT.get(name)
    if (closed !== undefined) while (closed.includes(open.at(-1) ?? '')) open.pop()
    open.push(name)
    return open.length <= MAX_DEPTH
  }
  // A search through all open elements for the start of a stray end tag would make the time
  // quadratic again.
  const highest = Math.max(0, open.length - MAX_DEPTH)
  for (let level = open.length - 1; level >= highest; level -= 1) {
    if (open[level] !== name) continue
    open.length = level
    return level < MAX_DEPTH
  }
  return false
}

/** The tag that begins at a position; null when none does. */
function tagAt(html: string, at: number): Tag | null {
  TAG_NAME.lastIndex = at
  const name = TAG_NAME.exec(html)?.[1]?.toLowerCase()
  if (name === undefined) return null
  return { name, closing: html.charCodeAt(at + 1) === SLASH, end: tagEnd(html, at) }
}

/**
 * The position of the `>` that ends the tag at `at`. A `>` inside a quoted attribute value does not
 * end the tag. -1: the tag never ends.
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

/** The position of the next match of `pattern`; the length of the markup without one. */
function find(html: string, pattern: RegExp, from: number): number {
  pattern.lastIndex = from
  return pattern.exec(html)?.index ?? html.length
}
