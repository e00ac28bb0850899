import { join } from 'node:path'
import { type Country, LANGUAGES, type Language } from '../../shared/articles/article.ts'
import { withDatabase } from '../../test/database.ts'
import type { Fleet } from '../../test/fleet.ts'
import { say } from '../figures.ts'
import { readJsonLines } from '../json-lines.ts'

/** An article of a corpus; articles with the same `item` say the same in several languages. */
export interface CorpusArticle {
  item: string
  language: Language
  title: string
  body: string | null
}

/** A search term in one language; the articles of its `item` answer it. */
export interface Question {
  item: string
  language: Language
  text: string
}

export interface Corpus {
  name: string
  languages: readonly Language[]
  articles: CorpusArticle[]
  questions: Question[]
}

/** Outlet and country that a corpus has in a language, so that searches can tell them apart. */
export const domainOf = (corpus: string, language: Language) => `${corpus}-${language}.example`
export const COUNTRY_OF: Record<Language, Country> = { nl: 'NL', en: 'NL', fr: 'BE', de: 'BE', lb: 'LU' }

/** The ids of the articles of one page, in order. */
export type AskPage = (parameters: Record<string, string>) => Promise<string[]>

/** The running system that is measured. */
export interface Place {
  fleet: Fleet
  ask: AskPage
  /** Address of the database. */
  database: string
  folder: string
}

/** Articles that wait for their vectors. */
export const notEmbedded = (database: string): Promise<number> =>
  withDatabase(database, async client => {
    const { rows } = await client.query('select count(*)::int as n from embeddings where embedded_at is null')
    return rows[0].n
  })

/** A line for `import`. Articles have one time, so that only their match decides the order. */
export function articleLine(
  id: string,
  domain: string,
  fields: { title: string; body: string | null; language: Language; country: string },
): string {
  const url = `https://${domain}/${encodeURIComponent(id)}`
  const outlet = { name: domain, domain }
  return JSON.stringify({ id, url, published_at: '2026-01-01T00:00:00Z', authors: [], outlet, ...fields })
}

/** Ids name the item and the language of an article, only for the measurement. */
export const idOf = (corpus: string, item: string, language: Language) =>
  `${corpus}.${Buffer.from(item).toString('hex').slice(-60)}.${language}`

/** The longest query that clients can send: 191 code points. */
export const asQuery = (text: string) => [...text.normalize('NFC').trim()].slice(0, 191).join('').trim()

/** Queries taken from the larger corpora: enough to resolve one percent. */
const SAMPLE = { sib: 100, xquad: 200, piaf: 300, parliament: 200 }

/** NTREX-128: 52 documents of news in five languages. Asked: the headline. */
export async function readNtrex(data: string): Promise<Corpus> {
  const rows = await readLines(data, 'parallel-ntrex128/ntrex-en-nl-fr-de-lb.jsonl.gz')
  const documents = Map.groupBy(rows, row => text(row, 'doc'))
  const articles = [...documents].flatMap(([item, lines]) =>
    LANGUAGES.map(language => {
      const [title = '', ...body] = lines.map(line => text(line, language))
      return { item, language, title, body: body.join(' ') }
    }),
  )
  const questions = articles.map(({ item, language, title }) => ({ item, language, text: title }))
  return { name: 'ntrex', languages: LANGUAGES, articles, questions }
}

/** SIB-200: 499 sentences in five languages, each an article of a headline. Asked: the sentence. */
async function readSib(data: string): Promise<Corpus> {
  const rows = await readLines(data, 'parallel-sib200/sib200-en-nl-fr-de-lb.jsonl.gz')
  const articles = rows.flatMap(row =>
    LANGUAGES.map(language => ({ item: text(row, 'index_id'), language, title: text(row, language), body: null })),
  )
  const asked = new Set(every(rows, SAMPLE.sib).map(row => text(row, 'index_id')))
  const questions = articles
    .filter(({ item }) => asked.has(item))
    .map(({ item, language, title }) => ({ item, language, text: title }))
  return { name: 'sib', languages: LANGUAGES, articles, questions }
}

