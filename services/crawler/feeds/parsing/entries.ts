import { firstConstruct, firstText, readConstruct, resolveLink } from './constructs.ts'
import { EMPTY_ENTRY, type Feed, type FeedFormat, type RawEntry } from './feed.ts'
import { childrenOf, type FeedElement, type Markup, textOf } from './markup.ts'

/** More entries than any feed of news names at a time; the first ones are the newest by custom. */
export const MAX_ENTRIES = 2_000
/**
 * Elements of one entry that are looked at: each field looks through them under each of its names.
 */
const MAX_CHILDREN = 500
const MAX_LINKS = 100
/** Names of one entry that are read. */
export const MAX_AUTHORS = 50

/**
 * Reads RSS 0.9x, 1.0 and 2.0, Atom 0.3 and 1.0 and what lies between them: real feeds mix the
 * vocabularies, so every field is looked for under all its names, the format's own first.
 */
export function readEntries(markup: Markup, top: FeedElement, format: FeedFormat): Feed {
  const items: FeedElement[] = []
  collectItems(top, items)
  const head = childrenOf(top, 'channel', 'rdf:channel')[0] ?? top
  const language = languageOf(markup, head) ?? top.attributes.get('xml:lang') ?? null
  const entries = items.slice(0, MAX_ENTRIES).map(item => readEntry(markup, item))
  return {
    format,
    title: firstConstruct(markup, head, 'title', 'atom:title'),
    language,
    entries,
    parts: [],
    whole: markup.whole && items.length <= MAX_ENTRIES,
  }
}

/** Items anywhere below, also inside one that was never closed. */
function collectItems(element: FeedElement, items: FeedElement[]): void {
  for (const child of element.children) {
    if (items.length > MAX_ENTRIES) return
    if (ITEMS.has(child.name)) items.push(child)
    if (ITEMS.has(child.name) || AROUND.has(child.name)) collectItems(child, items)
  }
}

const ITEMS = new Set(['item', 'entry', 'atom:entry', 'rdf:item'])
const AROUND = new Set(['channel', 'rdf:channel', 'items', 'rss', 'feed', 'atom:feed', 'rdf:rdf'])

function readEntry(markup: Markup, whole: FeedElement): RawEntry {
  const item = { ...whole, children: whole.children.slice(0, MAX_CHILDREN) }
  const about = item.attributes.get('rdf:about')?.trim()
  return {
    ...EMPTY_ENTRY,
    ...idOf(markup, item),
    link: linkOf(markup, item),
    originalLink: firstText(markup, item, 'feedburner:origlink', 'pheedo:origlink'),
    about: about ? resolveLink(about, item.base) : null,
    title: firstConstruct(markup, item, 'title', 'atom:title', 'dc:title', 'media:title'),
    summary: firstConstruct(
      markup,
      item,
      'description',
      'summary',
      'atom:summary',
      'dc:description',
      'itunes:summary',
      'media:description',
    ),
    content: firstConstruct(
      markup,
      item,
      'content:encoded',
      'content',
      'atom:content',
      'xhtml:body',
      'body',
      'fullitem',
    ),
    authors: authorsOf(markup, item),
    published: firstText(markup, item, ...PUBLISHED),
    language: languageOf(markup, item),
  }
}

/** RSS; Atom 1.0 and 0.3; Dublin Core; then what only says when something changed. */
const PUBLISHED = [
  ...[
    'pubdate',
    'published',
    'atom:published',
    'issued',
    'atom:issued',
    'dc:date',
    'dcterms:issued',
    'dcterms:created',
  ],
  ...['created', 'atom:created', 'updated', 'atom:updated', 'modified', 'atom:modified', 'dcterms:modified', 'date'],
]

function idOf(markup: Markup, item: FeedElement): Pick<RawEntry, 'id' | 'idIsLink'> {
  const guid = childrenOf(item, 'guid')[0]
  if (guid !== undefined) {
    const permanent = guid.attributes.get('ispermalink')?.trim().toLowerCase() !== 'false'
    return { id: textOf(markup, guid) || null, idIsLink: permanent }
  }
  const id = childrenOf(item, 'id', 'atom:id')[0]
  if (id !== undefined) {
    const text = textOf(markup, id)
    // RFC 4287 wants whole IRIs here; a relative one is read like any other address.
    return { id: text === '' ? null : resolveLink(text, id.declaredBase), idIsLink: true }
  }
  return { id: null, idIsLink: false }
}

