import { textArray } from '../binary-arrays.ts'
import {
  type Client,
  columnsOf,
  countOf,
  type Pool,
  type Queryable,
  readColumn,
  readRow,
  readValue,
  transaction,
} from '../postgres.ts'

/*
 * An article that an operator takes out leaves a tombstone: number, id, HMAC of its addresses,
 * country, and times. What it said goes, in this order:
 *
 * 1. One transaction writes the tombstone and deletes title, text, words and addresses. It raises
 *    the versions that every search names, so no cache, count or standby of before is used. Names
 *    of its authors go a moment later, unless they have other articles.
 * 2. Segments still have its words. Searches leave its document out from the next version on: the
 *    mask of `execute/removed.ts` (Lucene: live documents). It stays, for segments have no gaps.
 * 3. The merge thread writes these segments again. `segments.cleared` says up to which removal the
 *    bytes of a segment are clean. Whoever makes a segment reads that number before the words, so
 *    a segment that was under way is written again, too.
 *
 * The row of `articles` stays with its number, its id and its times. So numbers have no gaps, and
 * digests of segments stay true. Its id is never given again.
 *
 * Every writer takes `WRITERS` together with others, and a removal takes it alone. So a writer
 * either has committed before the removal looks, or sees the tombstone.
 */

/** The lock of an advisory lock that writers of articles share. Its number is arbitrary. */
const WRITERS = 7_211_004_241n

/** SQL: waits for a removal under way, and keeps the next one waiting until the commit. */
export const AMONG_WRITERS: string = `pg_advisory_xact_lock_shared(${WRITERS})`

/** SQL: HMAC-SHA-256 of an address of an outlet. The statement reads `tombstone_key k`. */
export const addressHash = (outlet: string, address: string): string =>
  `sha256(k.outer_pad || sha256(k.inner_pad || convert_to(${outlet} || E'\\n' || ${address}, 'UTF8')))`

/** An address of an outlet, as `article_addresses` has it. */
export interface OutletAddress {
  outlet: string
  address: string
}

const addressColumns = (rows: OutletAddress[]) => [
  textArray(rows.map(({ outlet }) => outlet)),
  textArray(rows.map(({ address }) => address)),
]

/**
 * Finds which addresses were those of an article that was taken out.
 *
 * @returns its former number for each of `rows`; null: the address is free
 */
export async function findBarred(db: Queryable, rows: OutletAddress[]): Promise<(bigint | null)[]> {
  if (rows.length === 0) return []
  const statement = { name: 'barred-addresses', text: BARRED, values: addressColumns(rows) }
  const found = await db.query<{ place: number; seq: bigint }>(statement)
  const seqs = new Map(found.rows.map(({ place, seq }) => [place, seq]))
  return rows.map((_, at) => seqs.get(at + 1) ?? null)
}

// $1 outlets, $2 addresses. Index: the primary key.
const BARRED = `
  select w.place::int, t.seq from tombstone_key k
    cross join unnest($1::text[], $2::text[]) with ordinality as w (outlet, address, place)
    join tombstone_addresses t on t.hash = ${addressHash('w.outlet', 'w.address')}`

/**
 * Bars further addresses under which an article that was taken out has come again, and removes what
 * a writer has stored of them.
 *
 * @param seqs the former number of the article of each address
 */
export async function barAddresses(
  client: Client,
  rows: OutletAddress[],
  seqs: bigint[],
): Promise<void> {
  if (rows.length > 0) await client.query(BAR, [...addressColumns(rows), seqs])
}

// $1 outlets, $2 addresses, $3 seqs. Index: the primary keys.
const BAR = `
  with came as (
    select * from unnest($1::text[], $2::text[], $3::bigint[]) as w (outlet, address, seq)
  ), gone as (
    delete from article_addresses a using came
     where a.outlet = came.outlet collate "C" and a.address = came.address collate "C"
  )
  insert into tombstone_addresses (hash, seq)
  select distinct on (1) ${addressHash('outlet', 'address')}, seq from came, tombstone_key k
  on conflict do nothing`

/** An article to be taken out. */
export interface Doomed {
  seq: bigint
  id: string
}

/**
 * Keeps writers away until the end of the transaction. A writer may need a minute, so this gives up
 * soon (`lock_timeout`), and the caller tries again.
 */
export async function withoutWriters(client: Client): Promise<void> {
  await client.query("set local lock_timeout = '3s'")
  await client.query('select pg_advisory_xact_lock($1)', [WRITERS])
}

/**
 * Deletes what the index has of articles, and bars their addresses. It may run again, for an
 * article of which something has come back.
 */
export async function clearArticles(client: Client, articles: Doomed[]): Promise<void> {
  const seqs = articles.map(({ seq }) => seq)
  const ids = articles.map(({ id }) => id)
  await client.query(CLEAR_ADDRESSES, [ids, seqs])
  for (const table of ['article_texts', 'article_words', 'embeddings'])
    await client.query(`delete from ${table} where seq = any ($1::bigint[])`, [seqs])
  await client.query('delete from article_rights where id = any ($1::text[])', [ids])
  await client.query(
    `update articles set section = null, kind = null, access = null
     where seq = any ($1::bigint[]) and num_nonnulls(section, kind, access) > 0`,
    [seqs],
  )
  await client.query(MOVE_AUTHORS, [seqs])
}

