import { isRecord } from '../../../../shared/json/is-record.ts'
import { MAX_AUTHORS, MAX_ENTRIES } from './entries.ts'
import { EMPTY_ENTRY, type Feed, nextPage, type RawEntry } from './feed.ts'

/**
 * Reads a JSON Feed (jsonfeed.org, versions 1 and 1.1). Null: the text is none.
 *
 * @param base the address of the document
 */
export function readJsonFeed(text: string, base: string | null): Feed | null {
  if (isDeep(text)) return null
  let feed: unknown
  try {
    feed = JSON.parse(text)
  } catch {
    return null
  }
  if (!isRecord(feed) || !Array.isArray(feed.items)) return null
  if (typeof feed.version !== 'string' && typeof feed.title !== 'string') return null
  const authors = authorsOf(feed)
  return {
    format: 'json',
    title: textOf(feed.title),
    language: textOf(feed.language),
    entries: feed.items
      .slice(0, MAX_ENTRIES)
      .filter(isRecord)
      .map(item => readItem(item, authors)),
    parts: [],
    next: typeof feed.next_url === 'string' ? nextPage(feed.next_url, base) : null,
    whole: feed.items.length <= MAX_ENTRIES,
  }
}

/**
 * Whether JSON is nested deeper than any feed, which is five levels deep. `JSON.parse` would take
 * seconds for megabytes of brackets.
 */
function isDeep(text: string): boolean {
  let depth = 0
  let inString = false
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (inString) {
      if (code === BACKSLASH) at += 1
      else if (code === QUOTE) inString = false
    } else if (code === QUOTE) inString = true
    else if (code === 0x5b || code === 0x7b) {
      depth += 1
      if (depth > MAX_DEPTH) return true
    } else if (code === 0x5d || code === 0x7d) depth -= 1
  }
  return false
}

const MAX_DEPTH = 100
const QUOTE = 0x22
const BACKSLASH = 0x5c

function readItem(item: Record<string, unknown>, feedAuthors: string[]): RawEntry {
  const authors = authorsOf(item)
  return {
    ...EMPTY_ENTRY,
    link: linkOf(item),
    id: textOf(item.id),
    idIsLink: true,
    title: textOf(item.title),
    summary: textOf(item.summary),
    content: textOf(item.content_html) ?? textOf(item.content_text),
    authors: authors.length > 0 ? authors : feedAuthors,
    published: textOf(item.date_published) ?? textOf(item.date_modified),
    language: textOf(item.language),
    modified: textOf(item.date_modified),
  }
}

/** `authors`, or version 1's single `author`. */
function authorsOf(holder: Record<string, unknown>): string[] {
  const people = Array.isArray(holder.authors) ? holder.authors : [holder.author]
  return people
    .slice(0, MAX_AUTHORS)
    .filter(isRecord)
    .map(person => textOf(person.name))
    .filter(name => name !== null)
}

/** `external_url` leads to another page, about which the item writes. */
function linkOf(item: Record<string, unknown>): string | null {
  const [url, id] = [textOf(item.url), textOf(item.id)]
  if (url !== null && /^(?:https?:|[/?])/i.test(url)) return url
  return id !== null && /^https?:\/\//i.test(id) ? id : (url ?? textOf(item.external_url))
}

function textOf(value: unknown): string | null {
  const text = typeof value === 'string' ? value : typeof value === 'number' ? String(value) : ''
  // biome-ignore lint/suspicious/noControlCharactersInRegex: Postgres refuses NUL in JSON
  return text.replace(/\u0000/g, '').trim() || null
}
