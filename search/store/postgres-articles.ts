import { createHash } from 'node:crypto'
import { wordList } from '../analysis/index.ts'
import { APOSTROPHES, foldName, NAME_RULES } from '../analysis/tokens.ts'
import type { Pace } from '../pace.ts'
import { type Client, columnsOf, type Queryable, readValue } from '../postgres.ts'
import { has } from '../query/expression.ts'
import type { Axis } from '../query/filters.ts'
import { holding, wildcardsOf } from '../query/holds.ts'
import type { Expression } from '../query/parse.ts'
import type { SegmentSource } from '../segment/builder.ts'
import type { NameField, Stated } from '../terms.ts'
import type { ArticleOutlet, Country, Language } from '../vocabulary.ts'
import type {
  ArticleSource,
  ArticleWords,
  Author,
  KnownDays,
  StoredArticle,
  UnflushedArticle,
} from './article-source.ts'
import { allDomains } from './outlet-domains.ts'
import {
  type IndexReads,
  newestOf,
  partsOf,
  type SegmentRange,
  SegmentsChanged,
} from './segment-store.ts'
import { AMONG_WRITERS } from './tombstones.ts'

/**
 * Reads articles from Postgres: tables `articles`, `article_words`, `article_texts`,
 * `article_days`, `publishers`, `authors`.
 */
export function postgresArticles(reads: IndexReads): ArticleSource {
  return {
    async readNew(after, to, wordsVersion) {
      const statement = { name: 'search-new', text: NEW, values: [after, to] }
      const rows = await reads.rows<NewRow>(statement, { lastSeq: to, wordsVersion })
      // A failover may have undone commits. The caller may then know of articles that do not exist
      // any more.
      if (BigInt(rows.length) < to - after && (await readNewest(reads)) < to)
        throw new SegmentsChanged('a failover has undone articles')
      return rows.map(unflushedArticleOf)
    },

    async readStored(seqs, wordsVersion) {
      const statement = { name: 'search-stored', text: STORED, values: [seqs] }
      // A standby may lack an article before the primary shows that it was taken out.
      const isWhole = (rows: unknown[]) => rows.length === new Set(seqs).size
      return reads.rows<StoredArticle>(
        statement,
        { lastSeq: newestOf(seqs), wordsVersion },
        isWhole,
      )
    },

    async readIds(seqs) {
      const statement = { name: 'search-ids', text: IDS, values: [seqs] }
      const rows = await reads.rows<{ seq: bigint; id: string }>(statement, {
        lastSeq: newestOf(seqs),
      })
      return new Map(rows.map(row => [row.seq, row.id]))
    },

    async readOutlets(publisherNos) {
      const statement = { text: OUTLETS, values: [publisherNos] }
      const rows = await reads.rows<ArticleOutlet & { no: number }>(
        statement,
        {},
        hasAll(publisherNos),
      )
      return new Map(rows.map(({ no, name, domain }) => [no, { name, domain }]))
    },

    async readPublishers(domains, { lastSeq, version }) {
      const statement = { name: 'search-publishers', text: PUBLISHERS, values: [domains] }
      const rows = await reads.rows<{ no: number }>(statement, { lastSeq, version })
      return rows.map(({ no }) => no)
    },

    async readAuthors(authorNos) {
      const statement = { text: AUTHORS, values: [authorNos] }
      const rows = await reads.rows<Author & { no: number }>(statement, {}, hasAll(authorNos))
      return new Map(rows.map(({ no, id, name }) => [no, { id, name }]))
    },

    async readNames(field, wanted) {
      const byNo = Array.isArray(wanted)
      const statement = {
        name: `search-${field}-names-${byNo ? 'by-no' : 'after'}`,
        text: namesStatement(field, byNo),
        values: byNo ? [wanted] : [wanted.after, wanted.limit],
      }
      // `after` may miss the newest names on a standby. A search reads these names later by their
      // numbers.
      const isWhole = byNo ? ([row]: NamesRow[]) => hasAll(wanted)(eachOf(row!.nos)) : undefined
      const [row] = await reads.rows<NamesRow>(statement, {}, isWhole)
      return { nos: numbersOf(row!.nos), names: row!.names ?? Buffer.alloc(0) }
    },

    async readDays(lastSeq) {
      const statement = { name: 'search-days', text: DAYS }
      const [row] = await reads.rows<{ lastSeq: bigint; days: KnownDays }>(statement, { lastSeq })
      return row!
    },

    verify: (seqs, verification, version, pace) => verify(reads, seqs, verification, version, pace),

    async readSources(of) {
      if (!Array.isArray(of))
        return reads.newest<SegmentSource>({ text: SOURCES_OF_RANGE, values: [of.first, of.last] })
      const statement = { name: 'search-sources', text: SOURCES, values: [of] }
      const [row] = await reads.rows<SourceColumns>(statement, { lastSeq: newestOf(of) })
      return sourcesOf(row!)
    },

    readWords: range => readWords(reads, range),
  }
}

