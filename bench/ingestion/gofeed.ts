import { authorName } from '../../services/crawler/feeds/parsing/entries.ts'
import type { RawEntry } from '../../services/crawler/feeds/parsing/feed.ts'
import { isRecord } from '../../shared/encoding/is-record.ts'

/** gofeed's expected values of one entry, under our names. */
export interface GoFeedEntry {
  title: string | null
  link: string | null
  id: string | null
  published: string | null
  authors: string[]
}

/**
 * The entries of one of gofeed's expected files, which have four shapes: those of its RSS, Atom and
 * JSON parsers, and its common one. Null: the file expects no feed.
 */
export function goFeedEntries(json: string): GoFeedEntry[] | null {
  let feed: unknown
  try {
    feed = JSON.parse(json)
  } catch {
    return null
  }
  if (!isRecord(feed)) return null
  const entries = Array.isArray(feed.entries) ? feed.entries : Array.isArray(feed.items) ? feed.items : []
  return entries.filter(isRecord).map(readEntry)
}

export function sameEntry(entry: RawEntry, expected: GoFeedEntry | undefined): boolean {
  if (expected === undefined) return false
  const { authors, ...fields } = expected
  const same = Object.entries(fields).every(([field, value]) => entry[field as keyof typeof fields] === value)
  return same && authors.join('\n') === entry.authors.join('\n')
}

function readEntry(entry: Record<string, unknown>): GoFeedEntry {
  const { guid, dcExt } = entry
  const dublinCore = isRecord(dcExt) ? dcExt : {}
  const first = (...values: unknown[]) => values.map(text).find(value => value !== null) ?? null
  const { published, pubDate, date_published, updated, date_modified } = entry
  return {
    title: text(entry.title),
    link: first(entry.link, entry.url, atomLink(entry.links), entry.external_url),
    id: first(entry.id, isRecord(guid) ? guid.value : guid),
    published: first(published, pubDate, date_published, list(dublinCore.date)[0], updated, date_modified),
    authors: authorsOf(entry, dublinCore),
  }
}

function atomLink(links: unknown): string | null {
  const alternate = list(links).find(link => isRecord(link) && link.rel === 'alternate')
  return isRecord(alternate) ? text(alternate.href) : null
}

function authorsOf(entry: Record<string, unknown>, dublinCore: Record<string, unknown>): string[] {
  const people = list(entry.authors).length > 0 ? list(entry.authors) : list(entry.author)
  const names = people.map(person =>
    isRecord(person) ? (text(person.name) ?? text(person.email)) : authorName(text(person) ?? ''),
  )
  // Its common shape keeps the first creator only. The extension holds all of them.
  const creators = list(dublinCore.creator).map(text)
  const podcast = isRecord(entry.itunesExt) ? list(entry.itunesExt.author).map(text) : []
  const most = creators.length > names.length ? creators : names
  return (most.length > 0 ? most : podcast).filter(name => name !== null)
}

const text = (value: unknown) => (typeof value === 'string' && value.trim() !== '' ? value.trim() : null)
const list = (value: unknown): unknown[] =>
  Array.isArray(value) ? value : value === undefined || value === null ? [] : [value]
