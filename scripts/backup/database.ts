import { auditCollection } from '#services/embedder/audit'
import { type Bound, boundArticles } from '#shared/articles/bounds'
import type { Config } from '#shared/config/config'
import { adoptRefusals, hashesOf, UNWANTED } from '#shared/desk/alerts/refusals'
import { createLogger } from '#shared/log/logger'
import { counted } from '#shared/log/printable'
import {
  type Client,
  countOf,
  type Pool,
  type Queryable,
  readColumn,
  readValue,
  transaction,
  UNFINISHED,
} from '#shared/postgres/pool'
import { sentenceOf, UsageError } from '#shared/process/command'
import { REMOVAL_LINES } from '#shared/removals/list'
import { openVectorStore } from '#shared/vectors/qdrant-store'
import { readCollections } from '#shared/vectors/registry'

/*
 * The steps that a database needs before and after it goes back to an earlier moment, by `npm run
 * restore` or by a recovery of its server.
 */

/** Major version of the server. */
export async function serverVersion(db: Queryable): Promise<number> {
  return Math.floor(Number(await readValue(db, 'show server_version_num')) / 10_000)
}

/**
 * Checks that no process of Perscope is connected to the database.
 *
 * @param command the command that calls this, whose own connections do not count
 * @throws UsageError that names the connected processes
 */
export async function checkNobodyConnected(db: Queryable, command: string): Promise<void> {
  const names = await readColumn<string>(
    db,
    // The names of services, without the mark that distinguishes processes.
    `select distinct regexp_replace(substr(application_name, 10), ' #.*', '') as name from pg_stat_activity
     where datname = current_database() and application_name like 'perscope %'
       and application_name not like 'perscope ' || $1 || '%'
     order by name`,
    [command],
  )
  if (names.length === 0) return
  throw new UsageError(
    `Perscope runs on this database (${names.join(', ')}); end npm start, or all services, first.`,
  )
}

export interface Continued {
  articles: number
  last: string | null
  clock: string
}

/** More removals than an installation makes between a backup and its restore. */
const LOST_REMOVALS = 1_000_000n

/**
 * Makes the database safe to write to after it went back. The numbers of lost articles are given to
 * new articles. An old cursor could then show such new articles in its frozen pages, so all cursors
 * end. A poller asks for articles after the last time that it has seen, so no new article may have
 * that time or an earlier one. It asks for removals in the same way, by their numbers.
 *
 * @param seen newest `ingested_at` that a client may have; null: the time of the server
 */
export async function goOn(pool: Pool, seen: Date | null): Promise<Continued> {
  return transaction(pool, async client => {
    const before = await client.query<{ articles: number; last: Date | null }>(
      // `last_at` is not used, because an earlier run may have moved it. The newest of the last
      // thousand articles counts, because an import may keep old times.
      `select last_seq::int as articles,
         (select max(ingested_at) from articles where seq > last_seq - 1000 and seq <= last_seq) as last
       from ingest_clock for update`,
    )
    const after = await client.query<{ clock: Date }>(
      `update ingest_clock set last_at = greatest(last_at, date_trunc('milliseconds', clock_timestamp()), $1),
              last_removal = last_removal + $2
       returning last_at as clock`,
      [seen, LOST_REMOVALS],
    )
    // The next API makes a new secret. Until then, no request of the present may seem to need one.
    await client.query("delete from secrets where name = 'cursor'")
    await client.query('delete from rate_windows')
    await client.query('delete from semantic_sets')
    await client.query(`drop schema if exists ${UNFINISHED} cascade`)
    const { articles = 0, last = null } = before.rows[0] ?? {}
    return {
      articles,
      last: last?.toISOString() ?? null,
      clock: after.rows[0]?.clock.toISOString() ?? '',
    }
  })
}

/** The migrations with which a database got bounds of articles, alerts, removals, and refusals. */
const SINCE = { bounds: 30, alerts: 38, removals: 44, refusals: 61 }

/**
 * Records that a restore has begun. Until `goOn`, other processes do not start. This also saves the
 * data that no restore may undo: removals, bounds of articles, refusals by owners of addresses,
 * and the alerts that these owners still want. If an earlier restore did not end, the data that it
 * saved stays.
 *
 * @param schema number of the last migration
 */
