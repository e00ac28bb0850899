import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { say } from '../figures.ts'
import { readJsonLines } from '../json-lines.ts'

/** Sets with all values, as `truePages` reads them. */
export type KeptSet = 'fundus' | 'trafilatura' | 'htmldate'

/**
 * A page with its true values by people or their parsers. Fields that the set does not state are
 * null.
 */
export interface TruePage {
  set: KeptSet | 'aeb'
  file: string
  url: string
  html: string
  title: string | null
  /** To the day (`2026-11-03`), or to the second with or without an offset. */
  date: string | null
  authors: string[] | null
  /** The whole text, or pieces that belong to it and pieces of the same page that do not. */
  text: { whole: string } | { with: string[]; without: string[] } | null
}

/**
 * The pages of a set, in the order of its index. When the set is absent, it yields none and says so
 * on standard error.
 */
export async function* truePages(data: string, set: KeptSet): AsyncGenerator<TruePage> {
  const folder = join(data, `html-${set}`)
  const index = join(folder, set === 'fundus' ? 'index.jsonl' : 'truth.jsonl')
  const entries = await readJsonLines<FundusEntry & ListedEntry>(index).catch(() => null)
  if (entries === null) return say(`skipped: no set html-${set} in ${data}`)
  for (const entry of entries) {
    yield set === 'fundus' ? await fundusPage(folder, entry) : await listedPage(folder, set, entry)
  }
}

interface FundusTruth {
  title?: string
  publishing_date?: string
  authors?: string[]
  body?: { summary: string[]; sections: { headline: string[]; paragraphs: string[] }[] }
}

interface FundusEntry {
  file: string
  country: string
  publisher: string
  url: string
  crawl_date: string
  truth_versions: string[]
}

/**
 * Truth comes per version of the publisher's parser. The one for a page is the last that is dated
 * before its crawl.
 */
async function fundusPage(folder: string, entry: FundusEntry): Promise<TruePage> {
  const versions: Record<string, FundusTruth> = JSON.parse(
    gunzipSync(await readFile(join(folder, entry.country, `${entry.publisher}.truth.json.gz`))).toString(),
  )
  const crawled = Date.parse(`${entry.crawl_date.replace(' ', 'T')}Z`) + 86_400_000
  const dated = entry.truth_versions
    .map(version => versions[version] ?? {})
    .filter(truth => Date.parse(truth.publishing_date ?? '') <= crawled)
    .sort((a, b) => Date.parse(a.publishing_date ?? '') - Date.parse(b.publishing_date ?? ''))
  const truth = dated.at(-1) ?? {}
  return {
    set: 'fundus',
    file: entry.file,
    url: entry.url,
    html: text(gunzipSync(await readFile(join(folder, entry.file)))),
    title: truth.title ?? null,
    date: truth.publishing_date ?? null,
    authors: truth.authors ?? null,
    text: truth.body === undefined ? null : { whole: wholeText(truth.body) },
  }
}

/** In the order of fundus: summary, then headings and paragraphs. */
function wholeText({ summary, sections }: NonNullable<FundusTruth['body']>): string {
  const parts = sections.flatMap(({ headline, paragraphs }) => [...headline, ...paragraphs])
  return [...summary, ...parts].join('\n\n')
}

interface ListedEntry {
  file: string
  url: string
  title?: string | null
  date?: string | null
  author?: string | null
  with?: string[]
  without?: string[]
}

async function listedPage(folder: string, set: KeptSet, entry: ListedEntry): Promise<TruePage> {
  const bytes = await readFile(join(folder, 'html', `${entry.file}.gz`)).then(gunzipSync, () =>
    readFile(join(folder, 'html', entry.file)),
  )
  return {
    set,
    file: entry.file,
    url: entry.url,
    html: text(bytes),
    title: entry.title || null,
    date: isDay(entry.date) ? entry.date : null,
    authors:
      typeof entry.author === 'string'
        ? entry.author
            .split(/;|,| & | und | et /)
            .map(name => name.trim())
            .filter(name => name !== '')
        : null,
    text: entry.with === undefined ? null : { with: entry.with, without: entry.without ?? [] },
  }
}

/** Decodes UTF-8, and bytes that are not UTF-8 as Windows-1252. */
function text(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return new TextDecoder('windows-1252').decode(bytes)
  }
}

/** True for a day of the calendar. The sets also hold a 29th month. */
function isDay(date: string | null | undefined): date is string {
  return /^\d{4}-\d{2}-\d{2}$/.test(date ?? '') && !Number.isNaN(Date.parse(date ?? ''))
}
