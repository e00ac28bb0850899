import pg from 'pg'
import { createPool, type Pool } from '../../../shared/postgres/pool.ts'
import type { PeerDocument } from './documents.ts'
import { LIMIT_MS, OverLimit, type Peer } from './peer.ts'
import type { PeerQuestion } from './questions.ts'

/**
 * Full text as the manual of Postgres shows it: one table, a `tsvector` of the title and one of
 * everything, a GIN index on each, btrees on the columns that filter and sort; the planner decides.
 * On the same server as Perscope.
 *
 * @param server address of a database on the server
 * @param name of the database that it gets
 */
export async function openPostgres(server: string, name: string): Promise<Peer> {
  const url = new URL(server)
  url.pathname = `/${name}`
  const admin = new pg.Client(server)
  await admin.connect()
  let title = ''
  try {
    const { rows } = await admin.query<{ server_version: string }>('show server_version')
    title = `Postgres ${rows[0]!.server_version.split(' ')[0]}`
    const exists = (await admin.query('select from pg_database where datname = $1', [name])).rowCount !== 0
    if (!exists) await admin.query(`create database ${name}`)
  } finally {
    await admin.end()
  }
  const pool = createPool(url.href, 'bench peer', () => {}, { max: 1, statementTimeout: LIMIT_MS })
  const builder = createPool(url.href, 'bench peer', () => {}, { max: 1, statementTimeout: 0 })
  await builder.query(TABLE)
  const built = (await builder.query("select to_regclass('finished') as name")).rows[0].name !== null
  // What an interrupted run left.
  if (!built) await builder.query('truncate articles')
  return {
    key: 'postgres',
    title,
    settings: 'one table, two tsvectors, GIN on each, btrees; the planner decides; the server and settings of Perscope',
    built,
    add: documents => insert(builder, documents),
    async finish() {
      for (const index of INDEXES) await builder.query(index)
      await builder.query('vacuum analyze articles')
      await builder.query('create table finished ()')
    },
    ask: question => ask(pool, question),
    async close() {
      await pool.end()
      await builder.end()
    },
  }
}