export async function begin(pool: Pool, schema: number): Promise<void> {
  await transaction(pool, async client => {
    await client.query(
      `create schema if not exists ${UNFINISHED};
       create table if not exists ${UNFINISHED}.bounds
         (id text primary key, page_no bigint, snippet text, bounded boolean, vector boolean)`,
    )
    if (schema >= SINCE.alerts) await saveRefusals(client, schema)
    if (schema >= SINCE.removals)
      await client.query(`create table if not exists ${UNFINISHED}.removals as ${REMOVAL_LINES}`)
    if (schema >= SINCE.bounds)
      await client.query(
        `insert into ${UNFINISHED}.bounds
         select r.id, r.page_no, t.snippet, r.snippet, r.vector
           from article_rights r join articles a using (id) join article_texts t using (seq)
         on conflict do nothing`,
      )
  })
}

async function saveRefusals(client: Client, schema: number): Promise<void> {
  const known = `select to_regclass('${UNFINISHED}.refusals') is not null`
  if (await readValue<boolean>(client, known)) return
  await client.query(
    `create table ${UNFINISHED}.refusals
       (hash bytea, key_id text, everything boolean, links bytea[], refused_at timestamptz(3))`,
  )
  const { rows } = await client.query<{ to: string; key: string; at: Date }>(
    'select told_to as to, key_id as key, asked_at as at from alert_asks where refused',
  )
  const save = `insert into ${UNFINISHED}.refusals values ($1, $2, false, '{}', $3)`
  for (const { to, key, at } of rows) {
    const [hash] = await hashesOf(client, to)
    await client.query(save, [hash, key, at])
  }
  if (schema >= SINCE.refusals)
    await client.query(
      `insert into ${UNFINISHED}.refusals select hash, key_id, everything, links, refused_at from refusals`,
    )
  await client.query(
    `create table ${UNFINISHED}.secrets as select name, value from secrets where name ~ '^refusals';
     create table ${UNFINISHED}.wanted as select alert_id from search_alerts where confirmed_at is not null`,
  )
}

/**
 * Catalogues of the server, which describe the tables, columns, constraints, functions and triggers
 * of a database. A change of any of them changes rows of the catalogues.
 */
const CATALOGS = [
  'pg_class',
  'pg_attribute',
  'pg_attrdef',
  'pg_constraint',
  'pg_namespace',
  'pg_proc',
  'pg_trigger',
  'pg_type',
]

// Tables of other accounts are left out, because the file cannot write to them, either.
const TABLES = `
  select format('%I.%I', nspname, relname) as name from pg_class c join pg_namespace n on n.oid = relnamespace
   where relkind = 'r' and has_table_privilege(c.oid, 'select') and nspname !~ '^pg_' and nspname <> 'information_schema'`

/**
 * SQL: a digest of a table. It uses the place of each row and the transaction that wrote it, which
 * both change when a row is written again.
 */
const digestOf = (table: string) =>
  `select concat(count(*), ' ', sum(hashtextextended(concat(ctid, ' ', xmin), 0))) as digest from only ${table}`

export interface HeldMoment {
  /**
   * Ends the session that loads, then compares whether every row is unchanged. Releases the
   * snapshot, which holds a lock on each compared table.
   */
  isNow(): Promise<boolean>
  end(): void
}

/**
 * Keeps a snapshot of the database while a file is loaded, to compare the database with it
 * afterwards. This is needed, because the text of a forged file may end the transaction that would
 * undo a failed load.
 */
export async function holdMoment(pool: Pool): Promise<HeldMoment> {
  const client = await pool.connect()
  // A transaction that begins now can still see rows that are deleted later.
  await client.query('begin isolation level repeatable read read only')
  await client.query('set local idle_in_transaction_session_timeout = 0')
  await client.query('select pg_current_snapshot()')
  let ended = false
  const end = () => {
    if (!ended) client.release(true)
    ended = true
  }
  async function compare(): Promise<boolean> {
    await pool.query(
      `select pg_terminate_backend(pid, 60000) from pg_stat_activity
        where datname = current_database() and application_name = 'perscope restore'`,
    )
    // The catalogues are compared, too, because they show whether the tables are still the same
    // ones.
    for (const table of [...CATALOGS, ...(await readColumn<string>(client, TABLES))]) {
      if ((await readValue(client, digestOf(table))) !== (await readValue(pool, digestOf(table))))
        return false
    }
    return true
  }
  return {
    isNow: () => compare().finally(end),
    end,
  }
}

