import { existsSync } from 'node:fs'
import { lstat, rename } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { filterWords, type PeerDocument } from '../documents.ts'
import { LIMIT_MS, OverLimit, type Peer } from '../peer.ts'
import { filtersOf, type PeerQuestion } from '../questions.ts'

/**
 * SQLite's FTS5 in this process. Documents are numbered in the order of publication, which FTS5
 * walks in either direction and stops when a page is full; filters are words of a column; other
 * orders are a join and a sort.
 *
 * @param file of the database; created when missing
 */
export async function openSqlite(file: string): Promise<Peer> {
  const built = existsSync(file)
  const unfinished = `${file}.new`
  let database = new DatabaseSync(built ? file : unfinished)
  const version = database.prepare('select sqlite_version() as version').get()?.version
  if (!built) database.exec(TABLES)
  const settings = () => database.exec(`pragma mmap_size = ${MMAP}; pragma cache_size = -${CACHE_KB}`)
  settings()
  const present = Number(database.prepare('select coalesce(max(place), 0) as n from articles').get()?.n)
  return {
    key: 'sqlite',
    title: `SQLite ${version}, FTS5`,
    settings: `in process (node:sqlite); one contentless table, detail=full, optimised; rowid in the order of publication; filters as words; cache_size ${CACHE_KB / 1024} MB, mmap`,
    ...{ built, present },
    async add(documents) {
      insert(database, documents)
    },
    async finish() {
      database.exec("insert into words (words) values ('optimize'); analyze")
      database.close()
      await rename(unfinished, file)
      database = new DatabaseSync(file)
      settings()
    },
    async ask(question) {
      const processor = process.cpuUsage()
      const start = performance.now()
      const page = pageOf(database, question)
      // SQLite runs in this thread, so nothing can interrupt it.
      if (performance.now() - start > LIMIT_MS) throw new OverLimit('took too long')
      const total = question.cap === null ? null : countOf(database, question, question.cap)
      const ms = performance.now() - start
      const { user, system } = process.cpuUsage(processor)
      const cpuMs = (user + system) / 1_000
      return { seqs: page.map(one => one.seq), rows: page.map(one => one.row), total, ms, cpuMs }
    },
    async size() {
      // Its memory is this process's.
      return { memory: null, disk: (await lstat(file)).size / 1e6 }
    },
    async close() {
      database.close()
    },
  }
}

const CACHE_KB = 512 * 1024
const MMAP = 8 * 1024 ** 3

const TABLES = `
  pragma journal_mode = off;
  pragma synchronous = off;
  create virtual table if not exists words using fts5 (title, body, title_keys, keys, filters,
    content = '', columnsize = 0, detail = full, tokenize = 'unicode61 remove_diacritics 0');
  create table if not exists articles (
    place integer primary key, seq integer not null, turn integer not null, row text not null);
  create unique index if not exists articles_turn on articles (turn);`

function insert(database: DatabaseSync, documents: PeerDocument[]): void {
  const words = database.prepare(
    'insert into words (rowid, title, body, title_keys, keys, filters) values (?, ?, ?, ?, ?, ?)',
  )
  const article = database.prepare('insert into articles (place, seq, turn, row) values (?, ?, ?, ?)')
  database.exec('begin')
  for (const one of documents) {
    words.run(
      one.place,
      one.title.join(' '),
      one.body.join(' '),
      one.titleKeys.join(' '),
      one.keys.join(' '),
      filterWords(one).join(' '),
    )
    article.run(one.place, one.seq, one.turn, one.row)
  }
  database.exec('commit')
}

/** Bounds of places, half-open; a page in ascending order ends with those without a date. */
interface Stretch {
  from: number
  to: number
}

function ranges({ sort, order, places, after, undated }: PeerQuestion): Stretch[] {
  const all = places ?? { from: 1, to: Number.MAX_SAFE_INTEGER }
  const place = sort === 'published_at' ? (after?.place ?? null) : null
  if (order === 'desc' || places !== null) {
    if (place === null) return [all]
    return [order === 'desc' ? { from: all.from, to: place } : { from: place + 1, to: all.to }]
  }
  const dated = { from: undated + 1, to: all.to }
  const none = { from: 1, to: undated + 1 }
  if (place === null) return [dated, none]
  return place > undated ? [{ from: place + 1, to: all.to }, none] : [{ from: place + 1, to: undated + 1 }]
}

