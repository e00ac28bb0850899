import type { Attributes } from '../../../shared/markup/tags.ts'
import { anyOf } from '../languages/index.ts'

/** An element whose markup says that it holds a name or a time. */
export interface Mark {
  kind: 'author' | 'date'
  /**
   * The kind of markup: microdata and `rel` are meant for machines, a class name is a guess.
   */
  by: 'microdata' | 'rel' | 'time' | 'class'
  /** The machine-readable form: `datetime` or `content`; null without one. */
  value: string | null
  text: string
  /** Class, id, itemprop and rel of the element, in lower case. */
  hint: string
  aside: number | null
  /** The index in `lines` of the line that contains it. */
  line: number
  /** The index in `marks` of the mark of the same kind around it; null without one. */
  within: number | null
}

/** Elements too large to be a name or a date. */
export const WHOLE = /^(?:html|body|main|article|h1)$/

const AUTHOR_HINT = new RegExp(
  String.raw`(?:^|[\s_-]|post|article|entry)(?:authors?|${anyOf(rules => rules.markup.authors)}|byline|by-line|writer|contributors?|signature|journalist|creators?|author-?name|fn)(?:$|[\s_-]|name|link)`,
)
const DATE_HINT = new RegExp(
  String.raw`(?:^|[\s_-]|post|article|entry|publi\w*)(?:date|${anyOf(rules => rules.markup.dates)}|time|datetime|timestamp|published|publish|pubdate|updated|posted|publication|created|meta|datestamp|dateline)(?:$|[\s_-]|s?time|line)`,
)

/**
 * Whether a single class name contains the name of a byline. It may contain other words too: in
 * `teaser-meta`, the teaser can be the article's own standfirst.
 */
export function isByline(hint: string): boolean {
  return !/\s/.test(hint.trim()) && (AUTHOR_HINT.test(hint) || DATE_HINT.test(hint))
}

/** The judgement of an element by one kind of markup. */
type Judged = Pick<Mark, 'kind' | 'by' | 'value'>

/**
 * Whether an element holds a name or a time, and which markup says so.
 *
 * @param inAuthor the element stands inside microdata's author, of whom only the name counts
 */
export function markOf(name: string, attributes: Attributes, hint: string, inAuthor: boolean): Judged | null {
  const stated = microdataMark(attributes, inAuthor)
  if (stated !== null || name === 'meta') return stated
  return elementMark(name, attributes) ?? (WHOLE.test(name) ? null : classMark(attributes, hint))
}

function microdataMark(attributes: Attributes, inAuthor: boolean): Judged | null {
  const properties = attributes.get('itemprop')?.toLowerCase().split(/\s+/) ?? []
  const content = attributes.get('content') ?? null
  const isAuthor = inAuthor
    ? properties.includes('name')
    : properties.includes('author') || properties.includes('creator')
  if (isAuthor) return { kind: 'author', by: 'microdata', value: content }
  if (!properties.includes('datepublished')) return null
  return { kind: 'date', by: 'microdata', value: attributes.get('datetime') ?? content }
}

/** Elements and attributes that are made for names and times. */
function elementMark(name: string, attributes: Attributes): Judged | null {
  if (name === 'time') return { kind: 'date', by: 'time', value: attributes.get('datetime') ?? null }
  if (/\bauthor\b/.test(attributes.get('rel')?.toLowerCase() ?? '')) return { kind: 'author', by: 'rel', value: null }
  // hAtom's way before HTML had `time`: `<abbr class="published" title="2009-02-18T12:00">`.
  const title = name === 'abbr' ? attributes.get('title') : undefined
  return title === undefined ? null : { kind: 'date', by: 'class', value: title }
}

function classMark(attributes: Attributes, hint: string): Judged | null {
  // hCard: `<span class="author vcard">`.
  if (/\bauthor\b/.test(hint) && /\bvcard\b/.test(hint)) return { kind: 'author', by: 'rel', value: null }
  if (AUTHOR_HINT.test(hint)) return { kind: 'author', by: 'class', value: null }
  const value = attributes.get('data-datetime') ?? attributes.get('data-timestamp') ?? null
  return value !== null || DATE_HINT.test(hint) ? { kind: 'date', by: 'class', value } : null
}