/**
 * XQuAD: paragraphs of Wikipedia in English and German, under the title of their article. Asked:
 * questions on them.
 */
async function readXquad(data: string): Promise<Corpus> {
  const rows = await readLines(data, 'qa-xquad-de-en/xquad-de-en.jsonl.gz')
  const languages = ['en', 'de'] as const
  const itemOf = (row: Row) => `${row.article}-${row.p}`
  const articles = rows.flatMap(row =>
    languages.map(language => ({
      item: itemOf(row),
      language,
      title: text(row, 'title').replaceAll('_', ' '),
      body: text(row, `context_${language}`),
    })),
  )
  const all = rows.flatMap(row => list(row.questions).map(question => ({ item: itemOf(row), question })))
  const questions = every(all, SAMPLE.xquad).flatMap(({ item, question }) =>
    languages.map(language => ({ item, language, text: isRow(question) ? text(question, language) : '' })),
  )
  return { name: 'xquad', languages, articles, questions }
}

/**
 * PIAF: paragraphs of the French Wikipedia under the title of their article. Asked: questions on
 * them.
 */
async function readPiaf(data: string): Promise<Corpus> {
  const rows = await readLines(data, 'qa-piaf-fr/piaf-v1.0.jsonl.gz')
  const itemOf = (row: Row) => `${row.title}-${row.p}`
  const articles = rows.map(row => ({
    item: itemOf(row),
    language: 'fr' as const,
    title: text(row, 'title'),
    body: text(row, 'context'),
  }))
  const all = rows.flatMap(row => list(row.questions).map(question => ({ item: itemOf(row), question })))
  const questions = every(all, SAMPLE.piaf).map(({ item, question }) => ({
    item,
    language: 'fr' as const,
    text: typeof question === 'string' ? question : '',
  }))
  return { name: 'piaf', languages: ['fr'], articles, questions }
}

/**
 * Questions to Belgian ministers in Dutch and French; the first sentence stands for a headline, and
 * is asked.
 */
async function readParliament(data: string): Promise<Corpus> {
  const rows = await readLines(data, 'corpus-be-parliament-2020/be_parliament_2020.jsonl.gz')
  const languages = ['nl', 'fr'] as const
  const distinct = [...Map.groupBy(rows, row => String(row.dup_group)).values()].flatMap(group => group.slice(0, 1))
  const articles = every(distinct, SAMPLE.parliament).flatMap(row =>
    languages.map(language => {
      const whole = text(row, language)
      const title = /^.{20,190}?[.?!](?=\s|[A-Z])/su.exec(whole)?.[0] ?? whole.slice(0, 120)
      return { item: text(row, 'id'), language, title, body: whole.slice(title.length) }
    }),
  )
  const questions = articles.map(({ item, language, title }) => ({ item, language, text: title }))
  return { name: 'parliament', languages, articles, questions }
}

/** The corpora beside NTREX. A missing one is left out with a sentence. */
export async function readOthers(data: string): Promise<Corpus[]> {
  const corpora: Corpus[] = []
  for (const read of [readSib, readXquad, readPiaf, readParliament]) {
    try {
      corpora.push(await read(data))
    } catch (error) {
      say(`left out: ${error instanceof Error ? error.message : error}`)
    }
  }
  return corpora
}

type Row = Record<string, unknown>

const isRow = (value: unknown): value is Row => typeof value === 'object' && value !== null
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
const text = (row: Row, field: string): string => String(row[field] ?? '').trim()

/** A given number of a list's items, evenly spread. */
function every<T>(all: T[], count: number): T[] {
  const step = Math.max(1, all.length / count)
  return Array.from({ length: Math.min(count, all.length) }, (_, index) => all[Math.floor(index * step)]!)
}

const readLines = (data: string, file: string): Promise<Row[]> => readJsonLines(join(data, file))
