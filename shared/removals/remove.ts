import { makeSegments, type Pool } from '#search/indexer'
import {
  addressHash,
  adoptKey,
  allDomains,
  barAgain,
  clearArticles,
  clearAuthors,
  type Doomed,
  firstDomain,
  type ListedRemoval,
  noteCleared,
  type Removal,
  releaseAddresses,
  withoutWriters,
  writeAgain,
  writeTombstones,
} from '#search/removals'
import { leaveGroups } from '#shared/copies/pass'
import { tellRemoved } from '#shared/desk/alerts/messages'
import { hashesOfCited } from '#shared/desk/cited-removals'
import { type Client, countOf, readColumn, readValue, transaction } from '#shared/postgres/pool'
import { repeatLocked } from './locks.ts'
import { renewSamples } from './samples.ts'
import type { ClearStore } from './stores.ts'

/*
 * Takes articles out for good. `search/store/tombstones.ts` says how the index does it. Here one
 * transaction also clears what the house has of them: pages with their sources, messages that were
 * not delivered, groups of copies. Other stores are cleared afterwards, and each step may be run
 * again: vectors, the archive index, and the bytes of segments.
 */

/** The most articles of one transaction. Writers wait for it. */
export const BATCH = 200

/** Takes out articles that were not taken out before. @returns the removals, in their order */
export const removeArticles = (
  pool: Pool,
  articles: Doomed[],
  reason: string,
): Promise<Removal[]> =>
  repeatLocked(async () => {
    const seqs = articles.map(({ seq }) => seq)
    const cited = await hashesOfCited(pool, seqs, 'ever')
    return transaction(pool, async client => {
      await withoutWriters(client)
      const dead = await readColumn<bigint>(client, DEAD, [seqs])
      const alive = articles.filter(({ seq }) => !dead.includes(seq))
      if (alive.length === 0) return []
      return takeOut(client, alive, cited, () => writeTombstones(client, alive, reason))
    })
  })

/**
 * Takes out articles of a list again, in a database that went back to before their removals.
 *
 * @param listed removals of one installation, each once, ascending
 * @returns how many articles were there, and how many addresses cannot be barred
 */
export async function removeAgain(
  pool: Pool,
  listed: ListedRemoval[],
): Promise<{ removed: number; unbarred: number }> {
  const told = { removed: 0, unbarred: 0 }
  // Articles have no index by id, so this reads all of them.
  const { rows } = await pool.query<Doomed>(
    'select seq, id from articles where id = any ($1::text[])',
    [listed.map(({ id }) => id)],
  )
  const found = new Map(rows.map(row => [row.id, row]))
  for (let from = 0; from < listed.length; from += BATCH) {
    const part = listed.slice(from, from + BATCH)
    const seqs = part.flatMap(({ id }) => found.get(id)?.seq ?? [])
    const cited = await hashesOfCited(pool, seqs, 'ever')
    const done = await repeatLocked(() =>
      transaction(pool, async client => {
        await withoutWriters(client)
        const known = await readColumn<string>(client, KNOWN, [part.map(({ id }) => id)])
        const lacking = part.filter(({ id }) => !known.includes(id))
        const present = lacking.flatMap(({ id }) => found.get(id) ?? [])
        await adoptKey(client, part.at(-1)!.key)
        if (lacking.length > 0)
          await takeOut(client, present, cited, () => writeAgain(client, lacking, present))
        const released = part.filter(({ released_at }) => released_at !== null)
        if (released.length > 0) await releaseAddresses(client, released)
        return { removed: present.length, unbarred: await barAgain(client, part) }
      }),
    )
    told.removed += done.removed
    told.unbarred += done.unbarred
  }
  return told
}

// $1 ids. Index: tombstones_id_key.
const KNOWN = 'select id from tombstones where id = any ($1::text[])'

/**
 * Clears articles, and writes their tombstones last.
 *
 * @param cited hashes of those that citations had before writers had to wait
 */
async function takeOut<T>(
  client: Client,
  articles: Doomed[],
  cited: ReadonlyMap<bigint, string>,
  write: () => Promise<T>,
): Promise<T> {
  const seqs = articles.map(({ seq }) => seq)
  const hashes = new Map([...cited, ...(await hashesOfCited(client, seqs, 'an hour'))])
  await clearHouse(client, articles)
  await clearArticles(client, articles)
  const written = await write()
  const own = seqs.filter(seq => hashes.has(seq))
  if (own.length > 0) await client.query(NOTE_HASHES, [own, own.map(seq => hashes.get(seq))])
  return written
}

