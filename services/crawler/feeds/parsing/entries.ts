import { ADDRESS_LIMIT } from '#shared/articles/address'
import {
  EMPTY_ENTRY,
  EMPTY_FEED,
  type Feed,
  type FeedFormat,
  nextOfHead,
  type RawEntry,
} from './feed.ts'
import { childrenOf, type FeedElement, type Markup, markupOf, textOf } from './markup.ts'

/*
 * Real feeds mix vocabularies, so no format has a reader of its own. The reader looks for each
 * field under all of its names, and the most trusted name with content counts.
 */

/**
 * The most entries that are read. No feed of news names more at a time, and by custom the first
 * ones are the newest.
 */
export const MAX_ENTRIES = 2_000
/**
 * The most elements of one entry that are read. The search for each field passes over them several
 * times.
 */
const MAX_CHILDREN = 500
const MAX_LINKS = 100
/** The most authors of one entry that are read. */
export const MAX_AUTHORS = 50

/** The most categories of one entry that are read. */
const MAX_CATEGORIES = 10

/** Reads RSS 0.9x, 1.0 and 2.0, and Atom 0.3 and 1.0. */
export function readEntries(markup: Markup, top: FeedElement, format: FeedFormat): Feed {
  const items: FeedElement[] = []
  collectItems(top, items)
  const head = childrenOf(top, 'channel', 'rdf:channel')[0] ?? top
  const language = languageOf(markup, head) ?? top.attributes.get('xml:lang') ?? null
  const title = firstConstruct(markup, head, 'title', 'atom:title')
  // An Atom entry without an author has the authors of its feed (RFC 4287 §4.2.1).
  const people = format === 'atom' ? childrenOf(head, 'author', 'atom:author') : []
  const authors = authorsOf(markup, { ...head, children: people }, title)
  const entries = items
    .slice(0, MAX_ENTRIES)
    .map(item => readEntry(markup, item, title))
    .map(entry =>
      entry.authors.length + entry.sourceAuthors.length > 0 ? entry : { ...entry, authors },
    )
  return {
    ...EMPTY_FEED,
    format,
    language,
    entries,
    next: nextOfHead(head, head.base),
    licence: licenceOf(markup, head, items),
    whole: markup.whole && items.length <= MAX_ENTRIES,
  }
}

/**
 * The licence that a feed states: RSL in RSS (rslstandard.org), `rel="license"` of Atom (RFC 4946),
 * Creative Commons for RSS 1.0 and 2.0. A reservation ("All rights reserved") does not count,
 * because nearly every feed has one.
 */
function licenceOf(markup: Markup, head: FeedElement, items: FeedElement[]): string | null {
  if ([head, ...items.slice(0, 1)].some(one => childrenOf(one, 'rsl:content').length > 0))
    return 'RSL, in the feed'
  const addresses = childrenOf(head, 'link', 'atom:link', 'cc:license')
    .slice(0, MAX_LINKS)
    .filter(
      ({ name, attributes }) =>
        name === 'cc:license' || /\blicense\b/i.test(attributes.get('rel') ?? ''),
    )
    .map(({ attributes }) => attributes.get('rdf:resource') ?? attributes.get('href'))
  return (
    addresses.find(one => one) ??
    firstText(markup, head, 'creativecommons:license', 'cc:license', 'license')
  )
}

/** Collects the items below an element, also those inside an item that was never closed. */
function collectItems(element: FeedElement, items: FeedElement[]): void {
  for (const child of element.children) {
    if (items.length > MAX_ENTRIES) return
    if (ITEMS.has(child.name)) items.push(child)
    if (ITEMS.has(child.name) || AROUND.has(child.name)) collectItems(child, items)
  }
}

const ITEMS = new Set(['item', 'entry', 'atom:entry', 'rdf:item'])
const AROUND = new Set(['channel', 'rdf:channel', 'items', 'rss', 'feed', 'atom:feed', 'rdf:rdf'])

/** @param publisher the feed's own title */
function readEntry(markup: Markup, whole: FeedElement, publisher: string | null): RawEntry {
  const children = whole.children.slice(0, MAX_CHILDREN)
  const item = { ...whole, children: [...children, ...mediaTexts(children)] }
  const about = item.attributes.get('rdf:about')?.trim()
  const id = idOf(markup, item)
  return {
    ...EMPTY_ENTRY,
    ...id,
    link: linkOf(markup, item, id),
    originalLink: firstText(markup, item, 'feedburner:origlink', 'pheedo:origlink'),
    about: about ? resolveLink(about, item.base) : null,
    title: firstConstruct(
      markup,
      item,
      'title',
      'atom:title',
      'dc:title',
      'media:title',
      'itunes:title',
    ),
    summary: firstConstruct(markup, item, ...SUMMARIES),
    content: firstConstruct(markup, item, ...CONTENTS),
    authors: authorsOf(markup, item, publisher),
    sourceAuthors: childrenOf(item, 'source', 'atom:source').flatMap(source =>
      authorsOf(markup, source, publisher),
    ),
    published: firstDate(markup, item, ...PUBLISHED),
    language: languageOf(markup, item),
    modified: firstDate(markup, item, ...MODIFIED),
    categories: childrenOf(item, 'category', 'atom:category')
      .slice(0, MAX_CATEGORIES)
      .map(one => one.attributes.get('label') ?? one.attributes.get('term') ?? textOf(markup, one)),
  }
}

