import { type Attributes, readTags } from '../../../shared/markup/tags.ts'
import { anyOf } from '../languages/index.ts'
import { isByline, type Mark, markOf, WHOLE } from './marks.ts'
import { collapse } from './plain.ts'

/**
 * A run of text as a reader sees it: one block, whitespace collapsed, cut after LINE_LIMIT
 * characters.
 */
export interface Line {
  text: string
  /** 1 to 6 inside a heading, else 0. */
  heading: number
  /** The innermost element of `asides` that it stands in; null in none. */
  aside: number | null
}

/** What one pass over a page finds, without judging it. */
export interface Outline {
  language: string | null
  title: string | null
  /**
   * Content of meta tags by name, property, itemprop or http-equiv, in lower case; in document
   * order.
   */
  metas: Map<string, string[]>
  links: { rel: string; href: string }[]
  /** The first `<base href>`, as written. */
  base: string | null
  jsonLd: string[]
  lines: Line[]
  marks: Mark[]
  /**
   * Elements that look like navigation, comments, teasers to other articles; each with the one
   * around it.
   */
  asides: (number | null)[]
}

const LINE_LIMIT = 300
const LINES = 5_000
const ASIDES = 5_000
const MARKS = 500
const OPEN_MARKS = 8
const MARK_TEXT_LIMIT = 300
const JSON_LD_LIMIT = 4_000_000
const DEPTH = 200

const VOID = new Set('area base br col embed hr img input link meta param source track wbr'.split(' '))
const INLINE = new Set(
  'a abbr b bdi bdo cite code data dfn em font i ins kbd label mark q s small span strong sub sup time tt u var wbr img svg path noscript address'.split(
    ' ',
  ),
)
const UNREAD = new Set('script style template svg select textarea button iframe object'.split(' '))

const ASIDE_NAME = /^(?:nav|aside|menu|form|dialog|header|footer|blockquote)$/
const ASIDE_IN_ARTICLE = /^(?:nav|menu|form|dialog|blockquote)$/
const ASIDE_HINT = new RegExp(
  String.raw`(?:^|[\s_-])(?:nav|navi|navbar|navigation|menu|sidebar|comments?|commentlist|reactions|related|similar|recommend\w*|recirc\w*|teasers?|teaserlist|popular|most-?read|trending|newsletter|breadcrumbs?|carousel|slider|ticker|outbrain|taboola|promo|readmore|read-more|more-news|latest|modal|cookie\w*|consent|topbar|masthead|site-header|site-footer|${anyOf(rules => rules.markup.asides)})(?:$|[\s_-])|(?:^|\s)widget(?:$|[\s_])`,
)
/** Inline elements that bylines set side by side without a space between. */
const APART = /^(?:a|span|time)$/

interface Open {
  name: string
  aside: number | null
  unread: boolean
  /** Inside an `article` or `main`, where a `header` or an `aside` may hold the byline. */
  article: boolean
  heading: number
  mark: Mark | null
}

/**
 * Reads a page once. Never throws; time grows with the length of the page only, whatever it nests.
 */