// $1 seqs, $2 hashes in hex. Index: tombstones_seq_key.
const NOTE_HASHES = `
  update tombstones t set cited_hash = decode(n.hash, 'hex')
    from unnest($1::bigint[], $2::text[]) as n (seq, hash) where t.seq = n.seq`

// $1 seqs. Index: tombstones_seq_key.
const DEAD = 'select seq from tombstones where seq = any ($1::bigint[])'

/** Deletes what is kept of articles beside the index. It runs before their addresses go. */
async function clearHouse(client: Client, articles: Doomed[]): Promise<void> {
  const seqs = articles.map(({ seq }) => seq)
  const ids = articles.map(({ id }) => id)
  await client.query(CLEAR_CLAIMS, [ids])
  await client.query(CLEAR_PAGES, [ids, seqs])
  await tellRemoved(client, seqs)
  // A message without articles goes. Its alert then looks again from its place before.
  await client.query(CLEAR_MESSAGES, [seqs])
  await client.query(
    "delete from alert_messages where delivered_at is null and kind = 'articles' and seqs = '{}'",
  )
  await client.query('delete from second_looks where id = any ($1::text[])', [ids])
  await leaveGroups(client, seqs)
}

// Plain hashes of its addresses can be guessed. $1 ids. Indexes: article_addresses_id, the primary
// key.
const CLEAR_CLAIMS = `
  delete from canonical_claims c using article_addresses a, outlets o
   where a.id = any ($1::text[]) and o.domain = any ${allDomains('array[a.outlet]')}
     and c.outlet_no = o.outlet_no and c.canonical = substr(sha256(convert_to(a.address, 'UTF8')), 1, 16)`

// Deletes pages, also under other addresses of the article, with their sources; and bars the
// addresses under which the crawler knew them. $1 ids, $2 seqs. Indexes: article_addresses_id, the
// unique keys of outlets and pages, the primary keys.
const CLEAR_PAGES = `
  with doomed as (
    select * from unnest($1::text[], $2::bigint[]) as d (id, seq)
  ), known as (
    select o.outlet_no, a.address, d.seq from doomed d join article_addresses a on a.id = d.id collate "C"
      join outlets o on o.domain = any (array(select d.domain from outlet_domains d where d.first = a.outlet) || a.outlet)
  ), named as (
    select p.page_no, k.seq from known k join pages p on p.outlet_no = k.outlet_no and p.crawl_key = k.address
    union select e.page_no, d.seq from doomed d join embeddings e on e.seq = d.seq where e.page_no is not null
    union select r.page_no, d.seq from doomed d join article_rights r on r.id = d.id collate "C" where r.page_no is not null
  ), past as (
    delete from back_addresses b using known k where b.outlet_no = k.outlet_no and b.crawl_key = k.address
  ), unfetched as (
    delete from unfetched_addresses u using known k where u.outlet_no = k.outlet_no and u.crawl_key = k.address
  ), gone as (
    delete from pages p using named n where p.page_no = n.page_no returning p.outlet_no, p.crawl_key, n.seq
  )
  insert into tombstone_addresses (hash, seq)
  select distinct on (1) ${addressHash(firstDomain('lower(o.domain)'), 'g.crawl_key')}, g.seq
    from gone g join outlets o using (outlet_no), tombstone_key k
  on conflict do nothing`

// $1 seqs. Index: alert_messages_due.
const CLEAR_MESSAGES = `
  update alert_messages m set seqs = array(
    select s from unnest(m.seqs) with ordinality as n (s, place) where s <> all ($1::bigint[]) order by place)
   where delivered_at is null and kind = 'articles' and seqs && $1::bigint[]`

/**
 * The next articles of an outlet, by number.
 *
 * @param before published earlier than this; null: all
 */
export const nextOfOutlet = async (
  pool: Pool,
  domain: string,
  before: Date | null,
  { after, upTo }: { after: bigint; upTo: bigint },
): Promise<Doomed[]> =>
  (await pool.query<Doomed>(OF_OUTLET, [domain, before, after, BATCH, upTo])).rows

