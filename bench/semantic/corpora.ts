import { readSet } from '#bench/json-lines'
import type { Client } from '#bench/load'
import type { EmbeddedServers } from '#infra/embedded/servers'
import { LANGUAGES, type Language } from '#shared/articles/article'
import { withDatabase } from '#test/database'
import type { Fleet } from '#test/fleet'

/** An article of a test set. Articles with the same `item` say the same in different languages. */
interface CorpusArticle {
  item: string
  language: Language
  title: string
  body: string | null
  /** Questions in the language of the article. The articles of its `item` answer them. */
  asked: string[]
}

export interface Corpus {
  name: string
  languages: readonly Language[]
  articles: CorpusArticle[]
  questions: { item: string; language: Language; text: string }[]
}

/** The outlet of a test set in a language. Searches can choose it. */
export const domainOf = (corpus: string, language: Language): string =>
  `${corpus}-${language}.example`

/** Asks for a page, and returns the ids of its articles in their order. */
export type AskPage = (parameters: Record<string, string>) => Promise<string[]>

/** The running system that the bench measures. */
export interface Place {
  fleet: Fleet
  client: Client
  ask: AskPage
  /** Address of the database. */
  database: string
  /** The `DATA_DIR` of the servers. */
  folder: string
  servers: EmbeddedServers
  /** The port at which the API publishes its counters. */
  metricsPort: number
}

/** The number of articles that have no vector yet. */
export const notEmbedded = (database: string): Promise<number> =>
  withDatabase(database, async client => {
    const { rows } = await client.query(
      'select count(*)::int as n from embeddings where embedded_at is null',
    )
    return rows[0].n
  })

/**
 * The id contains the item and the language, so that the bench recognises the article in an answer.
 * The system does not read them.
 */
export const idOf = (corpus: string, item: string, language: Language): string =>
  `${corpus}.${Buffer.from(item).toString('hex').slice(-60)}.${language}`

interface Reading {
  file: string
  languages: readonly Language[]
  /**
   * How many questions are asked in a language. That is enough to tell differences of one percent.
   */
  sample: number
  articles(rows: Row[]): CorpusArticle[]
}

type Row = Record<string, unknown>

const text = (row: Row, field: string): string => String(row[field] ?? '').trim()

/** The test sets, under their names in figures. */
const CORPORA: Record<string, Reading> = {
  /** NTREX-128: 52 news documents in five languages. The question is the headline. */
  ntrex: {
    file: 'parallel-ntrex128/ntrex-en-nl-fr-de-lb.jsonl.gz',
    languages: LANGUAGES,
    sample: Infinity,
    articles: rows =>
      [...Map.groupBy(rows, row => text(row, 'doc'))].flatMap(([item, lines]) =>
        LANGUAGES.map(language => {
          const [title = '', ...body] = lines.map(line => text(line, language))
          return { item, language, title, body: body.join(' '), asked: [title] }
        }),
      ),
  },
  /**
   * SIB-200: 499 sentences in five languages. Each sentence is the headline of an article, and a
   * question.
   */
  sib: {
    file: 'parallel-sib200/sib200-en-nl-fr-de-lb.jsonl.gz',
    languages: LANGUAGES,
    sample: 100,
    articles: rows =>
      rows.flatMap(row =>
        LANGUAGES.map(language => {
          const title = text(row, language)
          return { item: text(row, 'index_id'), language, title, body: null, asked: [title] }
        }),
      ),
  },
  /**
   * XQuAD: paragraphs of Wikipedia in English and German, under the title of their article. It has
   * questions about them.
   */
  xquad: {
    file: 'qa-xquad-de-en/xquad-de-en.jsonl.gz',
    languages: ['en', 'de'],
    sample: 200,
    articles: rows =>
      rows.flatMap(row =>
        (['en', 'de'] as const).map(language => ({
          item: `${row.article}-${row.p}`,
          language,
          title: text(row, 'title').replaceAll('_', ' '),
          body: text(row, `context_${language}`),
          asked: (row.questions as Row[]).map(question => text(question, language)),
        })),
      ),
  },
  /**
   * PIAF: paragraphs of the French Wikipedia, under the title of their article. It has questions
   * about them.
   */
  piaf: {
    file: 'qa-piaf-fr/piaf-v1.0.jsonl.gz',
    languages: ['fr'],
    sample: 300,
    articles: rows =>
      rows.map(row => ({
        item: `${row.title}-${row.p}`,
        language: 'fr',
        title: text(row, 'title'),
        body: text(row, 'context'),
        asked: row.questions as string[],
      })),
  },
  /**
   * Questions to Belgian ministers in Dutch and French. The first sentence serves as a headline,
   * and as a question.
   */
  parliament: {
    file: 'corpus-be-parliament-2020/be_parliament_2020.jsonl.gz',
    languages: ['nl', 'fr'],
    sample: Infinity,
    articles(rows) {
      const distinct = [...Map.groupBy(rows, row => String(row.dup_group)).values()].map(
        group => group[0]!,
      )
      return every(distinct, 200).flatMap(row =>
        (['nl', 'fr'] as const).map(language => {
          const whole = text(row, language)
          const title = /^.{20,190}?[.?!](?=\s|[A-Z])/su.exec(whole)?.[0] ?? whole.slice(0, 120)
          return {
            item: text(row, 'id'),
            language,
            title,
            body: whole.slice(title.length),
            asked: [title],
          }
        }),
      )
    },
  },
}

/**
 * Reads the test sets of a folder, NTREX first. When a set is missing, it says so on standard error
 * and leaves it out.
 */
export async function readCorpora(data: string): Promise<Corpus[]> {
  const corpora: Corpus[] = []
  for (const [name, { file, languages, sample, articles: articlesOf }] of Object.entries(CORPORA)) {
    const articles = articlesOf(await readSet<Row>(data, file))
    const questions = languages.flatMap(language => {
      const own = articles.filter(article => article.language === language)
      const all = own.flatMap(({ item, asked }) => asked.map(text => ({ item, language, text })))
      return every(all, sample)
    })
    if (articles.length > 0) corpora.push({ name, languages, articles, questions })
  }
  return corpora
}

/** Picks a number of items from a list, evenly spread. */
function every<T>(all: T[], count: number): T[] {
  const step = Math.max(1, all.length / count)
  return Array.from(
    { length: Math.min(count, all.length) },
    (_, index) => all[Math.floor(index * step)]!,
  )
}
