import { join } from 'node:path'
import { type Connection, createConnection, SqlError } from 'mariadb'
import type { EmbeddedServers } from '../../../../infra/embedded/servers.ts'
import type { Orders, PeerDocument } from '../documents.ts'
import { riseOf } from '../expression.ts'
import { LIMIT_MS, OverLimit, type Peer } from '../peer.ts'
import type { PeerQuestion } from '../questions.ts'
import { diskMb, memoryMb, processorMs } from '../usage.ts'
import { MARIADB_SETTINGS, startMariadb } from './server.ts'

/**
 * MariaDB's full text as its manual shows it: one InnoDB table, FULLTEXT indexes over the columns
 * that are searched together, btrees on the columns that filter and sort; the planner decides.
 * Documents are numbered in the order of publication.
 *
 * @param folder for its data
 * @param name of the database that it gets
 * @returns null, with a sentence to `report`, where there is no MariaDB
 */
export async function openMariadb(
  folder: string,
  name: string,
  orders: Orders,
  servers: EmbeddedServers,
  running: { signal: AbortSignal; report: (sentence: string) => void },
): Promise<Peer | null> {
  const started = await startMariadb(folder, servers, running)
  if (started === null) return null
  const connection = await createConnection({
    host: '127.0.0.1',
    port: started.port,
    user: 'root',
    bigIntAsNumber: true,
    bulk: true,
    timezone: 'Z',
  })
  const stop = async () => {
    await connection.end().catch(() => connection.destroy())
    await started.server.stop()
  }
  try {
    await connection.query(`create database if not exists ${name}`)
    await connection.query(`use ${name}`)
    const built = (await connection.query("show tables like 'finished'")).length > 0
    if (!built) for (const table of TABLES) await connection.query(table)
    const [{ present }] = await connection.query('select coalesce(max(FTS_DOC_ID), 0) as present from articles')
    const pid = () => started.server.pid() ?? 0
    const [{ version }] = await connection.query('select version() as version')
    await connection.query(`set session max_statement_time = ${built ? LIMIT_MS / 1_000 : 0}`)
    return {
      key: 'mariadb',
      title: `MariaDB ${String(version).split('-')[0]}`,
      settings: `InnoDB, four FULLTEXT indexes, btrees; the planner decides; ${MARIADB_SETTINGS}`,
      ...{ built, present: Number(present) },
      add: documents => insert(connection, documents, orders),
      async finish() {
        for (const index of INDEXES) await connection.query(`alter table articles ${index}`)
        await connection.query('analyze table articles')
        await connection.query('create table finished (one int)')
        await connection.query(`set session max_statement_time = ${LIMIT_MS / 1_000}`)
      },
      ask: question => ask(connection, pid(), question),
      async size() {
        return { memory: memoryMb([pid()]), disk: await diskMb(join(folder, 'data', name)) }
      },
      close: stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

// InnoDB numbers full-text documents by a column of this name, if there is one.
const TABLES = [
  `create table if not exists articles (
    FTS_DOC_ID   bigint unsigned not null primary key,
    seq          int not null,
    rise         int not null,
    turn         int not null,
    country      char(2) not null,
    language     char(2) not null,
    has_author   boolean not null,
    publisher_no int not null,
    title        text not null,
    body         mediumtext not null,
    title_keys   text not null,
    word_keys    mediumtext not null,
    row_json     text character set utf8mb4 not null
  ) engine = InnoDB character set latin1 collate latin1_bin`,
  `create table if not exists article_authors (
    author_no   int not null,
    document_id bigint unsigned not null,
    primary key (author_no, document_id)
  ) engine = InnoDB`,
]

const INDEXES = [
  'add unique index FTS_DOC_ID_INDEX (FTS_DOC_ID), add index (rise), add index (turn), add index (publisher_no), add index (country, language)',
  // One at a time: InnoDB makes no more than one with the table open.
  'add fulltext index (title)',
  'add fulltext index (title, body)',
  'add fulltext index (title_keys)',
  'add fulltext index (word_keys)',
]

async function insert(connection: Connection, documents: PeerDocument[], orders: Orders): Promise<void> {
  const authors = documents.flatMap(one => one.authorNos.map(no => [no, one.place]))
  await connection.beginTransaction()
  await connection.batch(
    'insert into articles values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
    documents.map(one => [
      ...[one.place, one.seq, riseOf(one.place, orders), one.turn],
      ...[one.country, one.language, one.authorNos.length > 0, one.publisherNo],
      ...[one.title.join(' '), one.body.join(' '), one.titleKeys.join(' '), one.keys.join(' '), one.row],
    ]),
  )
  if (authors.length > 0) await connection.batch('insert into article_authors values (?, ?)', authors)
  await connection.commit()
}

async function ask(connection: Connection, pid: number, question: PeerQuestion) {
  const { sort, order, cap, limit } = question
  const { where, values } = conditionsOf(question)
  const after = afterOf(question)
  const by = sort === 'ingested_at' ? 'turn' : order === 'asc' ? 'rise' : 'FTS_DOC_ID'
  const processor = processorMs([pid])
  const start = performance.now()
  try {
    const page: { seq: number; row_json: string }[] = await connection.query(
      `select seq, row_json from articles where ${[...where, ...after].join(' and ') || 'true'} order by ${by} ${order} limit ${limit}`,
      values,
    )
    let total: number | null = null
    if (cap !== null) {
      const [{ n }] = await connection.query(
        `select count(*) as n from (select 1 from articles where ${where.join(' and ') || 'true'} limit ${cap}) as found`,
        values,
      )
      total = Number(n)
    }
    const ms = performance.now() - start
    const cpuMs = processorMs([pid]) - processor
    return { seqs: page.map(one => one.seq), rows: page.map(one => one.row_json), total, ms, cpuMs }
  } catch (error) {
    if (error instanceof SqlError && error.errno === STATEMENT_TIMEOUT) throw new OverLimit('interrupted')
    if (error instanceof SqlError && error.errno === RESULT_TOO_LARGE) throw new OverLimit('given up')
    throw error
  }
}

const STATEMENT_TIMEOUT = 1969
/**
 * InnoDB keeps the documents of a full-text query in memory, and gives up at
 * `innodb_ft_result_cache_limit`.
 */
const RESULT_TOO_LARGE = 188

function conditionsOf(question: PeerQuestion): { where: string[]; values: unknown[] } {
  const values: unknown[] = []
  const where: string[] = []
  const one = (condition: string, ...given: unknown[]) => {
    where.push(condition)
    values.push(...given)
  }
  const { match, scope, countries, languages, hasAuthor, publisherNos, authorNos, places, turnFrom } = question
  const among = (list: unknown[]) => `(${list.map(() => '?').join(', ')})`
  if (match.kind === 'keys') {
    const column = scope === 'title' ? 'title_keys' : 'word_keys'
    one(`match (${column}) against (? in boolean mode)`, match.keys.join(' '))
  }
  if (match.kind === 'words') {
    const phrase = (words: string[]) => (words.length === 1 ? words[0]! : `"${words.join(' ')}"`)
    const text = [
      ...match.required.map(words => `+${phrase(words)}`),
      ...match.excluded.map(words => `-${phrase(words)}`),
    ].join(' ')
    one(`match (${scope === 'title' ? 'title' : 'title, body'}) against (? in boolean mode)`, text)
  }
  if (countries !== null) one(`country in ${among(countries)}`, ...countries)
  if (languages !== null) one(`language in ${among(languages)}`, ...languages)
  if (hasAuthor !== null) one('has_author = ?', hasAuthor)
  if (publisherNos !== null) one(`publisher_no in ${among(publisherNos)}`, ...publisherNos)
  if (authorNos !== null)
    one(`FTS_DOC_ID in (select document_id from article_authors where author_no in ${among(authorNos)})`, ...authorNos)
  if (places !== null) one('FTS_DOC_ID >= ? and FTS_DOC_ID < ?', places.from, places.to)
  if (turnFrom !== null) one('turn >= ?', turnFrom)
  return { where, values }
}

/** The numbers are ours, so they may stand in the statement. */
function afterOf({ after, sort, order, undated }: PeerQuestion): string[] {
  if (after === null) return []
  const beyond = order === 'asc' ? '>' : '<'
  if (sort === 'ingested_at') return [`turn ${beyond} ${after.turn}`]
  if (order === 'desc') return [`FTS_DOC_ID < ${after.place}`]
  return after.place > undated
    ? [`(rise > ${after.place})`]
    : [`FTS_DOC_ID > ${after.place} and FTS_DOC_ID <= ${undated}`]
}