/** `seq` of the newest article. */
async function readNewest(reads: IndexReads): Promise<bigint> {
  const [row] = await reads.newest<{ last: bigint }>({
    text: 'select last_seq as last from ingest_clock',
  })
  return row!.last
}

/**
 * Whether there is a row for each number. The numbers come from articles, so the primary has all
 * rows. A standby that lags may lack some.
 */
const hasAll = (nos: number[]) => (rows: { no: number }[]) =>
  new Set(rows.map(row => row.no)).size >= new Set(nos).size

interface NamesRow {
  nos: Buffer | null
  names: Buffer | null
}

const eachOf = (nos: Buffer | null) => Array.from(numbersOf(nos), no => ({ no }))

/** The columns of a `SegmentSource` from `articles a`. Times in ms since 1970. */
const SOURCE_COLUMNS = `
  a.seq, a.id, ${msOf('published_at')} as published, ${msOf('ingested_at')} as ingested,
  a.publisher_no as "publisherNo", a.author_nos as "authorNos", a.country, a.language,
  a.section, a.kind, a.access`

/**
 * SQL: a time in ms since 1970. The times are whole ms. `extract` would compute with decimal
 * numbers, which takes longer.
 */
function msOf(time: 'published_at' | 'ingested_at'): string {
  return `round(date_part('epoch', a.${time}) * 1000)`
}

/** Columns of articles as JSON; null: no article was found. */
interface SourceColumns {
  /** The numbers, joined by commas. */
  seqs: string | null
  ids: string[]
  published: (number | null)[]
  ingested: (number | null)[]
  publisher_nos: number[]
  author_nos: number[][]
  countries: Country[]
  languages: Language[]
  stated: Stated[]
}

function sourcesOf({ seqs, ids, published, ingested, ...columns }: SourceColumns): SegmentSource[] {
  if (seqs === null) return []
  return seqs.split(',').map((seq, at) => ({
    seq: BigInt(seq),
    id: ids[at]!,
    published: published[at]!,
    ingested: ingested[at]!,
    country: columns.countries[at]!,
    language: columns.languages[at]!,
    publisherNo: columns.publisher_nos[at]!,
    authorNos: columns.author_nos[at]!,
    ...columns.stated[at]!,
  }))
}

type NewRow = SegmentSource &
  Pick<StoredArticle, 'title' | 'url' | 'snippet'> & { inTitle: string; inBody: string }

function unflushedArticleOf({
  inTitle,
  inBody,
  title,
  url,
  snippet,
  ...source
}: NewRow): UnflushedArticle {
  const date = (time: number | null) => (time === null ? null : new Date(time))
  const { published, ingested, ...shown } = source
  return {
    source,
    words: { seq: source.seq, title: inTitle, body: inBody },
    stored: {
      ...shown,
      title,
      url,
      snippet,
      publishedAt: date(published),
      ingestedAt: date(ingested),
    },
  }
}

// $1 after, $2 to. Indexes: the primary keys.
const NEW = `
  select ${SOURCE_COLUMNS}, w.title as "inTitle", w.body as "inBody", t.title, t.url, t.snippet
  from articles a join article_words w on w.seq = a.seq join article_texts t on t.seq = a.seq
  where a.seq > $1 and a.seq <= $2 and w.seq > $1 and w.seq <= $2 and t.seq > $1 and t.seq <= $2
  order by a.seq`

// $1 seqs. Indexes: the primary keys.
const STORED = `
  select a.seq, a.id, t.title, t.url, t.snippet, a.published_at as "publishedAt", a.ingested_at as "ingestedAt",
    a.publisher_no as "publisherNo", a.author_nos as "authorNos", a.language, a.country, a.section, a.kind, a.access
  from unnest($1::bigint[]) as wanted (seq)
  join articles a on a.seq = wanted.seq
  join article_texts t on t.seq = wanted.seq`