function linkOf(markup: Markup, item: FeedElement): string | null {
  let own: string | null = null
  let alternate: string | null = null
  let other: string | null = null
  for (const link of childrenOf(item, 'link', 'atom:link').slice(0, MAX_LINKS)) {
    const href = link.attributes.get('href')
    const rel = link.attributes.get('rel')?.trim().toLowerCase() ?? 'alternate'
    // Links are broken over lines; a space within one is part of it, and escaped when it is asked
    // for.
    const text = textOf(markup, link)
      .split(/[\r\n\t]/)
      .map(line => line.trim())
      .join('')
    // RSS has one and its text is the address; of several the last counts, as in gofeed.
    if (link.name === 'link' && item.name === 'item' && (text !== '' || href !== undefined)) {
      own = resolveLink(text || (href ?? ''), link.base)
    } else if (href === undefined) {
      if (text !== '') own = resolveLink(text, link.base)
    } else if (rel === 'alternate') {
      // Of several, the page for people.
      if (alternate === null || isHtml(link)) alternate = resolveLink(href, link.base)
    } else if (!NO_PAGE.has(rel)) {
      other ??= resolveLink(href, link.base)
    }
  }
  return own ?? alternate ?? other
}

const isHtml = (link: FeedElement) => /html/i.test(link.attributes.get('type') ?? '')

/**
 * Links of an entry that lead elsewhere than to the article (IANA link relations, and Atom 0.3's
 * service.*).
 */
const NO_PAGE = new Set(
  ['self', 'edit', 'edit-media', 'enclosure', 'replies', 'related', 'via', 'license', 'next', 'hub', 'up'].concat([
    'service.post',
    'service.edit',
    'service.feed',
    'http://schemas.google.com/g/2005#replies',
  ]),
)

function authorsOf(markup: Markup, item: FeedElement): string[] {
  const people = childrenOf(item, 'author', 'atom:author')
    .filter(author => author.children.some(child => PERSON.has(child.name)))
    .slice(0, MAX_AUTHORS)
  const named = people
    .map(person => firstText(markup, person, 'name', 'atom:name') ?? firstText(markup, person, 'email', 'atom:email'))
    .filter(name => name !== null)
  if (named.length > 0) return named
  for (const name of ['author', 'atom:author', 'dc:creator', 'dc:author', 'itunes:author', 'media:credit']) {
    const texts = childrenOf(item, name)
      .filter(author => !people.includes(author))
      .slice(0, MAX_AUTHORS)
      .map(author => authorName(readConstruct(markup, author) ?? ''))
      .filter(text => text !== '')
    if (texts.length > 0) return texts
  }
  return []
}

/** RFC 4287 §3.2, and Atom 0.3's name for the address. */
const PERSON = new Set(['name', 'email', 'uri', 'url', 'atom:name', 'atom:email', 'atom:uri', 'atom:url'])

const LONGEST_AUTHOR = 1_000

/**
 * RSS writes `mail@example.org (Name)`; others `Name (mail@example.org)` or
 * `Name <mail@example.org>`. In linear time.
 */
export function authorName(written: string): string {
  const text = written.slice(0, LONGEST_AUTHOR).trim()
  if (!/[)>]$/.test(text)) return text
  const first = text.search(/[(<]/)
  const last = Math.max(text.lastIndexOf('('), text.lastIndexOf('<'))
  if (first > 0 && MAIL.test(text.slice(0, first).trim())) return text.slice(first + 1, -1).trim() || text
  if (last > 0 && MAIL.test(text.slice(last + 1, -1).trim())) return text.slice(0, last).trim() || text
  return text
}

const MAIL = /^[^\s()<>@]+@[^\s()<>@]+$/

function languageOf(markup: Markup, element: FeedElement): string | null {
  return firstText(markup, element, 'language', 'dc:language') ?? element.attributes.get('xml:lang')?.trim() ?? null
}