export function outlineOf(html: string): Outline {
  const outline: Outline = {
    language: null,
    title: null,
    metas: new Map(),
    links: [],
    base: null,
    jsonLd: [],
    lines: [],
    marks: [],
    asides: [],
  }
  const stack: Open[] = []
  const opened = new Map<string, number>()
  const root: Open = { name: '', aside: null, unread: false, article: false, heading: 0, mark: null }
  const top = () => stack.at(-1) ?? root
  let openMarks: { mark: Mark; parts: string[]; length: number }[] = []
  let line: string[] = []
  let lineLength = 0
  let script: string[] | null = null
  let jsonLdLength = 0
  let title: string[] | null = null

  function endLine() {
    const text = lineLength === 0 ? '' : collapse(line.join(''))
    if (text !== '' && outline.lines.length < LINES) {
      outline.lines.push({ text: text.slice(0, LINE_LIMIT), heading: top().heading, aside: top().aside })
    }
    line = []
    lineLength = 0
  }

  function add(text: string) {
    if (lineLength < LINE_LIMIT * 2) line.push(text.slice(0, LINE_LIMIT * 2))
    for (const open of openMarks) {
      if (open.length < MARK_TEXT_LIMIT) open.parts.push(text.slice(0, MARK_TEXT_LIMIT))
      open.length += text.length
    }
  }

  function pop(count: number) {
    for (let n = 0; n < count; n += 1) {
      const closed = stack.pop()
      if (closed !== undefined) opened.set(closed.name, (opened.get(closed.name) ?? 1) - 1)
      if (closed?.mark) endMark(closed.mark)
    }
  }

  function endMark(mark: Mark) {
    const open = openMarks.find(candidate => candidate.mark === mark)
    if (open === undefined) return
    mark.text = collapse(open.parts.join(''))
    openMarks = openMarks.filter(candidate => candidate !== open)
  }

  function openMark(name: string, attributes: Attributes, hint: string, aside: number | null): Mark | null {
    if (outline.marks.length >= MARKS) return null
    const inside = openMarks.at(-1)?.mark
    const found = markOf(name, attributes, hint, inside?.kind === 'author' && inside.by === 'microdata')
    if (found === null) return null
    const around = openMarks.findLast(open => open.mark.kind === found.kind)?.mark
    const within = around === undefined ? null : outline.marks.indexOf(around)
    const mark: Mark = { ...found, text: '', hint, aside, line: outline.lines.length, within }
    outline.marks.push(mark)
    if (VOID.has(name) || openMarks.length >= OPEN_MARKS) return null
    openMarks.push({ mark, parts: [], length: 0 })
    return mark
  }

  readTags(html, {
    open(name, attributes) {
      if (name === 'meta') readMeta(outline, attributes)
      else if (name === 'link') readLink(outline, attributes)
      else if (name === 'base') outline.base ??= attributes.get('href')?.trim() ?? null
      else if (name === 'html') outline.language ??= attributes.get('lang') ?? attributes.get('xml:lang') ?? null
      else if (name === 'title' && outline.title === null && !top().unread) title = []
      else if (name === 'script' && /^application\/(?:ld\+json|json\+ld)/i.test(attributes.get('type')?.trim() ?? ''))
        script = []
      if (!INLINE.has(name)) endLine()
      else if (name === 'br' || APART.test(name)) add(' ')
      const hint = `${attributes.get('class') ?? ''} ${attributes.get('id') ?? ''}`.toLowerCase().slice(0, 300)
      const above = top()
      const begins =
        !VOID.has(name) &&
        !WHOLE.test(name) &&
        ((above.article ? ASIDE_IN_ARTICLE : ASIDE_NAME).test(name) || (ASIDE_HINT.test(hint) && !isByline(hint)))
      const aside = begins && outline.asides.length < ASIDES ? outline.asides.push(above.aside) - 1 : above.aside
      const unread = above.unread || UNREAD.has(name)
      const mark = unread ? null : openMark(name, attributes, hint, aside)
      if (VOID.has(name)) return
      if ((name === 'p' || name === 'li') && above.name === name) pop(1)
      if (stack.length >= DEPTH) return
      const heading = /^h[1-6]$/.test(name) ? Number(name[1]) : above.heading
      opened.set(name, (opened.get(name) ?? 0) + 1)
      stack.push({
        name,
        aside,
        unread,
        article: above.article || name === 'article' || name === 'main',
        heading,
        mark,
      })
    },
    close(name) {
      if (name === 'title' && title !== null) {
        outline.title = collapse(title.join(''))
        title = null
      }
      if (name === 'script' && script !== null) {
        outline.jsonLd.push(script.join(''))
        script = null
      }
      if (!INLINE.has(name)) endLine()
      else if (APART.test(name)) add(' ')
      // An end tag without its start closes nothing; hostile pages hold millions of them.
      if (!opened.get(name)) return
      const at = stack.findLastIndex(open => open.name === name)
      pop(stack.length - at)
    },
    text(text) {
      if (script !== null) {
        jsonLdLength += text.length
        if (jsonLdLength <= JSON_LD_LIMIT) script.push(text)
        return
      }
      if (title !== null) {
        if (title.length < 100) title.push(text.slice(0, 1000))
        return
      }
      if (top().unread) return
      add(text)
      lineLength += text.length
    },
  })
  endLine()
  pop(stack.length)
  return outline
}

function readMeta(outline: Outline, attributes: Attributes) {
  const content = attributes.get('content') ?? attributes.get('value')
  if (content === undefined || content.trim() === '') return
  for (const attribute of ['property', 'name', 'itemprop', 'http-equiv']) {
    const name = attributes.get(attribute)?.trim().toLowerCase()
    if (!name || outline.metas.size >= 1000) continue
    const values = outline.metas.get(name) ?? []
    if (values.length < 50) outline.metas.set(name, [...values, content.trim()])
  }
}

function readLink(outline: Outline, attributes: Attributes) {
  const rel = attributes.get('rel')?.toLowerCase().trim()
  const href = attributes.get('href')?.trim()
  if (rel && href && outline.links.length < 500 && /\b(?:canonical|amphtml|shortlink)\b/.test(rel))
    outline.links.push({ rel, href })
}