/**
 * Titles and descriptions inside `media:group`; those of single files only where the entry has no
 * title of its own, because they are captions.
 */
function mediaTexts(children: FeedElement[]): FeedElement[] {
  const groups = children.filter(({ name }) => name === 'media:group')
  const files = [...children, ...groups.flatMap(group => group.children)].filter(
    ({ name }) => name === 'media:content',
  )
  const holders = children.some(({ name }) => TITLES.has(name)) ? groups : [...groups, ...files]
  return holders
    .flatMap(holder => holder.children)
    .filter(({ name }) => name === 'media:title' || name === 'media:description')
    .slice(0, MAX_CHILDREN)
}
const TITLES = new Set(['title', 'atom:title', 'dc:title', 'media:title'])

const SUMMARIES =
  'description summary atom:summary dc:description itunes:summary media:description'.split(' ')
const CONTENTS = 'content:encoded content atom:content xhtml:body body fullitem'.split(' ')
const MODIFIED = 'updated atom:updated modified atom:modified dcterms:modified'.split(' ')
/**
 * Elements with the date of publication, the most trusted first: RSS, Atom 1.0 and 0.3, Dublin
 * Core. Dates of creation or change come last.
 */
const PUBLISHED = [
  ...'pubdate published atom:published issued atom:issued dc:date dcterms:issued dcterms:created'.split(
    ' ',
  ),
  'created',
  'atom:created',
  ...MODIFIED,
  'date',
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
    // RFC 4287 demands an absolute IRI here. A relative one is resolved like any other address.
    return { id: text === '' ? null : resolveLink(text, id.declaredBase), idIsLink: true }
  }
  return { id: null, idIsLink: false }
}

function linkOf(
  markup: Markup,
  item: FeedElement,
  { id, idIsLink }: Pick<RawEntry, 'id' | 'idIsLink'>,
): string | null {
  const hasPermalink = idIsLink && id !== null && /^https?:\/\//i.test(id)
  const links = childrenOf(item, 'link', 'atom:link')
    .slice(0, MAX_LINKS)
    .map(link => ({ link, href: link.attributes.get('href') ?? '', text: linkText(markup, link) }))
  const roles = Object.groupBy(links, ({ link, text }) => roleOf(link, item, text) ?? 'none')
  const own = roles.own
    ?.flatMap(({ link, href, text }) => ownLink(text || href, link.base, hasPermalink) ?? [])
    .at(-1)
  // If an entry has several links, the one to an HTML page is meant for people.
  const indirect =
    roles.alternate?.findLast(({ link }) => isHtml(link)) ??
    roles.alternate?.[0] ??
    roles.other?.[0]
  const found =
    own ?? (indirect === undefined ? null : resolveLink(indirect.href, indirect.link.base))
  if (found === null && !hasPermalink) return contentSource(item)
  return found !== null && hasPermalink && isAttached(item, found) ? null : found
}

/** The address of a page that an entry names as its content (RFC 4287 §4.1.3.2). */
function contentSource(item: FeedElement): string | null {
  const content = childrenOf(item, 'content', 'atom:content').find(
    ({ attributes }) => attributes.has('src') && /html|^$/i.test(attributes.get('type') ?? ''),
  )
  return content === undefined
    ? null
    : resolveLink(content.attributes.get('src') ?? '', content.base)
}

/**
 * The address of an RSS link. Null: its text is no address. RSS 2.0 demands a scheme. A text
 * without a scheme, and without a `/` or `?` at its beginning, is more likely wrong than the
 * entry's permalink.
 */