// $1 seqs. Index: the primary key.
const IDS = 'select seq, id from articles where seq = any ($1::bigint[])'

// $1 numbers. Index: the primary key.
const OUTLETS =
  'select publisher_no as no, name, domain from publishers where publisher_no = any ($1::int[])'
// $1 domains. Index: publishers_outlet_name_key.
const PUBLISHERS = `select publisher_no as no from publishers where outlet = any ${allDomains('$1::text[]')} order by 1`
const AUTHORS = 'select author_no as no, id, name from authors where author_no = any ($1::int[])'

/**
 * SQL: a folded name in which all apostrophes are the same sign. Earlier versions kept several
 * signs. With this expression, searches find such names without `reindex`.
 */
const FOLDED_NAME = `translate(folded_name, '${APOSTROPHES}', repeat('''', ${APOSTROPHES.length})) as folded_name`

/**
 * SQL: thousands of names in one row, so that the client need not parse a row for each. $1 numbers,
 * or $1 after and $2 limit. Index: the primary key.
 */
function namesStatement(field: NameField, byNo: boolean): string {
  const [table, no] = field === 'outlet' ? ['publishers', 'publisher_no'] : ['authors', 'author_no']
  const condition = byNo ? `${no} = any ($1::int[])` : `${no} > $1 order by ${no} limit $2`
  const [nos, all, columns] =
    field === 'outlet'
      ? [
          'int4send(no) || int4send(no)',
          "folded_name || E'\\n' || folded_domain",
          `${FOLDED_NAME}, folded_domain`,
        ]
      : ['int4send(no)', 'folded_name', FOLDED_NAME]
  return `
    select string_agg(${nos}, '') as nos, convert_to(string_agg(${all} || E'\\n', ''), 'UTF8') as names
    from (select ${no} as no, ${columns} from ${table} where ${condition}) names`
}

/** Decodes numbers that `int4send` has encoded. */
function numbersOf(bytes: Buffer | null): Int32Array {
  if (bytes === null) return new Int32Array(0)
  return Int32Array.from({ length: bytes.length / 4 }, (_, at) => bytes.readInt32BE(at * 4))
}

// $1 seqs. Index: the primary key. The result is one row for all 500 candidates of a search by
// meaning. To parse a row for each would take the API most of a millisecond. The aggregates all
// have the order of the scan.
const SOURCES = `
  select string_agg(a.seq::text, ',') as seqs, json_agg(a.id) as ids,
    json_agg(${msOf('published_at')}) as published, json_agg(${msOf('ingested_at')}) as ingested,
    json_agg(a.publisher_no) as publisher_nos, json_agg(a.author_nos) as author_nos,
    json_agg(a.country) as countries, json_agg(a.language) as languages,
    json_agg(json_build_object('section', a.section, 'kind', a.kind, 'access', a.access)) as stated
  from articles a where a.seq = any ($1::bigint[])`

// $1 $2 range. Index: the primary key.
const SOURCES_OF_RANGE = `select ${SOURCE_COLUMNS} from articles a where a.seq between $1 and $2`

const daysOf = (axis: Axis) => `(
    select case when min(day) is not null then json_build_object(
      'from', (min(day) - date '1970-01-01') * 86400000::bigint,
      'to', (max(day) + 1 - date '1970-01-01') * 86400000::bigint) end
    from article_days where axis = '${axis}')`

// Index: the primary key of article_days. One statement has one snapshot, so the days include every
// article up to `last_seq`.
const DAYS = `
  select last_seq as "lastSeq",
    json_build_object('published_at', ${daysOf('published_at')}, 'ingested_at', ${daysOf('ingested_at')}) as days
  from ingest_clock`

async function verify(
  reads: IndexReads,
  seqs: bigint[],
  verification: Expression,
  version: bigint,
  pace: Pace,
): Promise<bigint[]> {
  if (has(verification, ['near', 'forms']) || wildcardsOf(verification).length > 0)
    return verifyHere(reads, seqs, verification, version, pace)
  const lists: string[] = []
  const text = `select seq from article_words where seq = any ($1::bigint[]) and ${conditionOf(verification, lists)}`
  // A connection keeps a named statement until it ends, so only common forms get a name.
  const isCommon = lists.length <= 4 && !has(verification, ['or'])
  const name = isCommon
    ? { name: `search-verify-${createHash('md5').update(text).digest('hex')}` }
    : {}
  const passed: bigint[] = []
  for (let from = 0; from < seqs.length; from += VERIFIED_THERE) {
    const values = [seqs.slice(from, from + VERIFIED_THERE), ...lists]
    const rows = await reads.rows<{ seq: bigint }>({ ...name, text, values }, { version })
    for (const { seq } of rows) passed.push(seq)
    if (pace.isDue()) await pace.rest()
  }
  return passed
}