interface Found {
  seq: number
  row: string
}

const foundOf = ({ seq, row }: Record<string, unknown>): Found => ({ seq: Number(seq), row: String(row) })

function pageOf(database: DatabaseSync, question: PeerQuestion): Found[] {
  const { sort, order, limit } = question
  if (sort === 'ingested_at') return pageByTurn(database, question)
  const query = queryOf(question)
  const page: Found[] = []
  for (const { from, to } of ranges(question)) {
    const rows =
      query === null
        ? database
            .prepare(`select seq, row from articles where place >= ? and place < ? order by place ${order} limit ?`)
            .all(from, to, limit - page.length)
        : database
            .prepare(
              `select a.seq, a.row from (
                 select rowid as place from words where words match ? and rowid >= ? and rowid < ?
                 order by rowid ${order} limit ?
               ) w cross join articles a on a.place = w.place`,
            )
            .all(query, from, to, limit - page.length)
    page.push(...rows.map(foundOf))
    if (page.length === limit) break
  }
  return page
}

function pageByTurn(database: DatabaseSync, question: PeerQuestion): Found[] {
  const { order, limit, after } = question
  const { from, to } = question.places ?? { from: 1, to: Number.MAX_SAFE_INTEGER }
  const first = Math.max(question.turnFrom ?? 1, order === 'asc' ? (after?.turn ?? 0) + 1 : 1)
  const end = order === 'desc' ? (after?.turn ?? Number.MAX_SAFE_INTEGER) : Number.MAX_SAFE_INTEGER
  const query = queryOf(question)
  const rows =
    query === null
      ? database
          .prepare(
            `select seq, row from articles where turn >= ? and turn < ? and place >= ? and place < ?
             order by turn ${order} limit ?`,
          )
          .all(first, end, from, to, limit)
      : database
          .prepare(
            `select a.seq, a.row from words w join articles a on a.place = w.rowid
             where words match ? and w.rowid >= ? and w.rowid < ? and a.turn >= ? and a.turn < ?
             order by a.turn ${order} limit ?`,
          )
          .all(query, from, to, first, end, limit)
  return rows.map(foundOf)
}

function countOf(database: DatabaseSync, question: PeerQuestion, cap: number): number {
  const { from, to } = question.places ?? { from: 1, to: Number.MAX_SAFE_INTEGER }
  const query = queryOf(question)
  const { turnFrom } = question
  const row =
    query === null
      ? database
          .prepare(
            'select count(*) as n from (select 1 from articles where place >= ? and place < ? and turn >= ? limit ?)',
          )
          .get(from, to, turnFrom ?? 1, cap)
      : turnFrom === null
        ? database
            .prepare(
              'select count(*) as n from (select 1 from words where words match ? and rowid >= ? and rowid < ? limit ?)',
            )
            .get(query, from, to, cap)
        : database
            .prepare(
              `select count(*) as n from (
                 select 1 from words w join articles a on a.place = w.rowid
                 where words match ? and w.rowid >= ? and w.rowid < ? and a.turn >= ? limit ?)`,
            )
            .get(query, from, to, turnFrom, cap)
  return Number(row?.n)
}

function queryOf(question: PeerQuestion): string | null {
  const parts = filtersOf(question).map(words => `filters : (${words.join(' OR ')})`)
  const { match, scope } = question
  if (match.kind === 'keys')
    parts.unshift(`${scope === 'title' ? 'title_keys' : 'keys'} : (${match.keys.map(quoted).join(' OR ')})`)
  if (match.kind === 'words') {
    const phrase = (words: string[]) => quoted(words.join(' '))
    const required = match.required.map(phrase).join(' AND ')
    const excluded = match.excluded.map(phrase).join(' OR ')
    const columns = scope === 'title' ? 'title' : '{title body}'
    parts.unshift(`${columns} : (${excluded === '' ? required : `(${required}) NOT (${excluded})`})`)
  }
  return parts.length === 0 ? null : parts.map(part => `(${part})`).join(' AND ')
}

const quoted = (text: string) => `"${text}"`