function ownLink(text: string, base: string | null, hasPermalink: boolean): string | null {
  if (NO_LINK.test(text)) return null
  if (/^www\.[^\s/?#]+\.[a-z]{2,}(?:[/?#]|$)/i.test(text)) return `https://${text}`
  if (hasPermalink && !/^(?:[a-z][a-z0-9+.-]*:|[/?])/i.test(text)) return null
  return resolveLink(text, base)
}

/** Texts that systems write into a link when they do not know its address. */
const NO_LINK =
  /^(?:n\/?a|none|null|nil|nan|undefined|false|true|-+|#.*|\.|0|about:\S*|javascript:.*|https?:\/*|[[{(<].*)$/i

/** Whether the address leads to a file that the entry attaches: sound, film or picture. */
const isAttached = (item: FeedElement, address: string) =>
  childrenOf(item, 'enclosure', 'media:content', 'media:thumbnail').some(
    file => file.attributes.get('url')?.trim() === address,
  ) || /\.(?:mp3|m4a|mp4|ogg|wav|webm|jpe?g|png|gif|webp)(?:\?|$)/i.test(address)

/** The text of a link without its line breaks. Spaces inside a line belong to the address. */
const linkText = (markup: Markup, link: FeedElement) =>
  textOf(markup, link)
    .split(/[\r\n\t]/)
    .map(line => line.trim())
    .join('')

/**
 * The way in which a link leads to the article. `own`: a link as in RSS, whose text is the address.
 * Of several, the last counts, as in gofeed. `alternate` and `other`: links as in Atom, by their
 * `rel`. Null: the link does not lead to the article.
 */
function roleOf(
  link: FeedElement,
  item: FeedElement,
  text: string,
): 'own' | 'alternate' | 'other' | null {
  const hasHref = link.attributes.has('href')
  const isRss = link.name === 'link' && item.name === 'item'
  if (isRss && (text !== '' || (hasHref && !link.attributes.has('rel')))) return 'own'
  if (!hasHref) return text === '' ? null : 'own'
  const rel = link.attributes.get('rel')?.trim().toLowerCase() ?? 'alternate'
  if (/^\s*(?:audio|video|image)\//i.test(link.attributes.get('type') ?? '')) return null
  if (rel === 'alternate') return 'alternate'
  return NO_PAGE.has(rel) ? null : 'other'
}

const isHtml = (link: FeedElement) => /html/i.test(link.attributes.get('type') ?? '')

/**
 * Relations of links that do not lead to the article (IANA link relations, and Atom 0.3's
 * service.*).
 */
const NO_PAGE = new Set(
  `self edit edit-media enclosure replies related via license next hub up service.post service.edit service.feed
  http://schemas.google.com/g/2005#replies`.split(/\s+/),
)

/**
 * The authors of an entry. They come from the first kind of element that names a person, or else
 * from the first kind that names anything. RSS demands a mail address in `author`, which often
 * belongs to a desk, while `dc:creator` names the writer.
 */
function authorsOf(markup: Markup, item: FeedElement, publisher: string | null): string[] {
  const people = childrenOf(item, 'author', 'atom:author')
    .filter(author => author.children.some(child => PERSON.has(child.name)))
    .slice(0, MAX_AUTHORS)
  const named = people
    .map(
      person =>
        firstText(markup, person, 'name', 'atom:name') ??
        firstText(markup, person, 'email', 'atom:email'),
    )
    .filter(name => name !== null)
  const lists = [
    named,
    ...['author', 'atom:author', 'dc:creator', 'dc:author', 'itunes:author', 'media:credit'].map(
      name =>
        childrenOf(item, name)
          .filter(author => !people.includes(author))
          .slice(0, MAX_AUTHORS)
          .map(author => authorName(withoutCdata(readConstruct(markup, author) ?? '')))
          .filter(text => text !== ''),
    ),
  ].filter(list => list.length > 0)
  const isPerson = (name: string) =>
    !DESK.test(name) &&
    name.toLowerCase() !== publisher?.toLowerCase() &&
    /\p{L}[^\S\n]+\p{L}/u.test(name)
  return lists.find(list => list.some(isPerson)) ?? lists[0] ?? []
}

/** Matches names of no person: words of desks, accounts and agencies, or a mail address. */
const DESK =
  /@|(?<!\p{L})(?:redactie|r[eé]daction|redaktion|newsroom|(?:news)?desk|editors?|admin\w*|webmaster|no-?reply|belga|anp|afp|dpa)(?!\p{L})/iu

/** The parts of a person (RFC 4287 §3.2), with `url` for Atom 0.3. */
const PERSON = new Set([
  'name',
  'email',
  'uri',
  'url',
  'atom:name',
  'atom:email',
  'atom:uri',
  'atom:url',
])

const LONGEST_AUTHOR = 1_000

/**
 * The name of an author. RSS writes `mail@example.org (Name)`, other formats
 * `Name (mail@example.org)` or `Name <mail@example.org>`. Takes linear time.
 */
export function authorName(written: string): string {
  const text = written.slice(0, LONGEST_AUTHOR).trim()
  if (!/[)>]$/.test(text)) return text
  const first = text.search(/[(<]/)
  const last = Math.max(text.lastIndexOf('('), text.lastIndexOf('<'))
  if (first > 0 && MAIL.test(text.slice(0, first).trim()))
    return text.slice(first + 1, -1).trim() || text
  if (last > 0 && MAIL.test(text.slice(last + 1, -1).trim()))
    return text.slice(0, last).trim() || text
  return text
}

const MAIL = /^[^\s()<>@]+@[^\s()<>@]+$/

const languageOf = (markup: Markup, element: FeedElement): string | null =>
  firstText(markup, element, 'language', 'dc:language') ??
  element.attributes.get('xml:lang')?.trim() ??
  null

/** The text of the first child with text. `names` are tried in order, the most trusted first. */
export const firstText = firstOf(textOf)

/**
 * The first text that may be a date. "Invalid Date", "0000-00-00" and the year 1 of .NET hide no
 * other element.
 */
const firstDate = firstOf((markup, element) => DATE.exec(textOf(markup, element))?.[0] ?? null)
const DATE = /^(?!.*(?<![\dT])0001(?!\d)).*[1-9].*$/s

function firstOf(read: (markup: Markup, element: FeedElement) => string | null) {
  return (markup: Markup, element: FeedElement, ...names: string[]): string | null => {
    for (const name of names) {
      for (const child of childrenOf(element, name)) {
        const text = read(markup, child)
        if (text !== null && text !== '') return text
      }
    }
    return null
  }
}

/**
 * Reads a text construct of Atom (RFC 4287 §3.1, and Atom 0.3's `mode`). HTML and plain text stay
 * as written, XHTML loses its `div`, base64 is decoded.
 */
function readConstruct(markup: Markup, element: FeedElement): string | null {
  const text = constructText(markup, element)
  const around = element.declaredBase
  return text === null || around === null || !text.includes('<')
    ? text
    : withWholeLinks(markup, text, around)
}

function constructText(markup: Markup, element: FeedElement): string | null {
  const type = element.attributes.get('type')?.toLowerCase().split(';')[0]?.trim() ?? 'text'
  const mode = element.attributes.get('mode')?.toLowerCase() ?? null
  if (type === 'xhtml' || type === 'application/xhtml+xml' || mode === 'xml') {
    const [only] = element.children
    const inner =
      element.children.length === 1 && only && /(^|:)div$/.test(only.name) ? only : element
    return (
      (inner.children.length === 0 && mode === 'xml'
        ? textOf(markup, inner)
        : markupOf(markup, inner)) || null
    )
  }
  const text = textOf(markup, element)
  if (mode === 'base64' || (type.includes('/') && !isTextual(type))) return fromBase64(text) || null
  return text || null
}

/** The first child with text, read as a text construct. */
const firstConstruct = firstOf(readConstruct)

/**
 * Resolves an address against the base of its element. An address that cannot be resolved stays.
 */
function resolveLink(text: string, base: string | null): string {
  const address = text.trim()
  if (address === '') return base ?? ''
  if (base === null || address.length > ADDRESS_LIMIT || ABSOLUTE.test(address)) return address
  return URL.parse(address, base)?.href ?? address
}

const ABSOLUTE = /^[a-z][a-z0-9+.-]*:/i

/**
 * Resolves the relative links in a text, because outside of the feed the text has no `xml:base`.
 */
const withWholeLinks = (markup: Markup, html: string, base: string): string =>
  html.replace(
    /(\s(?:href|src|cite)\s*=\s*)(["'])([^"'<>]*)\2/gi,
    (written, name: string, quote: string, text: string) => {
      const address = text.trim()
      if (address.length > ADDRESS_LIMIT || markup.linksLeft === 0 || ABSOLUTE.test(address))
        return written
      markup.linksLeft -= 1
      const whole = URL.parse(address, base)?.href
      return whole === undefined ? written : name + quote + whole + quote
    },
  )

const isTextual = (type: string): boolean =>
  /^text\/|xml$|[/+]json$|html/.test(type) || type === 'application/javascript'

function fromBase64(text: string): string {
  const compact = text.replace(/\s+/g, '')
  return /^[A-Za-z0-9+/]+={0,2}$/.test(compact)
    ? Buffer.from(compact, 'base64').toString('utf8')
    : text
}

/**
 * Removes the marks around a CDATA section if the feed escaped them. XML reads escaped marks as
 * text.
 */
export const withoutCdata = (text: string): string =>
  /^\s*(?:<|&lt;)!\[CDATA\[/i.test(text)
    ? text.replace(/(?:<|&lt;)!\[CDATA\[|\]\](?:>|&gt;)/gi, '').trim()
    : text