const TABLE = `
  create table if not exists articles (
    seq          int primary key,
    id           text collate "C" not null,
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
  'create index if not exists articles_title_terms on articles using gin (title_terms)',
  'create index if not exists articles_terms on articles using gin (terms)',
  'create index if not exists articles_author_nos on articles using gin (author_nos)',
  'create index if not exists articles_published_desc on articles (published_at desc nulls last, id desc)',
  'create index if not exists articles_published_asc on articles (published_at asc nulls last, id asc)',
  'create index if not exists articles_ingested on articles (ingested_at, id)',
  'create index if not exists articles_publisher on articles (publisher_no)',
  'create index if not exists articles_place on articles (country, language)',
]

async function insert(pool: Pool, documents: PeerDocument[]): Promise<void> {
  await pool.query(
    `insert into articles
     select seq, id, published_at, ingested_at, publisher_no, author_nos::int[], author_nos <> '{}', country, language,
       title_terms::tsvector, terms::tsvector, row
     from unnest($1::int[], $2::text[], $3::timestamptz[], $4::timestamptz[], $5::int[], $6::text[], $7::text[], $8::text[],
                 $9::text[], $10::text[], $11::text[])
       as d (seq, id, published_at, ingested_at, publisher_no, author_nos, country, language, title_terms, terms, row)`,
    [
      documents.map(one => one.seq),
      documents.map(one => one.id),
      documents.map(one => one.publishedAt),
      documents.map(one => one.ingestedAt),
      documents.map(one => one.publisherNo),
      documents.map(one => `{${one.authorNos.join(',')}}`),
      documents.map(one => one.country),
      documents.map(one => one.language),
      documents.map(one => termsOf([one.title], one.titleKeys)),
      documents.map(one => termsOf([one.title, one.body], one.keys)),
      documents.map(one => one.row),
    ],
  )
}

/**
 * Words have positions, with a gap between texts. Keys begin with a capital letter, unlike words,
 * and have none.
 */
function termsOf(texts: string[][], keys: string[]): string {
  const lexemes: Lexemes = new Map(keys.map(key => [`K${key}`, []]))
  let position = 1
  for (const words of texts) {
    for (const word of words) {
      const positions = lexemes.get(word)
      if (positions === undefined) lexemes.set(word, [position])
      else positions.push(position)
      position++
    }
    position++
  }
  return writeTsvector(lexemes)
}

async function ask(pool: Pool, question: PeerQuestion) {
  const { where, values } = conditionsOf(question)
  const { sort, order, cap, limit } = question
  const start = performance.now()
  try {
    const page = await pool.query<{ seq: number; row: string }>(
      `select seq, row from articles where ${[...where, ...afterOf(question, values)].join(' and ') || 'true'}
       order by ${sort} ${order} nulls last, id ${order} limit ${limit}`,
      values,
    )
    let total: number | null = null
    if (cap !== null) {
      const { rows } = await pool.query<{ count: number }>(
        `select count(*)::int as count
         from (select from articles where ${where.join(' and ') || 'true'} limit ${cap}) as found`,
        conditionsOf(question).values,
      )
      total = rows[0]!.count
    }
    const ms = performance.now() - start
    return { seqs: page.rows.map(one => one.seq), rows: page.rows.map(one => one.row), total, ms }
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === '57014') throw new OverLimit('cancelled')
    throw error
  }
}

function conditionsOf(question: PeerQuestion): { where: string[]; values: unknown[] } {
  const values: unknown[] = []
  const where: string[] = []
  const value = (one: unknown) => `$${values.push(one)}`
  const { match, scope, countries, languages, hasAuthor, publisherNos, authorNos } = question
  const { published, ingestedFrom } = question
  const query = tsqueryOf(match)
  if (query !== null) where.push(`${scope === 'title' ? 'title_terms' : 'terms'} @@ ${value(query)}::tsquery`)
  if (countries !== null) where.push(`country = any (${value(countries)}::text[])`)
  if (languages !== null) where.push(`language = any (${value(languages)}::text[])`)
  if (hasAuthor !== null) where.push(`has_author = ${value(hasAuthor)}`)
  if (publisherNos !== null) where.push(`publisher_no = any (${value(publisherNos)}::int[])`)
  if (authorNos !== null) where.push(`author_nos && ${value(authorNos)}::int[]`)
  if (published !== null) {
    where.push(
      `published_at >= ${value(published.from)}::timestamptz`,
      `published_at < ${value(published.to)}::timestamptz`,
    )
  }
  if (ingestedFrom !== null) where.push(`ingested_at >= ${value(ingestedFrom)}::timestamptz`)
  return { where, values }
}

function tsqueryOf(match: PeerQuestion['match']): string | null {
  if (match.kind === 'all') return null
  if (match.kind === 'keys') return match.keys.map(key => quote(`K${key}`)).join(' | ')
  const phrase = (words: string[]) => `(${words.map(quote).join(' <-> ')})`
  return [...match.required.map(phrase), ...match.excluded.map(words => `!${phrase(words)}`)].join(' & ')
}

function afterOf({ after, sort, order }: PeerQuestion, values: unknown[]): string[] {
  if (after === null) return []
  const beyond = order === 'asc' ? '>' : '<'
  const id = `$${values.push(after.id)}`
  if (after.value === null) return [`${sort} is null and id ${beyond} ${id}`]
  const value = `$${values.push(after.value)}::timestamptz`
  return [`((${sort}, id) ${beyond} (${value}, ${id})${sort === 'published_at' ? ' or published_at is null' : ''})`]
}

/** Lexemes with their positions in ascending order; empty: without. */
type Lexemes = Map<string, number[]>

/** The text form of a `tsvector`. Positions must be within its limits, 16,383 and 255 a lexeme. */
function writeTsvector(lexemes: Lexemes): string {
  const parts: string[] = []
  for (const [lexeme, positions] of lexemes) {
    parts.push(positions.length === 0 ? quote(lexeme) : `${quote(lexeme)}:${positions.join(',')}`)
  }
  return parts.join(' ')
}

/** A lexeme as `tsvector` and `tsquery` read it. */
function quote(lexeme: string): string {
  return `'${lexeme.replace(/['\\]/g, '$&$&')}'`
}