export const countOfOutlet = (pool: Pool, domain: string, before: Date | null): Promise<number> =>
  countOf(pool, `select count(*)::int ${OF_ITS}`, [domain, before])

// $1 domain, $2 published before
const OF_ITS = `
  from articles a
   where a.publisher_no in (select publisher_no from publishers where outlet = $1 or domain = $1)
     and ($2::timestamptz is null or a.published_at < $2)
     and not exists (select from tombstones t where t.seq = a.seq)`
// $3 after, $4 limit, $5 up to. Index: the primary key.
const OF_OUTLET = `
  select a.seq, a.id ${OF_ITS} and a.seq > $3 and a.seq <= $5 order by a.seq limit $4`

/**
 * Where articles stand beside the index of words: SQL for the keys of what has them. $1 seqs.
 * Indexes: the primary keys, copy_sketches_group.
 */
const STANDING = {
  groups: `
    select first_seq from copy_sketches where first_seq in (
      select first_seq from copy_sketches where seq = any ($1::bigint[]))
     group by first_seq having count(*) > 1`,
  sets: 'select set_id from semantic_sets where seqs && $1::bigint[]',
  citations: "select encode(digest, 'hex') from citations where seqs && $1::bigint[]",
  alerts: 'select distinct alert_id from alert_messages where seqs && $1::bigint[]',
  pages: 'select page_no from embeddings where seq = any ($1::bigint[]) and page_no is not null',
}

/** Counts where articles stand, before they are taken out. */
export interface Standing {
  /** Adds some of the articles. What has several of them counts once. */
  add(articles: Doomed[]): Promise<void>
  counts(): Record<string, number>
}

export function countStanding(pool: Pool): Standing {
  const places = Object.entries(STANDING).map(([name, text]) => ({
    name,
    text,
    keys: new Set<unknown>(),
  }))
  let articles = 0
  return {
    async add(part) {
      const seqs = part.map(({ seq }) => seq)
      for (const { text, keys } of places)
        for (const key of await readColumn(pool, text, [seqs])) keys.add(key)
      articles += part.length
    },
    counts: () => ({
      articles,
      ...Object.fromEntries(places.map(({ name, keys }) => [name, keys.size])),
    }),
  }
}

/** The most removals that one round clears from other stores. */
const ROUND = 1_000

/**
 * SQL by what it is: rows with something of an article `t` that was taken out. Indexes: the
 * primary keys, article_addresses_id, alert_messages_seqs.
 */
export const PLACES = {
  'title, text and snippet': 'article_texts where seq = t.seq',
  words: 'article_words where seq = t.seq',
  'names of its authors': "articles where seq = t.seq and author_nos <> '{}'",
  'its section, kind and access':
    'articles where seq = t.seq and num_nonnulls(section, kind, access) > 0',
  addresses: 'article_addresses where id = t.id',
  'answers of its page': 'second_looks where id = t.id',
  'traces of copies of its text':
    'copy_sketches where seq = t.seq and num_nonnulls(first_seq, sample) > 0',
  'vectors that are to be made': 'embeddings where seq = t.seq',
  'what its outlet allows of it': 'article_rights where id = t.id',
  'messages about it on their way':
    "alert_messages where kind = 'articles' and delivered_at is null and seqs @> array[t.seq]",
}

// $1, $2 numbers of removals: after, and up to. Indexes: the primary key, those of `PLACES`.
const REOPEN = `
  update tombstones t set cleared_at = null
   where cleared_at is not null and number > $1 and number <= $2 and (author_nos <> '{}'
      ${Object.values(PLACES)
        .map(rows => `or exists (select from ${rows})`)
        .join(' ')})`

/**
 * Finds articles of which something came back after they were cleared, for `clearRemoved`: a
 * process of a former version wrote it, or somebody by hand. It looks at all removals, a range of
 * them at a time.
 */
export async function reopenRemoved(pool: Pool, signal: AbortSignal): Promise<void> {
  const last = (await readValue<bigint>(pool, 'select max(number) from tombstones')) ?? 0n
  for (let after = 0n; after < last && !signal.aborted; after += BigInt(ROUND))
    await pool.query(REOPEN, [after, after + BigInt(ROUND)])
}