/**
 * How many articles one statement verifies, so that it takes milliseconds. Between statements the
 * search rests, and ends when its client has left.
 */
const VERIFIED_THERE = 256

/**
 * SQL: the condition of a tree of words and phrases. $1 are the seqs. Index: the primary key.
 *
 * @param lists values of the other parameters. This function adds to them.
 */
function conditionOf(node: Expression, lists: string[]): string {
  const conditions = (nodes: Expression[], not: string) =>
    nodes.map(one => `${not}${conditionOf(one, lists)}`)
  switch (node.kind) {
    case 'and':
      return `(${[...conditions(node.of, ''), ...conditions(node.not, 'not ')].join(' and ')})`
    case 'or':
      return `(${conditions(node.of, '').join(' or ')})`
    case 'phrase': {
      const parameter = lists.push(wordList(node.words)) + 1
      const contains = (column: string) => `strpos(${column}, $${parameter}) > 0`
      return node.inTitle ? contains('title') : `(${contains('title')} or ${contains('body')})`
    }
    default:
      throw new Error(`Postgres cannot verify ${node.kind}.`)
  }
}

// $1 seqs. Index: the primary keys.
const WORDS = `
  select w.title, w.body, a.seq, a.language from article_words w join articles a using (seq)
   where w.seq = any ($1::bigint[]) and a.seq = any ($1::bigint[])`

/**
 * Reads the words and verifies them in this process, because Postgres knows neither forms of words
 * nor places.
 */
async function verifyHere(
  reads: IndexReads,
  seqs: bigint[],
  verification: Expression,
  version: bigint,
  pace: Pace,
) {
  const passed: bigint[] = []
  const holds = holding(verification)
  for (let from = 0; from < seqs.length; from += VERIFIED) {
    const statement = {
      name: 'search-words',
      text: WORDS,
      values: [seqs.slice(from, from + VERIFIED)],
    }
    for (const row of await reads.rows<WordsRow>(statement, { version })) {
      if (holds(row, row.language)) passed.push(row.seq)
      if (pace.isDue()) await pace.rest()
    }
  }
  return passed
}

type WordsRow = ArticleWords & { language: Language }

/**
 * How many articles have their words in memory at a time: `WORDS_PER_STATEMENT` for a segment,
 * `VERIFIED` for a verification. To read the answer of a verification may hold up other searches
 * for a millisecond.
 */
const WORDS_PER_STATEMENT = 1_024n
const VERIFIED = 128

// $1 $2 range. An article that was taken out has no words. Indexes: the primary keys.
const WORDS_OF_RANGE = `
  select seq, title, body from article_words w
   where seq between $1 and $2 and not exists (select from tombstones t where t.seq = w.seq)
  union all
  select seq, '', '' from tombstones where seq between $1 and $2`

async function* readWords(reads: IndexReads, range: SegmentRange): AsyncGenerator<ArticleWords> {
  for (const { first, last } of partsOf(range, WORDS_PER_STATEMENT)) {
    yield* await reads.newest<ArticleWords>({
      text: WORDS_OF_RANGE,
      values: [first, last],
    })
  }
}

/*
 * Reads and writes texts and words for `reindex`. All statements find articles by `seq`, the
 * primary key of both tables.
 */

interface ArticleText {
  seq: bigint
  title: string
  body: string | null
}

interface TextAndWords extends ArticleText {
  title_words: string
  body_words: string
}

export async function readTexts(db: Queryable, seqs: bigint[]): Promise<ArticleText[]> {
  const { rows } = await db.query<ArticleText>(
    'select seq, title, body from article_texts where seq = any ($1::bigint[]) order by seq',
    [seqs],
  )
  return rows
}

/**
 * @param first included
 * @param last included
 */
export async function readTextsAndWords(
  db: Queryable,
  first: bigint,
  last: bigint,
): Promise<TextAndWords[]> {
  const { rows } = await db.query<TextAndWords>(
    `select seq, t.title, t.body, coalesce(w.title, '') as title_words, coalesce(w.body, '') as body_words
     from article_texts t left join article_words w using (seq) where seq between $1 and $2`,
    [first, last],
  )
  return rows
}