// $1 ids, $2 seqs. Index: article_addresses_id.
const CLEAR_ADDRESSES = `
  with doomed as (
    select * from unnest($1::text[], $2::bigint[]) as d (id, seq)
  ), gone as (
    delete from article_addresses a using doomed d where a.id = d.id collate "C"
    returning a.outlet, a.address, d.seq
  )
  insert into tombstone_addresses (hash, seq)
  select distinct on (1) ${addressHash('outlet', 'address')}, seq from gone, tombstone_key k
  on conflict do nothing`

/** A removal as it is told: its number, the id, and the day. */
export interface Removal {
  number: bigint
  id: string
  removedAt: Date
}

/**
 * Writes tombstones, and raises the versions that searches name. From the commit on, no search
 * shows the articles. The clock is held from here on, so the order of numbers is that of commits.
 * It comes last in the transaction.
 */
export async function writeTombstones(
  client: Client,
  articles: Doomed[],
  reason: string,
): Promise<Removal[]> {
  const seqs = articles.map(({ seq }) => seq)
  const { rows } = await client.query<Removal>(WRITE, [seqs, reason])
  await show(client, seqs)
  return rows
}

async function show(client: Client, seqs: bigint[]): Promise<void> {
  await client.query(MOVE_AUTHORS, [seqs])
  await client.query(
    'update segments_version set version = version + 1, words_version = words_version + 1',
  )
}

// $1 seqs. Indexes: the primary key of articles, tombstones_seq_key.
const MOVE_AUTHORS = `
  with moved as (
    update tombstones t set author_nos = a.author_nos from articles a
     where t.seq = a.seq and a.seq = any ($1::bigint[]) and a.author_nos <> '{}'
    returning t.seq
  )
  update articles a set author_nos = '{}' from moved where a.seq = moved.seq`

/**
 * Deletes the names of authors whose articles were all taken out. No index knows the articles of an
 * author. So this looks at all articles while writers go on, and without writers only at those that
 * came meanwhile.
 */
export async function clearAuthors(pool: Pool): Promise<void> {
  const { rows } = await pool.query<{ seq: bigint; nos: number[] }>(AUTHORS_LEFT)
  if (rows.length === 0) return
  const nos = [...new Set(rows.flatMap(row => row.nos))]
  const last = await readValue<bigint>(pool, 'select last_seq from ingest_clock')
  const unused = await readColumn<number>(pool, UNUSED_AUTHORS, [nos, 0])
  await transaction(pool, async client => {
    await withoutWriters(client)
    const still = await readColumn<number>(client, UNUSED_AUTHORS, [unused, last])
    await client.query('delete from authors where author_no = any ($1::int[])', [still])
    await client.query('update tombstones set author_nos = null where seq = any ($1::bigint[])', [
      rows.map(({ seq }) => seq),
    ])
  })
}

// Index: tombstones_uncleared.
const AUTHORS_LEFT = `
  select seq, author_nos as nos from tombstones where cleared_at is null and author_nos is not null`

// $1 numbers of authors, $2 looks at articles after this one. Index: the primary key.
const UNUSED_AUTHORS = `
  select unnest($1::int[]) except
  select no from articles, unnest(author_nos) as no where seq > $2 and author_nos && $1::int[]`

// $1 seqs, $2 reason. Index: the primary key of articles.
const WRITE = `
  with clock as (
    update ingest_clock set last_removal = last_removal + cardinality($1::bigint[])
    returning last_removal - cardinality($1::bigint[]) as base
  )
  insert into tombstones (number, seq, id, country, covered_at, removed_at, reason)
  select base + row_number() over (order by a.seq), a.seq, a.id, a.country,
         coalesce(a.published_at, a.ingested_at), date_trunc('milliseconds', clock_timestamp()), $2
    from articles a, clock where a.seq = any ($1::bigint[]) order by a.seq
  returning number, id, removed_at as "removedAt"`

/** A removal as the list beside the backups has it. Times are ISO 8601, bytes are in hex. */
export interface ListedRemoval {
  installation: string
  number: number
  id: string
  country: string
  covered_at: string | null
  removed_at: string
  released_at: string | null
  reason: string
  /** Both blocks of the key of the hashes. A database from before the first removal lacks them. */
  key: string
  /** HMACs of its addresses. */
  hashes: string[]
}

/**
 * Takes over the key of a list, while no address is barred under another one: a database of before
 * tombstones drew its own key when it was migrated.
 */
export const adoptKey = async (client: Client, key: string): Promise<void> =>
  void (await client.query(ADOPT, [key]))

// $1 both blocks in hex
const ADOPT = `
  update tombstone_key set inner_pad = substr(decode($1, 'hex'), 1, 64), outer_pad = substr(decode($1, 'hex'), 65)
   where not exists (select from tombstone_addresses)`

