import { type Client, countOf, type Queryable } from '../postgres.ts'
import { ACCESSES, COUNTRIES, KINDS, LANGUAGES } from '../vocabulary.ts'
import { digestOf, gaps, UNUSED, WRONG } from './postgres-segment-writer.ts'
import { partsOf, type SegmentRange } from './segment-store.ts'
import { UNCLEARED } from './tombstones.ts'

/*
 * The statements that verify stored data. Each statement sees one snapshot and locks nothing, so
 * writers, flushes, merges and imports go on meanwhile.
 */

type TableKind =
  | 'removed'
  | 'tombstones'
  | 'clock'
  | 'stamps'
  | 'ranges'
  | 'leftovers'
  | 'identity'
  | 'days'
type RowKind =
  | 'segments'
  | 'articles'
  | 'words'
  | 'snippets'
  | 'agencies'
  | 'names'
  | 'order'
  | 'promises'
  | 'unpromised'
  | 'doubles'
/**
 * Kinds of differences. Each kind is mended in its own way. Two may be no fault. `unpromised`: the
 * embedder may have given up the vector of an article. `doubles`: under the rules of a former
 * version the addresses of two articles differed, and visible articles are never merged.
 */
export type IndexKind = TableKind | RowKind

/**
 * Tables with a row for each article. Only a row of `embeddings`, the promise of a vector, may be
 * missing.
 */
const NUMBERED = ['articles', 'article_words', 'article_texts', 'embeddings']
const CLOCK = '(select last_seq from ingest_clock)'

// These statements return faults as rows: a kind, and a text. They take a moment, however many
// articles there are. Indexes: the primary keys; the tables of segments are small, and their
// columns are not read. WAITING stands for the number of articles that may wait for a flush.
const QUICK = [
  `select 'clock', 'the clock of ingestion has no row' where ${CLOCK} is null`,
  `select 'clock', 'the version of segments has no row' where not exists (select from segments_version)`,
  ...NUMBERED.map(beyondClock),
  `select 'stamps', 'the clock is at ' || last_at || ', and the database at ' || now() from ingest_clock
   where last_at > now() + interval '1 day'`,
  `select 'stamps', 'the latest articles have later times than the clock' from ingest_clock
   where last_at < (select max(ingested_at) from articles where seq > last_seq - 1000)`,
  // A killed process may leave a stored segment. The process that stores the next segment removes
  // it.
  `select 'leftovers', 'segment ' || segment_no || ' was stored and never used' from segments_ahead
   where exists (select from segments where sealed_at > stored_at + interval '15 minutes')`,
  `select 'ranges', 'segment ' || segment_no || ' ends beyond the clock, or begins in another one'
   from segments s, ingest_clock c where ${WRONG}`,
  mixedUp('(select * from segments order by last_seq desc limit 1)'),
  `select 'tombstones', 'removal ' || number || ' is of an article beyond the clock' from tombstones where seq > ${CLOCK}`,
  `select 'ranges', 'articles ' || first || ' to ' || last || ' are in no segment' from (${gaps('WAITING')}) as gaps`,
]

// Both blocks of a key of HMAC differ by one value in each byte (RFC 2104). An article that came
// after the backup from which the database was restored has a negative number, and perhaps no
// address.
const TOMBSTONES = [
  `select 'tombstones', 'removal ' || number || ' is beyond the clock, which is at ' || last_removal
   from tombstones, ingest_clock where number > last_removal`,
  `select 'tombstones', 'removal ' || number || ' has not the id, country or time of its article ' || a.seq
   from tombstones t join articles a using (seq)
   where (t.id, t.country, t.covered_at) is distinct from (a.id, a.country, coalesce(a.published_at, a.ingested_at))`,
  `select 'removed', 'article ' || seq || ' was taken out, and still has a section, kind or access'
   from tombstones join articles a using (seq) where num_nonnulls(a.section, a.kind, a.access) > 0`,
  `select 'tombstones', 'removal ' || number || ' bars no address, and its article may come back' from tombstones t
   where released_at is null and seq > 0 and not exists (select from tombstone_addresses a where a.seq = t.seq)`,
  `select 'tombstones', 'an address of article ' || seq || ' is barred, which was not taken out or is released'
   from tombstone_addresses a where not exists (select from tombstones t where t.seq = a.seq and released_at is null)`,
  `select 'tombstones', 'the key that bars addresses is no key of HMAC' where not exists (
     select from tombstone_key where case when length(inner_pad) = 64 and length(outer_pad) = 64 then
        not exists (select from generate_series(0, 63) at where get_byte(inner_pad, at) # get_byte(outer_pad, at) <> 106) end)`,
  `select 'tombstones', 'segment ' || segment_no || ' says that it is cleared up to a removal that is none'
   from segments, ingest_clock where cleared > last_removal`,
  `select 'removed', 'removal ' || number || ' is cleared, and names authors' from tombstones
   where cleared_at is not null and author_nos <> '{}'`,
]

