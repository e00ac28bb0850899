import { type Bench, inNewDatabase } from '#bench/servers'
import { COUNTRIES } from '#shared/articles/article'
import { createPool, type Pool } from '#shared/postgres/pool'
import type { PeerDocument, PeerQuestion } from './documents.ts'
import { LIMIT_MS, type Peer, type PeerAnswer, type ShownArticle } from './peer.ts'

/**
 * Full-text search as the manual of Postgres shows it. One table has a `tsvector` of the title, and
 * a `tsvector` of title and body. Each has a GIN index. The columns that filter and sort have
 * btrees, and Postgres's planner chooses among the indexes. The table is on the same server as
 * Perscope's tables.
 */
export const withPostgres = (bench: Bench, measure: (peer: Peer) => Promise<void>): Promise<void> =>
  inNewDatabase(bench, 'bench_peer', null, async url => {
    const pool = createPool(url, 'bench peer', () => {}, { max: 1, statementTimeout: LIMIT_MS })
    const builder = createPool(url, 'bench peer', () => {}, { max: 1, statementTimeout: 0 })
    try {
      await builder.query(TABLE)
      await measure({
        key: 'postgres',
        title: `Postgres: one table, two tsvectors, GIN on each, btrees; Perscope's server and settings`,
        add: documents => insert(builder, documents),
        async finish() {
          for (const index of INDEXES) await builder.query(`create index ${index}`)
          await builder.query('vacuum analyze articles')
        },
        ask: question => ask(pool, question),
        pids: async () =>
          (await pool.query('select pg_backend_pid() as pid')).rows.map(row => row.pid),
        async disk() {
          const { rows } = await builder.query(
            'select pg_database_size(current_database())::float8 as bytes',
          )
          return rows[0].bytes / 1e6
        },
      })
    } finally {
      await pool.end()
      await builder.end()
    }
  })

const TABLE = `
  create table articles (
    id           text collate "C" primary key,
    published_at timestamptz(3),
    ingested_at  timestamptz(3) not null,
    publisher_no int not null,
    author_nos   int[] not null,
    has_author   boolean not null,
    country      text not null,
    language     text not null,
    title_terms  tsvector not null,
    terms        tsvector not null,
    row          text not null
  )`

const INDEXES = [
  'articles_title_terms on articles using gin (title_terms)',
  'articles_terms on articles using gin (terms)',
  'articles_author_nos on articles using gin (author_nos)',
  'articles_published_desc on articles (published_at desc nulls last, id desc)',
  'articles_published_asc on articles (published_at asc nulls last, id asc)',
  'articles_ingested on articles (ingested_at, id)',
  'articles_publisher on articles (publisher_no)',
  'articles_place on articles (country, language)',
]

async function insert(pool: Pool, documents: PeerDocument[]): Promise<void> {
  const rows = documents.map(({ title, body, titleKeys, keys, ...document }) => ({
    ...document,
    title_terms: termsOf([title], titleKeys),
    terms: termsOf([title, body], keys),
    has_author: document.author_nos.length > 0,
  }))
  await pool.query(
    'insert into articles select * from json_populate_recordset(null::articles, $1)',
    [JSON.stringify(rows)],
  )
}

/**
 * Writes a `tsvector` as text. Words have positions, with a gap between two texts. Keys begin with
 * a capital letter, unlike words, and have no positions.
 */
function termsOf(texts: string[][], keys: string[]): string {
  const lexemes = keys.map(key => quote(`K${key}`))
  let position = 1
  for (const words of texts) {
    for (const word of words) lexemes.push(`${quote(word)}:${position++}`)
    position++
  }
  return lexemes.join(' ')
}

async function ask(pool: Pool, question: PeerQuestion): Promise<PeerAnswer | null> {
  const { sort, order, cap, perPage } = question
  const { where, values } = conditionsOf(question)
  const all = [...values]
  const page = `select row from articles where ${[...where, ...afterOf(question, values)].join(' and ')}
    order by ${sort} ${order} nulls last, id ${order} limit ${perPage}`
  const count = `select count(*)::int as count from (select from articles where ${where.join(' and ')} limit ${cap}) as found`
  const start = performance.now()
  try {
    const { rows } = await pool.query<{ row: string }>(page, values)
    const total =
      cap === null ? null : (await pool.query<{ count: number }>(count, all)).rows[0]!.count
    const ms = performance.now() - start
    return { rows: rows.map(({ row }): ShownArticle => JSON.parse(row)), total, ms }
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === '57014') return null
    throw error
  }
}

function conditionsOf(question: PeerQuestion): { where: string[]; values: unknown[] } {
  const values: unknown[] = []
  const where = ['true']
  const add = (condition: (value: string) => string, given: unknown) => {
    if (given !== null) where.push(condition(`$${values.push(given)}`))
  }
  const { searchIn, countries, reach } = question
  add(
    value => `${searchIn === 'title' ? 'title_terms' : 'terms'} @@ ${value}::tsquery`,
    tsqueryOf(question.match),
  )
  add(
    value => `country = any (${value}::text[])`,
    countries.length === COUNTRIES.length ? null : countries,
  )
  add(value => `language = any (${value}::text[])`, question.languages)
  add(value => `has_author = ${value}`, question.hasAuthor)
  add(value => `publisher_no = any (${value}::int[])`, question.publisherNos)
  add(value => `author_nos && ${value}::int[]`, question.authorNos)
  add(value => `published_at >= ${value}::timestamptz`, reach.publishedAfter)
  add(value => `published_at <= ${value}::timestamptz`, reach.publishedBefore)
  add(value => `ingested_at >= ${value}::timestamptz`, question.ingestedAfter)
  return { where, values }
}

function tsqueryOf(match: PeerQuestion['match']): string | null {
  if (match.kind === 'all') return null
  if (match.kind === 'keys') return match.keys.map(key => quote(`K${key}`)).join(' | ')
  const phrase = (words: string[]) => `(${words.map(quote).join(' <-> ')})`
  return [...match.required.map(phrase), ...match.excluded.map(words => `!${phrase(words)}`)].join(
    ' & ',
  )
}

function afterOf({ after, sort, order }: PeerQuestion, values: unknown[]): string[] {
  if (after === null) return []
  const beyond = order === 'asc' ? '>' : '<'
  const id = `$${values.push(after.id)}`
  if (after.value === null) return [`${sort} is null and id ${beyond} ${id}`]
  const value = `$${values.push(new Date(after.value))}::timestamptz`
  return [
    `((${sort}, id) ${beyond} (${value}, ${id})${sort === 'published_at' ? ' or published_at is null' : ''})`,
  ]
}

/** Quotes a lexeme for `tsvector` and `tsquery`. */
const quote = (lexeme: string) => `'${lexeme.replace(/['\\]/g, '$&$&')}'`
