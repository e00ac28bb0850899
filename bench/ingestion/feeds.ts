import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { parseFeed as rowanManning } from '@rowanmanning/feed-parser'
import { parseFeed as feedsmith } from 'feedsmith'
import { type Figures, prefixed, rounded, say } from '#bench/figures'
import { authorName } from '#services/crawler/feeds/parsing/entries'
import { parseFeed } from '#services/crawler/feeds/parsing/parse'
import { decodeText } from '#shared/encoding/decode'
import { isRecord } from '#shared/encoding/is-record'

/**
 * Files of `feeds-*` that are not feeds: licences, pages, and the expected output that other
 * projects keep beside a feed.
 */
const NO_FEED = /LICENSE|README|\.html$|\.opml$|_expected\.json$|\.serde\.json$|test\/output\//i

/**
 * Reads every file of `feeds-*` with our parser and with two public parsers. Then it compares
 * title, link, id, date and authors of every entry with gofeed's expected JSON.
 *
 * @returns how many files each parser reads; the errors of our parser, and its slowest file in ms.
 * Also the share of gofeed's files in which our entries equal gofeed's in all five fields. A second
 * share leaves out files without entries
 */
export async function measureFeeds(data: string): Promise<Figures> {
  return { ...(await measureReading(data)), ...(await measureEquality(data)) }
}

async function measureReading(data: string) {
  const figures = {
    files: 0,
    read: 0,
    read_rowanmanning: 0,
    read_feedsmith: 0,
    errors: 0,
    slowest_ms: 0,
  }
  for (const file of await feedFiles(data)) {
    const text = await readText(file)
    figures.files += 1
    if (reads(() => rowanManning(text))) figures.read_rowanmanning += 1
    if (reads(() => feedsmith(text))) figures.read_feedsmith += 1
    const start = performance.now()
    try {
      if ((await parseFeed(text, null)) !== null) figures.read += 1
    } catch (error) {
      figures.errors += 1
      say(`error: ${file}: ${String(error)}`)
    }
    figures.slowest_ms = Math.max(figures.slowest_ms, Math.round(performance.now() - start))
  }
  return prefixed('feeds', figures)
}

async function measureEquality(data: string): Promise<Figures> {
  const files: { hasEntries: boolean; isEqual: boolean }[] = []
  for (const [file, expected] of await pairs(join(data, 'feeds-gofeed'))) {
    const wanted = goFeedEntries(await readFile(expected, 'utf8'))
    if (wanted === null) continue
    const entries = (await parseFeed(await readText(file), null))?.entries ?? []
    const ours = entries.map(({ title, link, id, published, authors }) => ({
      title,
      link,
      id,
      published,
      authors,
    }))
    const isEqual = isDeepStrictEqual(ours, wanted)
    files.push({ hasEntries: wanted.length > 0, isEqual })
    if (!isEqual) say(`differs from gofeed: ${file}`)
  }
  const figuresOf = (name: string, of: typeof files) => {
    const equal = of.filter(({ isEqual }) => isEqual).length
    return {
      [`${name}equal`]: equal,
      [`${name}equal_share`]: of.length === 0 ? 0 : rounded(equal / of.length, 4),
    }
  }
  const withEntries = files.filter(({ hasEntries }) => hasEntries)
  return {
    gofeed_files: files.length,
    ...figuresOf('gofeed_', files),
    gofeed_with_entries: withEntries.length,
    ...figuresOf('gofeed_with_entries_', withEntries),
  }
}

/**
 * Pairs of a feed and gofeed's expected output: `x.xml` with `x.json`, or `x.json` with
 * `x_expected.json`.
 */
async function pairs(set: string): Promise<[string, string][]> {
  const files = new Set(await filesBelow(set))
  return [...files].flatMap((file): [string, string][] => {
    const expected = file.endsWith('.xml')
      ? file.replace(/xml$/, 'json')
      : file.replace(/\.json$/, '_expected.json')
    return expected !== file && files.has(expected) ? [[file, expected]] : []
  })
}

async function feedFiles(data: string): Promise<string[]> {
  const sets = (await readdir(data).catch(() => []))
    .filter(name => name.startsWith('feeds-'))
    .sort()
  if (sets.length === 0) say(`skipped: no set feeds-* in ${data}`)
  const files = new Set((await Promise.all(sets.map(set => filesBelow(join(data, set))))).flat())
  return [...files].filter(
    file =>
      !NO_FEED.test(file) && !(file.endsWith('.json') && files.has(file.replace(/json$/, 'xml'))),
  )
}

async function filesBelow(folder: string): Promise<string[]> {
  const names = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  return names.filter(name => name.isFile()).map(name => join(name.parentPath, name.name))
}

async function readText(path: string): Promise<string> {
  let bytes = await readFile(path)
  try {
    if (path.endsWith('.gz')) bytes = gunzipSync(bytes)
  } catch {} // some sets contain damaged files on purpose
  return decodeText(bytes, { contentType: null, kind: 'xml' })
}

function reads(parse: () => unknown): boolean {
  try {
    return Boolean(parse())
  } catch {
    return false
  }
}

/**
 * The entries of a file that states gofeed's expected output. Such files have four shapes: those of
 * gofeed's RSS, Atom and JSON parsers, and its common shape. Null: gofeed expects no feed.
 */
function goFeedEntries(json: string) {
  let feed: unknown
  try {
    feed = JSON.parse(json)
  } catch {
    return null
  }
  if (!isRecord(feed)) return null
  const entries = Array.isArray(feed.entries)
    ? feed.entries
    : Array.isArray(feed.items)
      ? feed.items
      : []
  return entries.filter(isRecord).map(readEntry)
}

/** Reads an entry of gofeed, and names its fields as our parser does. */
function readEntry(entry: Record<string, unknown>) {
  const { guid, dcExt } = entry
  const dublinCore = isRecord(dcExt) ? dcExt : {}
  const first = (...values: unknown[]) => values.map(text).find(value => value !== null) ?? null
  const { published, pubDate, date_published, updated, date_modified } = entry
  return {
    title: text(entry.title),
    link: first(entry.link, entry.url, atomLink(entry.links), entry.external_url),
    id: first(entry.id, isRecord(guid) ? guid.value : guid),
    published: first(
      published,
      pubDate,
      date_published,
      list(dublinCore.date)[0],
      updated,
      date_modified,
    ),
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
  // gofeed's common shape keeps only the first creator. The extension contains all creators.
  const creators = list(dublinCore.creator).map(text)
  const podcast = isRecord(entry.itunesExt) ? list(entry.itunesExt.author).map(text) : []
  const most = creators.length > names.length ? creators : names
  return (most.length > 0 ? most : podcast).filter(name => name !== null)
}

const text = (value: unknown) =>
  typeof value === 'string' && value.trim() !== '' ? value.trim() : null
const list = (value: unknown): unknown[] =>
  Array.isArray(value) ? value : value === undefined || value === null ? [] : [value]