/**
 * Writes tombstones that a database of an earlier time lacks, as `writeTombstones` does. They keep
 * their numbers, so that clients go on after the last one that they have; but where the database
 * has given these numbers to other removals, they get new ones.
 *
 * An article that came after that time is not in the database, and another one will get its number.
 * So its tombstone has the negative number of the removal instead.
 *
 * @param present those of the articles that the database has
 */
export async function writeAgain(
  client: Client,
  removals: ListedRemoval[],
  present: Doomed[],
): Promise<void> {
  await client.query(WRITE_AGAIN, [JSON.stringify(removals), ...columnsOf(present, 'id', 'seq')])
  await show(
    client,
    present.map(({ seq }) => seq),
  )
}

// $1 removals, $2 ids and $3 seqs of the articles that the database has.
const WRITE_AGAIN = `
  with listed as (
    select *, row_number() over (order by number) as place, min(number) over () as lowest
      from json_to_recordset($1) as l (number bigint, id text, country text, covered_at timestamptz,
           removed_at timestamptz, released_at timestamptz, reason text)
  ), told as (
    select l.*, case when lowest > last_removal then number else last_removal + place end as own
      from listed l, ingest_clock
  ), clock as (
    update ingest_clock set last_removal = (select max(own) from told)
  ), taken as (
    insert into article_ids (id) select id collate "C" from told on conflict do nothing
  )
  insert into tombstones (number, seq, id, country, covered_at, removed_at, released_at, cleared_at, reason)
  select own, coalesce(p.seq, -own), id, country, covered_at, removed_at, released_at,
         case when p.seq is null then now() end, reason
    from told left join unnest($2::text[], $3::bigint[]) as p (id, seq) using (id)`

/**
 * Bars the addresses of listed removals, whose tombstones are there, under the key of the database.
 *
 * @returns how many of the hashes are of another key, and bar nothing
 */
export const barAgain = (client: Client, removals: ListedRemoval[]): Promise<number> =>
  countOf(client, BAR_AGAIN, [JSON.stringify(removals)])

// $1 removals. Indexes: tombstones_id_key, the primary key.
const BAR_AGAIN = `
  with listed as (
    select t.seq, decode(h.hash, 'hex') as hash, l.key = encode(k.inner_pad || k.outer_pad, 'hex') as "isOwn"
      from json_to_recordset($1) as l (id text, key text, released_at timestamptz, hashes text[])
      cross join tombstone_key k cross join unnest(l.hashes) as h (hash)
      join tombstones t on t.id = l.id collate "C" and t.released_at is null
     where l.released_at is null
  ), barred as (
    insert into tombstone_addresses (hash, seq)
    select distinct on (hash) hash, seq from listed where "isOwn"
    on conflict do nothing
  )
  select count(*)::int from listed where not "isOwn" and seq < 0`

/**
 * Frees the addresses of articles that were released, as far as the database does not know it.
 *
 * @param released ids, and ISO 8601 times
 */
export const releaseAddresses = async (
  client: Client,
  released: { id: string; released_at: string | null }[],
): Promise<boolean> => (await client.query(RELEASE, [JSON.stringify(released)])).rowCount !== 0

// $1 releases. Indexes: tombstones_id_key, tombstone_addresses_seq.
const RELEASE = `
  with released as (
    update tombstones t set released_at = coalesce(t.released_at, l.released_at, now())
      from json_to_recordset($1) as l (id text, released_at timestamptz) where t.id = l.id collate "C" returning t.seq
  ), freed as (
    delete from tombstone_addresses a using released r where a.seq = r.seq
  )
  select from released`

/** The number of the last removal. A segment whose words are read afterwards has none of them. */
export const readLastRemoval = async (db: Queryable): Promise<bigint> =>
  (await readValue<bigint>(db, 'select last_removal from ingest_clock')) ?? 0n

/** Notes which removals up to a number are cleared: other stores are, and segments by now. */
export const noteCleared = async (db: Queryable, number: bigint): Promise<void> =>
  void (await db.query(NOTE_CLEARED, [number]))

// $1 number of a removal. Index: tombstones_uncleared.
const NOTE_CLEARED = `
  update tombstones t set cleared_at = now() where cleared_at is null and number <= $1
     and not exists (select from segments s where t.seq between s.first_seq and s.last_seq and t.number > s.cleared)`

/** How many segments have the number of an article, and how many of them may have its words. */
export async function countSegments(
  db: Queryable,
  seq: bigint,
  removal: bigint,
): Promise<{ all: number; left: number }> {
  const statement = `
    select count(*)::int as all, count(*) filter (where cleared < $2)::int as left
      from segments where $1 between first_seq and last_seq`
  return (await readRow<{ all: number; left: number }>(db, statement, [seq, removal]))!
}

/** SQL: whether the bytes of a segment `s` may have words of an article that was taken out. */
export const UNCLEARED = `exists (
  select from tombstones t where t.seq between s.first_seq and s.last_seq and t.number > s.cleared)`