/** Leaves out articles that were taken out. @returns the number of articles whose words changed */
export async function updateWords(client: Client, words: ArticleWords[]): Promise<number> {
  await client.query(`select ${AMONG_WRITERS}`)
  const { rowCount } = await client.query(UPDATE, columnsOf(words, 'seq', 'title', 'body'))
  return rowCount ?? 0
}

// $1 seqs, $2 titles, $3 bodies
const UPDATE = `
  insert into article_words as w (seq, title, body)
  select n.* from unnest($1::bigint[], $2::text[], $3::text[]) as n (seq, title, body)
  where not exists (select from tombstones t where t.seq = n.seq)
  on conflict (seq) do update set title = excluded.title, body = excluded.body
  where (w.title, w.body) is distinct from (excluded.title, excluded.body)`

/**
 * Tells searches that words and snippets in their memory are old. They read again the words of
 * articles without a segment, and the snippets of all articles.
 */
export async function raiseWordsVersion(client: Client): Promise<void> {
  await client.query('update segments_version set words_version = words_version + 1')
}

// $1 seqs, $2 sections, $3 kinds, $4 accesses. Index: the primary key.
const WRITE_STATED = `
  update articles a set section = n.section, kind = n.kind, access = n.access
    from unnest($1::bigint[], $2::text[], $3::text[], $4::text[]) as n (seq, section, kind, access)
   where a.seq = n.seq and num_nonnulls(a.section, a.kind, a.access) = 0
     and not exists (select from tombstones t where t.seq = n.seq)`

/** Writes what outlets say of articles of which nothing is stored, and has searches read it. */
export async function writeStated(
  client: Client,
  said: ReadonlyMap<bigint, Stated>,
): Promise<void> {
  if (said.size === 0) return
  await client.query(`select ${AMONG_WRITERS}`)
  const columns = columnsOf([...said.values()], 'section', 'kind', 'access')
  const { rowCount } = await client.query(WRITE_STATED, [[...said.keys()], ...columns])
  if (rowCount) await raiseWordsVersion(client)
}

interface StoredName {
  no: number
  name: string | null
  domain: string | null
}

const FOLD_PUBLISHERS = {
  // $1 after. Index: the primary key.
  next: 'select publisher_no as no, name, domain from publishers where publisher_no > $1 order by 1 limit 4096',
  // $1 numbers, $2 folded names, $3 folded domains, $4 rules.
  write: `
    update publishers set folded_name = n.name, folded_domain = n.domain, rules = $4
      from unnest($1::int[], $2::text[], $3::text[]) as n (no, name, domain)
     where publisher_no = n.no and (folded_name, folded_domain, rules) is distinct from (n.name, n.domain, $4)`,
}
const FOLD_AUTHORS = {
  next: 'select author_no as no, name, null as domain from authors where author_no > $1 order by 1 limit 4096',
  write: `
    update authors set folded_name = n.name, rules = $4
      from unnest($1::int[], $2::text[], $3::text[]) as n (no, name, domain)
     where author_no = n.no and (folded_name, rules) is distinct from (n.name, $4)`,
}

// $1 the present rules. The tables have no index for it: this reads them in a fraction of a second.
const OLD_NAMES = `
  select exists (select from publishers where rules is distinct from $1)
      or exists (select from authors where rules is distinct from $1)`

/** Folds names again if a version with other rules has folded some of them. */
export async function renewNames(db: Queryable, signal: AbortSignal): Promise<void> {
  if (await readValue<boolean>(db, OLD_NAMES, [NAME_RULES])) await foldNamesAgain(db, signal)
}

/** Folds the names of all outlets and authors again. Writes those that differ. */
export async function foldNamesAgain(db: Queryable, signal: AbortSignal): Promise<void> {
  for (const { next, write } of [FOLD_PUBLISHERS, FOLD_AUTHORS]) {
    for (let after: number | undefined = 0; after !== undefined && !signal.aborted; ) {
      const { rows }: { rows: StoredName[] } = await db.query<StoredName>(next, [after])
      await db.query(write, [
        rows.map(({ no }) => no),
        rows.map(({ name }) => foldName(name ?? '')),
        rows.map(({ domain }) => foldName(domain ?? '')),
        NAME_RULES,
      ])
      after = rows.at(-1)?.no
    }
  }
}