/** Columns whose numbers Postgres gives out. */
const GIVEN_OUT = [
  ['publishers', 'publisher_no'],
  ['authors', 'author_no'],
  ['segments', 'segment_no'],
  ['outlets', 'outlet_no'],
  ['feeds', 'feed_no'],
  ['pages', 'page_no'],
]

const SEQUENCES = GIVEN_OUT.map(
  ([table, column]) => `
    select 'clock', 'the next row of ${table} gets a number that is taken'
    from (select max(${column}) as highest from ${table}) t
    where highest > coalesce(pg_sequence_last_value(pg_get_serial_sequence('${table}', '${column}')), 0)`,
)

// Each of these statements reads one or two tables as a whole. That takes a second for a million
// articles.
const WHOLE = [
  `select 'removed', count(*) || ' articles that were taken out wait to be cleared for more than an hour'
   from tombstones where cleared_at is null and removed_at < now() - interval '1 hour' having count(*) > 0`,
  `select 'identity', case when i.id is null then 'the id ' || a.id || ' of an article is not among those that are taken'
                           when a.id is null then 'the id ' || i.id || ' is taken, and no article has it'
                           else articles || ' articles have the id ' || a.id end
   from (select id, count(*) as articles from articles group by id) a full join
        (select id from article_ids except select id from tombstones where seq < 0) i on i.id = a.id
   where i.id is null or a.id is null or articles > 1`,
  `select 'identity', 'the id ' || id || ' has rights, and no article has it'
   from article_rights r where not exists (select from article_ids i where i.id = r.id)`,
  `select 'identity', case when i.id is null then 'addresses lead to ' || a.id || ', which no article has'
                           else 'no address leads to the article ' || i.id end
   from (select id from article_ids except select id from tombstones) i
   full join (select distinct id from article_addresses) a on a.id = i.id
   where i.id is null or a.id is null`,
  ...TOMBSTONES,
  ...SEQUENCES,
  // A flush or a merge removes them, and does so for some minutes.
  `select 'leftovers', 'segment ' || no || ' is no more, and has words' from (${UNUSED}) unused
   where not exists (select from segments where sealed_at > now() - interval '1 hour')`,
  `select 'promises', 'article ' || seq || ' is promised a vector only on ' || coalesce(embedded_at, greatest(due_at, claimed_until, rests_until))
   from embeddings where embedded_at > now() + interval '1 day' or embedded_at is null and failed_at is null
     and greatest(due_at, claimed_until, rests_until) > now() + interval '31 days'`,
  mixedUp('segments'),
  ...['published_at', 'ingested_at'].map(daysOf),
]

function beyondClock(table: string): string {
  return `
    select 'clock', '${table} has numbers from ' || low || ' to ' || high || ', and the clock is at ' || ${CLOCK}
    from (select min(seq) as low, max(seq) as high from ${table}) as ends where low < 1 or high > ${CLOCK}`
}

function mixedUp(segments: string): string {
  return `
    select 'segments', 'segment ' || segment_no || ' was made of other articles than it stands for'
    from ${segments} as s where digest is not null and digest is distinct from ${digestOf('first_seq', 'last_seq')}`
}

function daysOf(axis: string): string {
  return `
    select 'days', '${axis} ' || day || ': ' || coalesce(d.articles, 0) || ' articles are counted, and '
           || coalesce(a.articles, 0) || ' are there'
    from (select day, articles from article_days where axis = '${axis}') d full join (
      select (${axis} at time zone 'UTC')::date as day, count(*) as articles
      from articles where ${axis} is not null group by 1) a using (day)
    where d.articles is distinct from a.articles`
}

/** How many articles were taken out, and may still be in a segment or in another store. */
export const countWaiting = (db: Queryable): Promise<number> =>
  countOf(db, 'select count(*)::int from tombstones where cleared_at is null')

/** Whether the bytes of a segment may have words of an article that was taken out. */
export const isUncleared = async (db: Queryable, segmentNo: number): Promise<boolean> =>
  (await db.query(`select from segments s where segment_no = $1 and ${UNCLEARED}`, [segmentNo]))
    .rowCount === 1

/** How many differences of a kind are named. */
export const NAMED = 10

/** Called with each difference. `more`: how many further differences of the kind are not named. */
export type Found = (kind: IndexKind, text: string, more?: number) => void

/**
 * Reports the differences that statements on whole tables find. @param waiting articles that may
 * have no segment yet
 */
export async function checkTables(
  db: Queryable,
  extent: 'quick' | 'all',
  waiting: bigint,
  found: Found,
): Promise<void> {
  for (const check of extent === 'quick' ? QUICK : [...QUICK, ...WHOLE]) {
    const { rows } = await db.query<{ kind: IndexKind; text: string; count: number }>(`
      select kind, text, count(*) over ()::int as count
      from (${check.replace('WAITING', String(waiting))}) as faults (kind, text) order by text limit ${NAMED}`)
    for (const [at, { kind, text, count }] of rows.entries())
      found(kind, text, at === 0 ? count - rows.length : 0)
  }
}