/**
 * Clears what is left of articles that were taken out: again from Postgres, where a process may
 * have stored something late, then from other stores, the bytes of segments, and the planner's
 * samples.
 *
 * @param rewrite writes segments again that have their words
 * @returns how many tombstones still wait for it
 */
export async function clearRemoved(
  pool: Pool,
  stores: ClearStore[],
  signal: AbortSignal,
  rewrite: () => Promise<unknown> = () =>
    makeSegments(pool, undefined, { kinds: ['merge'], waitFor: ['merge'] }),
): Promise<number> {
  let after = 0n
  while (!signal.aborted) {
    const { rows } = await pool.query<Doomed & { number: bigint }>(OPEN, [after, ROUND])
    if (rows.length === 0) break
    const seqs = rows.map(({ seq }) => seq)
    await repeatLocked(() =>
      transaction(pool, async client => {
        await withoutWriters(client)
        await clearHouse(client, rows)
        await clearArticles(client, rows)
      }),
    )
    for (const store of stores) await store.clear(seqs)
    after = rows.at(-1)!.number
  }
  for (const store of stores) if (!signal.aborted) await store.end(signal)
  if (!signal.aborted) await repeatLocked(() => clearAuthors(pool))
  if (!signal.aborted) await rewrite()
  if (!signal.aborted) await pool.query(CLEAR_SETS)
  const outlets = await readColumn<number>(pool, 'select outlet_no from outlets')
  for (const outletNo of outlets)
    if (!signal.aborted) await repeatLocked(() => pool.query(CLEAR_NAMED, [outletNo]))
  if (!signal.aborted) await renewSamples(pool)
  if (!signal.aborted) await noteCleared(pool, after)
  return countOf(pool, 'select count(*)::int from tombstones where cleared_at is null')
}

// It runs when the vectors are gone, because searches until then make new sets. It looks for the
// articles of all tombstones: a search that ran beside an earlier `clear` may have stored its set
// late. What is left of a set serves its cursors, which stay good, and no new question: its id is
// no longer the digest of what it has. Index: tombstones_seq_key.
const CLEAR_SETS = `
  update semantic_sets s set question = '', seqs = kept.seqs, relevances = kept.relevances
    from (select i.set_id,
                 coalesce(array_agg(q.seq order by q.at) filter (where t.seq is null), '{}') as seqs,
                 coalesce(array_agg(q.relevance order by q.at) filter (where t.seq is null), '{}') as relevances
            from semantic_sets i cross join unnest(i.seqs, i.relevances) with ordinality q (seq, relevance, at)
            left join tombstones t on t.seq = q.seq
           group by i.set_id having count(t.seq) > 0) kept
   where s.set_id = kept.set_id`

/** SQL: deletes the rows of an outlet ($1) that have addresses of articles that were taken out. */
const deleteBarred = (table: string) => `
  delete from ${table} n using outlets o, (select * from tombstone_key limit 1) k, tombstone_addresses t
   where n.outlet_no = $1 and o.outlet_no = $1
     and t.hash = ${addressHash(firstDomain('lower(o.domain)'), 'n.crawl_key')} returning n.outlet_no`

// A crawler of a former version stores them again, and a restore brings back those of articles that
// the backup lacks. Each address is hashed, so an outlet at a time keeps within the time limit of
// statements. What its ledger loses is counted again. Indexes: the unique keys.
const CLEAR_NAMED = `
  with pages as (${deleteBarred('pages')}), past as (${deleteBarred('back_addresses')}),
       unfetched as (${deleteBarred('unfetched_addresses')})
  update back_fills set counted_at = 'epoch'
   where outlet_no in (select outlet_no from pages union select outlet_no from past union select outlet_no from unfetched)`

// $1 after, $2 limit. Index: tombstones_uncleared.
const OPEN = `
  select number, seq, id from tombstones where cleared_at is null and number > $1 order by number limit $2`

/** Frees the addresses of an article. Its id stays dead. @returns false: nobody has taken it out */
export const releaseArticle = (pool: Pool, id: string): Promise<boolean> =>
  repeatLocked(() =>
    transaction(pool, async client => {
      await withoutWriters(client)
      return releaseAddresses(client, [{ id, released_at: null }])
    }),
  )
