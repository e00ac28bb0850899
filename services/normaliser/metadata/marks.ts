import type { Attributes } from '../../../shared/markup/tags.ts'
import { anyOf } from '../languages/index.ts'

/** An element whose markup says that it holds a name or a time. */
export interface Mark {
  kind: 'author' | 'date'
  /**
   * How the markup says it: microdata and `rel` are meant for machines, a class name is a guess.
   */
  by: 'microdata' | 'rel' | 'time' | 'class'
  /** The machine's form: `datetime` or `content`; null without one. */
  value: string | null
  text: string
  /** Class, id, itemprop and rel of the element, in lower case. */
  hint: string
  aside: number | null
  /** The index in `lines` of the line it stands in. */
  line: number
  /** The index in `marks` of the mark of the same kind that it stands in; null at the outside. */
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
 * Whether a name is of a byline, whatever else is in it: `teaser-meta` is the article's where its
 * standfirst is a teaser.
 */
export function isByline(hint: string): boolean {
  return !/\s/.test(hint.trim()) && (AUTHOR_HINT.test(hint) || DATE_HINT.test(hint))
}

/**
 * Whether an element holds a name or a time, and how it says so. `inAuthor`: inside microdata's
 * author, whose name counts.
 */
export function markOf(
  name: string,
  attributes: Attributes,
  hint: string,
  inAuthor: boolean,
): Pick<Mark, 'kind' | 'by' | 'value'> | null {
  const itemprop = attributes.get('itemprop')?.toLowerCase().split(/\s+/) ?? []
  const value = attributes.get('datetime') ?? attributes.get('content') ?? null
  if (
    inAuthor ? itemprop.includes('name') : itemprop.some(property => property === 'author' || property === 'creator')
  ) {
    return { kind: 'author', by: 'microdata', value: attributes.get('content') ?? null }
  }
  if (itemprop.includes('datepublished')) return { kind: 'date', by: 'microdata', value }
  if (name === 'meta') return null
  if (name === 'time') return { kind: 'date', by: 'time', value: attributes.get('datetime') ?? null }
  if (/\bauthor\b/.test(attributes.get('rel')?.toLowerCase() ?? '')) return { kind: 'author', by: 'rel', value: null }
  // hAtom's way before HTML had `time`: `<abbr class="published" title="2009-02-18T12:00">`.
  if (name === 'abbr' && attributes.has('title'))
    return { kind: 'date', by: 'class', value: attributes.get('title') ?? null }
  if (WHOLE.test(name)) return null
  // hCard: `<span class="author vcard">`.
  if (/\bauthor\b/.test(hint) && /\bvcard\b/.test(hint)) return { kind: 'author', by: 'rel', value: null }
  if (AUTHOR_HINT.test(hint)) return { kind: 'author', by: 'class', value: null }
  if (DATE_HINT.test(hint) || attributes.has('data-datetime') || attributes.has('data-timestamp')) {
    return {
      kind: 'date',
      by: 'class',
      value: attributes.get('data-datetime') ?? attributes.get('data-timestamp') ?? null,
    }
  }
  return null
}