/** The stored data of one `seq`. The fields are null where the article or its words are missing. */
export interface NumberedRow {
  seq: bigint
  isArticle: boolean
  /** Whether an operator has taken the article out. */
  isRemoved: boolean
  titleWords: string | null
  bodyWords: string | null
  title: string | null
  body: string | null
  url: string | null
  snippet: string | null
  agencies: string[] | null
  /** The version of the rules that found the agencies; null: not known. */
  agencyRules: number | null
  id: string | null
  ingestedAt: Date | null
  /** Whether the clock gave `ingestedAt`; null: an earlier version wrote it, and nobody knows. */
  isStamped: boolean | null
  /** Whether the outlet bounds the snippet. */
  isBounded: boolean
  /** Whether a crawled page was the source; otherwise an import was, or nobody knows. */
  isOfPage: boolean
  /** Name and domain, in the stored form and in the stored folded form. */
  outlet:
    | [
        outlet: string,
        name: string | null,
        domain: string | null,
        folded: string,
        foldedDomain: string,
      ]
    | null
  authors: [id: string, outlet: string, name: string, folded: string][]
  faults: [kind: IndexKind, text: string][]
}

/** How many articles have their texts and words in memory at a time. */
const ROWS = 256n

/** The stored data of every `seq` in a range. */
export async function* readNumbered(
  client: Client,
  range: SegmentRange,
): AsyncGenerator<NumberedRow[]> {
  for (const { first, last } of partsOf(range, ROWS)) {
    yield (await client.query<NumberedRow>(GIVEN_OUT_ROWS, [first, last])).rows
  }
}

const within = (table: string) => `(select * from ${table} where seq between $1 and $2)`
const fault = (kind: IndexKind, text: string, condition: string) =>
  `case when ${condition} then jsonb_build_array('${kind}', '${text}') end`

const LEFT =
  "gone and (t.seq is not null or w.seq is not null or e.seq is not null or a.author_nos <> '{}')"

const UNKNOWN_VALUES = Object.entries({
  language: LANGUAGES,
  country: COUNTRIES,
  kind: KINDS,
  access: ACCESSES,
})
  .map(([name, known]) => `a.${name} <> all ('{${known}}')`)
  .join(' or ')

// $1 $2 range. Indexes: the primary keys.
const GIVEN_OUT_ROWS = `
  select n.seq, a.seq is not null as "isArticle", gone as "isRemoved", t.title, t.body, w.title as "titleWords", w.body as "bodyWords",
    t.url, t.snippet, t.agencies, t.agency_rules as "agencyRules", a.id, a.ingested_at as "ingestedAt", coalesce(b.snippet, false) as "isBounded",
    coalesce(not a.own_time, case when e.page_no is not null or b.page_no is not null then true end) as "isStamped",
    (e.page_no is not null or b.page_no is not null) as "isOfPage", outlet, authors, array_remove(array[${[
      fault('articles', 'are not there', `a.seq is null and n.seq <= ${CLOCK}`),
      fault(
        'articles',
        'have a language, country, kind or access that there is not',
        UNKNOWN_VALUES,
      ),
      fault('articles', 'have no text', 'a.seq is not null and t.seq is null and not gone'),
      fault('words', 'have no words', 'a.seq is not null and w.seq is null and not gone'),
      fault('removed', 'were taken out, and have text, words, authors or a promise', LEFT),
      fault(
        'articles',
        'are of an outlet that is not there',
        'a.seq is not null and outlet is null',
      ),
      fault(
        'articles',
        'have authors that are not there',
        `cardinality(a.author_nos) <> json_array_length(authors)`,
      ),
      fault(
        'stamps',
        'have later times than the clock',
        'a.ingested_at > (select last_at from ingest_clock)',
      ),
      fault('promises', 'have rights that name another article', 'b.article_seq <> n.seq'),
      fault(
        'promises',
        'are promised a vector and are not there',
        'e.seq is not null and a.seq is null',
      ),
      fault(
        'promises',
        'are promised a vector, which their outlet reserves',
        'e.seq is not null and r.id is not null',
      ),
      fault(
        'unpromised',
        'get no vector: given up, or their promise was lost',
        'e.seq is null and r.id is null and a.seq > 0 and not gone',
      ),
    ]}], null) as faults
  from generate_series($1::bigint, $2::bigint) as n (seq)
  cross join lateral (select exists (select from tombstones where seq = n.seq) as gone) d
  left join ${within('articles')} a on a.seq = n.seq
  left join ${within('article_words')} w on w.seq = n.seq
  left join ${within('article_texts')} t on t.seq = n.seq
  left join ${within('embeddings')} e on e.seq = n.seq
  left join article_rights b on b.id = a.id
  left join lateral (select b.id where not b.vector) r on true
  left join lateral (
    select json_build_array(outlet, name, domain, folded_name, folded_domain) as outlet
    from publishers where publisher_no = a.publisher_no) p on true
  left join lateral (
    select coalesce(json_agg(json_build_array(id, outlet, name, folded_name)), '[]') as authors
    from authors where author_no = any (a.author_nos)) names on true
  order by n.seq`