// The secret of another installation gets a name beside the own one.
const SECRETS_AGAIN = `
  insert into secrets (name, value)
  select case when exists (select from secrets where name = s.name) then 'refusals ' || encode(sha256(value), 'hex') else name end, value
    from ${UNFINISHED}.secrets s where value not in (select value from secrets) on conflict do nothing`

// Refusals that the backup also has change nothing.
const REFUSE_AGAIN = `
  insert into refusals
  select distinct on (hash, key_id) hash, key_id, bool_or(everything) over (partition by hash, key_id), links, refused_at
    from ${UNFINISHED}.refusals r
   where not exists (select from refusals o where (o.hash, o.key_id, o.everything) = (r.hash, r.key_id, r.everything))
   order by hash, key_id, refused_at desc
  on conflict (hash, key_id) do update set everything = excluded.everything, links = excluded.links, refused_at = excluded.refused_at
  returning hash, key_id as key, everything`

// $1 alert, $2 the reason why it rests from then on.
const END_AGAIN = `
  with ended as (
    update search_alerts set confirmed_at = null, asked_at = null, rests = $2 where alert_id = $1 returning alert_id)
  delete from alert_messages where alert_id in (select alert_id from ended) and delivered_at is null`

/** Ends the alerts of the backup that the owners of their addresses have refused since. */
async function refuseAgain(client: Client): Promise<void> {
  await client.query(SECRETS_AGAIN)
  await adoptRefusals(client)
  const { rows: later } = await client.query<{ hash: Buffer; key: string; everything: boolean }>(
    REFUSE_AGAIN,
  )
  if (later.length === 0) return
  const { rows: alerts } = await client.query<{ id: string; key: string; to: string }>(
    `select alert_id as id, key_id as key, told_to as to from search_alerts
      where confirmed_at is not null and alert_id not in (select alert_id from ${UNFINISHED}.wanted)`,
  )
  for (const { id, key, to } of alerts) {
    const hashes = await hashesOf(client, to)
    const isRefused = later.some(
      one => (one.everything || one.key === key) && hashes.some(hash => hash.equals(one.hash)),
    )
    if (isRefused) await client.query(END_AGAIN, [id, UNWANTED])
  }
}

/**
 * If a restore has begun, writes back the data that `begin` saved, because some of it is newer than
 * the backup.
 */
export async function keepRefusals(pool: Pool): Promise<void> {
  const { rows: begun } = await pool.query<{ alerts: boolean }>(
    `select to_regclass('${UNFINISHED}.refusals') is not null as alerts where to_regclass('${UNFINISHED}.bounds') is not null and to_regclass('article_rights') is not null`,
  )
  if (begun.length === 0) return
  // Articles have no index by id, so this reads all of them.
  const { rows } = await pool.query<Bound>(
    `select seq, id, k.page_no as "pageNo", k.snippet, bounded as "isBounded", vector as "hasVector"
       from ${UNFINISHED}.bounds k join articles using (id)`,
  )
  if (rows.length > 0) await transaction(pool, client => boundArticles(client, rows))
  // A restore that an older version began has saved none.
  if (begun[0]?.alerts) await transaction(pool, refuseAgain)
}

/**
 * Removes vectors of articles that the database does not have, because new articles will get their
 * numbers.
 *
 * @param moment the present state of the database, as "this backup"
 * @returns a sentence about the vectors
 */
export async function compareVectors(
  pool: Pool,
  config: Pick<Config, 'QDRANT_URL' | 'QDRANT_API_KEY'>,
  moment: string,
  signal: AbortSignal,
): Promise<string> {
  const [serving] = await readCollections(pool)
  if (!serving) return 'No article was embedded; embedders begin by themselves.'
  if (config.QDRANT_URL === '')
    return 'QDRANT_URL is not set, so vectors were not compared; embedders do so at start.'
  const vectors = openVectorStore(config)
  try {
    if ((await vectors.count(serving.name)) === null)
      return `The vector store has no vectors of ${moment}; embedders embed all articles again.`
    await auditCollection(pool, vectors, serving, createLogger('restore', 'silent'), signal)
  } catch (error) {
    return `The vector store was not compared (${sentenceOf(error)}); embedders do so at start.`
  }
  const lost = await countOf(
    pool,
    'select count(*)::int from embeddings where embedded_at is null and failed_at is null',
  )
  return `The vectors are those of ${moment}; embedders embed ${counted(lost, 'article')} without one.`
}
