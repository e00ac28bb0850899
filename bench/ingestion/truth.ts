import { isUtf8 } from 'node:buffer'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { say } from '#bench/figures'
import { readJsonLines } from '#bench/json-lines'
import type { PageMetadata } from '#services/normaliser/metadata/metadata'
import type { PageText } from '#services/normaliser/text/page-text'

/** Test sets of pages whose true values others have published. */
export const SETS = ['aeb', 'fundus', 'trafilatura', 'htmldate'] as const
export type PageSet = (typeof SETS)[number]

/**
 * A page with its true values, which people or their parsers read. A field that the set does not
 * state is null.
 */
export interface TruePage {
  set: PageSet
  file: string
  url: string
  html: string
  title: string | null
  /** A day (`2026-11-03`), or a time in seconds, with or without an offset. */
  date: string | null
  authors: string[] | null
  /** The whole text. Or pieces that belong to the text, and pieces of the same page that do not. */
  text: { whole: string } | { with: string[]; without: string[] } | null
}

/** A page with its true values, and with what the normaliser reads on the page. */
export interface ReadPage extends TruePage {
  meta: PageMetadata
  found: PageText
}

/** Counts under the name of a figure whether something is so. */
export type Count = (figure: string, is: boolean) => void

/**
 * Yields the pages of a test set, in the order of its index. When the set is absent, it yields no
 * page and writes a line to standard error.
 */
export async function* truePages(data: string, set: PageSet): AsyncGenerator<TruePage> {
  const folder = join(data, `html-${set}`)
  const { list, page } = READERS[set]
  const entries = await list(folder).catch(() => null)
  if (entries === null) return say(`skipped: no set html-${set} in ${data}`)
  for (const entry of entries) {
    const bytes = await unpacked(join(folder, entry.file))
    // Bytes that are not UTF-8 are read as Windows-1252.
    const html = new TextDecoder(isUtf8(bytes) ? 'utf-8' : 'windows-1252').decode(bytes)
    yield {
      set,
      file: entry.file,
      url: entry.url,
      html,
      ...NOTHING_STATED,
      ...(await page(entry, folder)),
    }
  }
}

const NOTHING_STATED = { title: null, date: null, authors: null, text: null }

type Truth = Partial<Pick<TruePage, 'title' | 'date' | 'authors' | 'text'>>

/** An entry of a set's index. */
interface Entry {
  file: string
  url: string
  title?: string | null
  date?: string | null
  author?: string | null
  with?: string[]
  without?: string[]
  articleBody?: string
  country?: string
  publisher?: string
  crawl_date?: string
  truth_versions?: string[]
}

interface Reader {
  list(folder: string): Promise<Entry[]>
  page(entry: Entry, folder: string): Truth | Promise<Truth>
}

const LISTED: Reader = {
  async list(folder) {
    const entries = await readJsonLines<Entry>(join(folder, 'truth.jsonl'))
    return entries.map(entry => ({ ...entry, file: `html/${entry.file}.gz` }))
  },
  page: ({ title, date, author, with: pieces, without = [] }) => ({
    title: title || null,
    // The sets also contain impossible dates, such as a 29th month.
    date: date && /^\d{4}-\d{2}-\d{2}$/.test(date) && !Number.isNaN(Date.parse(date)) ? date : null,
    authors:
      author == null ? null : author.split(/;|,| & | und | et /).flatMap(name => name.trim() || []),
    text: pieces === undefined ? null : { with: pieces, without },
  }),
}

const READERS: Record<PageSet, Reader> = {
  aeb: {
    async list(folder) {
      const truths: Record<string, Entry> = await readPacked(join(folder, 'ground-truth.json.gz'))
      return Object.entries(truths).map(([name, truth]) => ({
        ...truth,
        file: `html/${name}.html.gz`,
      }))
    },
    page: ({ articleBody: whole = '' }) => ({ text: { whole } }),
  },
  fundus: { list: folder => readJsonLines(join(folder, 'index.jsonl')), page: fundusTruth },
  trafilatura: LISTED,
  htmldate: LISTED,
}

interface FundusTruth {
  title?: string
  publishing_date?: string
  authors?: string[]
  body?: { summary: string[]; sections: { headline: string[]; paragraphs: string[] }[] }
}

/**
 * The true values of a page of fundus. Each version of the publisher's parser has its own values.
 * We take the one with the latest publishing date that is at most a day after the crawl of the
 * page. The text is in the order of fundus: summary, then headings and paragraphs.
 */
async function fundusTruth(entry: Entry, folder: string): Promise<Truth> {
  const { country, publisher, crawl_date = '', truth_versions = [] } = entry
  const versions: Record<string, FundusTruth> = await readPacked(
    join(folder, `${country}/${publisher}.truth.json.gz`),
  )
  const crawled = Date.parse(`${crawl_date.replace(' ', 'T')}Z`) + 86_400_000
  const dateOf = ({ publishing_date = '' }: FundusTruth) => Date.parse(publishing_date)
  const dated = truth_versions
    .map(version => versions[version] ?? {})
    .filter(truth => dateOf(truth) <= crawled)
  const truth = dated.toSorted((a, b) => dateOf(a) - dateOf(b)).at(-1)
  const { title = null, publishing_date: date = null, authors = null, body } = truth ?? {}
  const parts =
    body?.sections.flatMap(({ headline, paragraphs }) => [...headline, ...paragraphs]) ?? []
  return {
    title,
    date,
    authors,
    text: body ? { whole: [...body.summary, ...parts].join('\n\n') } : null,
  }
}

const unpacked = async (file: string): Promise<Buffer> => gunzipSync(await readFile(file))
const readPacked = async (file: string) => JSON.parse((await unpacked(file)).toString())
