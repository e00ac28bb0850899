import { textArray } from '../binary-arrays.ts'
import { createPace, eachIn } from '../pace.ts'
import {
  type Client,
  columnsOf,
  type Pool,
  type Queryable,
  readColumn,
  readRow,
  readValue,
  transaction,
} from '../postgres.ts'
import { NOTHING_STATED, type Stated } from '../terms.ts'
import type { ArticleWriter, Indexer, WriteOptions, WrittenOutcome, WrittenRow } from '../types.ts'
import { claimIdentities, type NamesOf, registerNames } from './identity.ts'
import {
  type ArticleRights,
  type Indexed,
  type NewArticle,
  type PreparedText,
  prepareText,
  storable,
} from './new-article.ts'

/*
 * One row, the clock, decides the order in which articles become visible. A writer locks this row,
 * draws numbers and a stamp, inserts and commits. So writers do all slow work before they take the
 * lock.
 */

/**
 * The most articles that one transaction makes visible. A larger batch would not be faster, and
 * would hold the clock longer.
 */
export const BATCH = 50

interface WriterParts {
  pool: Pool
  indexer: Indexer
  /** ms until the articles are due for embedding. */
  embedDelay: number
  /** ms for which a stopped process may hold the clock. Tests make it short. */
  holdsClock?: number
}

export function openArticleWriter(parts: WriterParts): ArticleWriter {
  const { pool, indexer } = parts
  const partitions = createPartitionRoom(pool)
  return {
    async write(articles, options = {}) {
      const batches = split(articles.map(storableNames))
      const results: Indexed[] = []
      const prepare = async (batch: NewArticle[]) => {
        await partitions.ensure()
        return prepareBatch(pool, batch)
      }
      // The next batch is tokenised while the database inserts this batch.
      let next = batches[0] === undefined ? null : prepare(batches[0])
      for (let number = 1; next !== null; number++) {
        const inserting = insertBatch(parts, await next, options)
        const following = batches[number]
        next = following === undefined ? null : prepare(following)
        next?.catch(() => {}) // the next `await next` reports the error
        const inserted = await inserting
        partitions.note(inserted)
        results.push(...inserted)
        await indexer.notify(partitions.last())
      }
      return results
    },
  }
}

/**
 * Makes the names of an article storable in Postgres, as `prepareText` does for its texts.
 * Otherwise one bad name would fail a whole batch.
 */
export function storableNames(article: NewArticle): NewArticle {
  const { authors, outlet, stated } = article
  const { name, domain } = outlet
  const section = stated?.section ?? ''
  if ([...authors, name ?? '', domain ?? '', section].every(one => storable(one) === one))
    return article
  return {
    ...article,
    ...(stated ? { stated: { ...stated, section: storable(section) || null } } : {}),
    authors: authors.map(storable),
    outlet: { name: name && storable(name), domain: domain && storable(domain) },
  }
}

/**
 * The most text of one transaction, in code units. A batch of megabytes would hold the clock for
 * seconds.
 */
const BATCH_TEXT = 1_000_000

function split(articles: NewArticle[]): NewArticle[][] {
  const batches: NewArticle[][] = []
  let text = 0
  for (const article of articles) {
    const length = unitsOf(article)
    const last = batches.at(-1)
    if (last === undefined || last.length === BATCH || text + length > BATCH_TEXT) {
      batches.push([article])
      text = length
    } else {
      last.push(article)
      text += length
    }
  }
  return batches
}

/** The length of an article's text, in code units. */
export const unitsOf = ({ prepared, title, body }: NewArticle): number =>
  prepared?.units ?? title.length + (body?.length ?? 0)

interface Batch {
  articles: NewArticle[]
  prepared: PreparedArticle[]
}

/** Registers names and prepares texts. This work needs no lock. */
export async function prepareBatch(pool: Pool, articles: NewArticle[]): Promise<Batch> {
  const namesOf = await registerNames(pool, articles)
  // The thread rests only between two articles. One article of megabytes may take longer than a
  // turn.
  const prepare = (article: NewArticle) => prepareArticle(article, namesOf)
  return { articles, prepared: await eachIn(createPace(), articles, prepare) }
}

/**
 * ms for which a transaction may hold the clock. The transaction of an import takes a few seconds.
 */
export const HOLDS_CLOCK = 60_000

/**
 * Runs work that may wait for the clock. Meanwhile it ends another process's connection if that
 * process holds the clock and was stopped between two messages of a statement. Postgres servers
 * before 17 have no time limit for this case. No server has one before the process has the clock.
 *
 * @param limit ms for which such a process may be stopped. It is ended within one and a half times
 *   the limit. By default that is before the statements of a writer reach their time limit of 60 s.
 */
export async function minding<T>(
  pool: Pool,
  work: Promise<T>,
  limit: number = HOLDS_CLOCK / 2,
): Promise<T> {
  const looking = setInterval(
    () => void pool.query(END_STOPPED, [limit]).catch(() => {}),
    limit / 2,
  )
  return await work.finally(() => clearInterval(looking))
}

// $1 ms. Processes that wait for the clock have also locked its table. This statement does not end
// them, because they wait for a lock and not for their client.
const END_STOPPED = `
  select pg_terminate_backend(pid) from pg_locks join pg_stat_activity using (pid)
  where relation = 'ingest_clock'::regclass and mode = 'RowExclusiveLock' and state = 'active'
    and wait_event = 'ClientRead' and state_change < clock_timestamp() - $1::int * interval '1 ms'`

/**
 * How often the writer tries to insert a batch. Two writers that claim each other's ids in opposite
 * order can deadlock. Postgres then ends one of the transactions, and this writer tries again.
 */
const ATTEMPTS = 3

async function insertBatch(
  { pool, embedDelay, holdsClock }: WriterParts,
  { articles, prepared }: Batch,
  { within, numbered }: WriteOptions,
): Promise<Indexed[]> {
  const insert = async (client: Client): Promise<Indexed[]> => {
    const claims = await claimIdentities(client, articles)
    const outcomes = claims.map(
      ({ id, known, removed }): WrittenOutcome => ({
        outcome: removed ? 'removed' : known ? 'known' : 'indexed',
        id,
      }),
    )
    await within?.(client, outcomes, articles)
    const unknown = articles.filter((_, at) => !claims[at]!.known)
    if (unknown.length === 0) return withNumbers(outcomes, 0n)
    const namesOf = await registerNames(client, unknown)
    const added = claims.flatMap(({ id, known }, at) =>
      known ? [] : [{ ...prepared[at]!, ...namesOf(articles[at]!), id }],
    )
    const { first, stamp } = await insertArticles(client, added, new Date(Date.now() + embedDelay))
    numbered?.(
      added.map(({ id, ingestedAt }, at) => ({
        seq: first + BigInt(at),
        id,
        ingestedAt: enteredAt(ingestedAt, stamp),
      })),
    )
    return withNumbers(outcomes, first)
  }
  for (let attempt = 1; ; attempt++) {
    try {
      return await minding(pool, transaction(pool, insert), holdsClock)
    } catch (error) {
      const deadlocked = error instanceof Error && 'code' in error && error.code === '40P01'
      if (!deadlocked || attempt === ATTEMPTS) throw error
    }
  }
}

function withNumbers(outcomes: WrittenOutcome[], first: bigint): Indexed[] {
  let next = first
  return outcomes.map(({ outcome, id }) =>
    outcome === 'indexed' ? { outcome, id, seq: next++ } : { outcome, id },
  )
}

/**
 * Partitions are checked again when fewer than this many numbers are left. All processes together
 * write far fewer articles between two checks.
 */
const MARGIN = 524_288n

export interface PartitionRoom {
  ensure(): Promise<void>
  note(results: Indexed[]): void
  last(): bigint
}

/** Makes sure that the articles of the next batches have a partition. */
export function createPartitionRoom(pool: Pool): PartitionRoom {
  /** `last`: `seq` of the newest known article. `room`: partitions exist up to this `seq`. */
  let known: { last: bigint; room: bigint } | null = null
  return {
    async ensure() {
      if (known !== null && known.last + MARGIN < known.room) return
      const last = (await readValue<bigint>(pool, 'select last_seq from ingest_clock'))!
      known = { last, room: await ensurePartitions(pool, last) }
    },
    note(results) {
      for (const result of results) {
        if (known !== null && result.outcome === 'indexed' && result.seq > known.last)
          known.last = result.seq
      }
    },
    last: () => known?.last ?? 0n,
  }
}

/**
 * A row of `articles` with its rows in other tables. The values that the clock gives are missing.
 */
export interface PreparedArticle extends PreparedText<string | Uint8Array> {
  publishedAt: Date | null
  /** undefined: the clock gives the time. */
  ingestedAt: Date | null | undefined
  publisherNo: number
  authorNos: number[]
  country: string
  language: string
  stated: Stated
  url: string
  agencies: string[]
  agencyRules: number | null
  pageNo: bigint | null
  rights: ArticleRights
}

/**
 * Prepares an article: all work that takes time and needs no lock. If the text is already prepared,
 * little work remains.
 */
function prepareArticle(article: NewArticle, namesOf: NamesOf): PreparedArticle {
  return {
    ...(article.prepared ?? prepareText(article)),
    publishedAt: article.publishedAt,
    ingestedAt: article.ingestedAt,
    ...namesOf(article),
    country: article.country,
    language: article.language,
    stated: article.stated ?? NOTHING_STATED,
    url: article.url,
    agencies: article.agencies ?? [],
    agencyRules: article.agencyRules ?? null,
    pageNo: article.pageNo ?? null,
    rights: article.rights ?? { bounded: false, vector: true },
  }
}

/**
 * Takes the lock of the clock and inserts the articles. From here to the commit no other process
 * can make articles visible, so this function does as little as possible. Returns the `seq` of the
 * first article. The others follow in order.
 */
async function insertArticles(client: Client, articles: IdentifiedArticle[], embedAt: Date) {
  const taken = await readRow<{ first: bigint; stamp: Date }>(client, {
    name: 'insert-articles',
    text: insertion(NEXT_NUMBERS),
    values: valuesOf(articles, embedAt),
  })
  return taken!
}

/**
 * The time of ingestion of an article. `own` is undefined: the stamp. `own` is null: null, because
 * the import gives no time. Otherwise `own`, but never later than the stamp.
 */
export const enteredAt = (own: Date | null | undefined, stamp: Date): Date | null =>
  own === undefined || (own !== null && own > stamp) ? stamp : own

/**
 * Finds which of the given rows the database has. If the answer to a commit was lost, only the rows
 * tell whether they were written. Numbers of transactions cannot tell, because they may be given
 * again after a failover. The caller has claimed the same addresses before, and so has waited for
 * the end of that transaction.
 *
 * @returns the ids of the rows that exist
 */
export async function findWritten(db: Queryable, rows: WrittenRow[]): Promise<Set<string>> {
  if (rows.length === 0) return new Set()
  return new Set(await readColumn<string>(db, WRITTEN, columnsOf(rows, 'seq', 'id', 'ingestedAt')))
}

// $1 seqs, $2 ids, $3 times. Index: the primary key of articles.
const WRITTEN = `
  select a.id from unnest($1::bigint[], $2::text[], $3::timestamptz[]) as own (seq, id, ingested_at)
  join articles a on a.seq = own.seq and a.id = own.id and a.ingested_at is not distinct from own.ingested_at`

/** Numbers and stamps of an import. Its articles have the numbers after `base`. */
export interface TakenNumbers {
  base: bigint
  /** The first stamp; each of the others is a millisecond later. */
  stamp: Date
}

/**
 * Takes the lock of the clock, and numbers and stamps from it. Until the commit no other process
 * can make articles visible, so a stopped process must lose the lock.
 *
 * Postgres ends a transaction that waits too long for its next message. It does not do so between
 * the two messages of an unprepared statement, so `insertNumbered` is prepared before. From version
 * 17 on, Postgres also limits the whole transaction from here on. On older servers, a process that
 * waits for the clock ends the transaction (`minding`). The time of waiting for the lock does not
 * count.
 *
 * @param limit ms to hold the lock
 */
export async function takeNumbers(
  client: Client,
  articles: number,
  stamps: number,
  limit: number,
): Promise<TakenNumbers> {
  await insertNumbered(client, valuesOf([], new Date(0)), { base: 0n, stamp: new Date(0) })
  const values = [articles, stamps - 1, String(limit)]
  return (await readRow<TakenNumbers>(client, TAKE_NUMBERS, values))!
}

/**
 * Inserts articles under the numbers that `takeNumbers` has reserved for them: those after `base`.
 * All articles get the same stamp.
 *
 * @param values `valuesOf` the articles
 */
export async function insertNumbered(
  client: Client,
  values: unknown[],
  { base, stamp }: TakenNumbers,
): Promise<void> {
  await client.query({
    name: 'insert-numbered',
    text: insertion(TAKEN_NUMBERS),
    values: [...values, stamp, base],
  })
}

export type IdentifiedArticle = PreparedArticle & { id: string }

/** A column of the inserted articles: its name, its type, and a function that gives its value. */
type Column =
  | [name: string, type: 'text', of: (one: IdentifiedArticle) => string | Uint8Array | null]
  | [
      name: string,
      type: 'bigint' | 'boolean' | 'int' | 'timestamptz',
      of: (one: IdentifiedArticle) => unknown,
    ]

const COLUMNS: readonly Column[] = [
  ['id', 'text', one => one.id],
  ['published_at', 'timestamptz', one => one.publishedAt],
  ['ingested_at', 'timestamptz', one => one.ingestedAt ?? null],
  ['stamped', 'boolean', one => one.ingestedAt === undefined],
  ['publisher_no', 'int', one => one.publisherNo],
  ['authors', 'text', one => `{${one.authorNos.join(',')}}`],
  ['country', 'text', one => one.country],
  ['language', 'text', one => one.language],
  ['words_title', 'text', one => one.words.title],
  ['words_body', 'text', one => one.words.body],
  ['title', 'text', one => one.title],
  ['url', 'text', one => one.url],
  ['snippet', 'text', one => one.snippet],
  ['body', 'text', one => one.body],
  [
    'agencies',
    'text',
    one => (one.agencies.length === 0 ? null : `{${one.agencies.map(name => `"${name}"`)}}`),
  ],
  ['agency_rules', 'int', one => one.agencyRules],
  ['page_no', 'bigint', one => one.pageNo],
  ['bounded', 'boolean', one => one.rights.bounded],
  ['vector', 'boolean', one => one.rights.vector],
  ['section', 'text', one => one.stated.section],
  ['kind', 'text', one => one.stated.kind],
  ['access', 'text', one => one.stated.access],
]

/** The articles as parameters of their insertion. */
export const valuesOf = (articles: IdentifiedArticle[], embedAt: Date): unknown[] => [
  ...COLUMNS.map(([, type, of]) =>
    type === 'text' ? textArray(articles.map(of)) : articles.map(of),
  ),
  embedAt,
]

// This is one statement, so that the lock of the clock is held only during it and the commit.
// `incoming` is materialised and counted by `clock`, so Postgres parses all of it before it takes
// the lock. The time of an imported article is never later than the stamp, because clients poll
// from the newest time that they have seen.
const insertion = (clock: string) => `
  with incoming as materialized (
    select i.*, authors::int[] as author_nos
    from unnest(${COLUMNS.map(([, type], at) => `$${at + 1}::${type}[]`)}) with ordinality
      as i (${COLUMNS.map(([name]) => name)}, place)
  ), clock as (${clock}), numbered as materialized (
    select i.*, base + place as seq,
           case when stamped then last_at
                when ingested_at is not null then least(ingested_at, last_at) end as entered_at
    from incoming i, clock
  ), indexed as (
    insert into articles (seq, id, published_at, ingested_at, publisher_no, author_nos, country, language, own_time, section, kind, access)
    select seq, id, published_at, entered_at, publisher_no, author_nos, country, language, not stamped, section, kind, access from numbered order by seq
  ), worded as (
    insert into article_words (seq, title, body)
    select seq, words_title, words_body from numbered order by seq
  ), shown as (
    insert into article_texts (seq, title, url, snippet, body, agencies, agency_rules)
    select seq, title, url, snippet, body, agencies::text[], agency_rules from numbered order by seq
  ), days as (
    select 'published_at' as axis, (published_at at time zone 'UTC')::date as day, count(*) as articles
    from numbered where published_at is not null group by 2
    union all
    select 'ingested_at', (entered_at at time zone 'UTC')::date, count(*)
    from numbered where entered_at is not null group by 2
  ), counted as (
    insert into article_days as d (axis, day, articles) select * from days
    on conflict (axis, day) do update set articles = d.articles + excluded.articles
  ), reserved as (
    insert into article_rights (id, snippet, vector, page_no, article_seq)
    select id, bounded, vector, page_no, seq from numbered where bounded or not vector on conflict (id) do nothing
  ), scheduled as (
    insert into embeddings (seq, due_at, page_no)
    select seq, $${COLUMNS.length + 1}::timestamptz, page_no from numbered where vector order by seq
  )
  select base + 1 as first, last_at as stamp from clock`

// The stamp grows by at least 1 ms from batch to batch. It runs ahead of the wall clock only while
// more than one batch comes in a ms.
const NEXT_NUMBERS = `
    update ingest_clock
    set last_at = greatest(date_trunc('milliseconds', clock_timestamp()), last_at + interval '1 ms'),
        last_seq = last_seq + (select count(*) from incoming)
    returning last_at, last_seq - (select count(*) from incoming) as base`

// The stamp and the base come after the parameters of `valuesOf`.
const TAKEN_NUMBERS = `select $${COLUMNS.length + 2}::timestamptz as last_at, $${COLUMNS.length + 3}::bigint as base`

// $1 articles, $2 stamps after the first, $3 limit in ms, which the server sets once it has locked
// the row. The last stamp is ahead of the wall clock by less than the transaction takes.
const TAKE_NUMBERS = `
  update ingest_clock
  set last_at = greatest(date_trunc('milliseconds', clock_timestamp()), last_at + interval '1 ms')
        + $2::int * interval '1 ms',
      last_seq = last_seq + $1::int
  returning last_seq - $1::int as base, last_at - $2::int * interval '1 ms' as stamp,
    (select set_config(name, $3, true) from pg_settings where name = 'transaction_timeout') as limited`

/**
 * How many articles one partition has. With this size its indexes fit into memory, and twenty years
 * of news have a dozen partitions.
 */
export const PARTITION_SIZE = 4_194_304n

/** A new partition is made when the newest one has room for fewer articles than this. */
const NUMBERS_AHEAD = 1_048_576n

// An arbitrary number. The process with this lock makes a partition. The others wait and find it.
const PARTITION_LOCK = 7_211_004_222n

/**
 * Makes sure that articles up to `lastSeq` and far beyond have a partition. It creates a table and
 * attaches it, because to create a partition in place would block searches. Returns the number up
 * to which partitions exist.
 */
export async function ensurePartitions(pool: Pool, lastSeq: bigint): Promise<bigint> {
  const needed = (lastSeq + NUMBERS_AHEAD) / PARTITION_SIZE
  for (let number = lastSeq / PARTITION_SIZE; number <= needed; number++) {
    const name = `articles_p${number}`
    await transaction(pool, async client => {
      if (await readValue<boolean>(client, 'select to_regclass($1) is not null', [name])) return
      await client.query('select pg_advisory_xact_lock($1)', [PARTITION_LOCK])
      await client.query(
        `create table if not exists ${name} (like articles including all, primary key (seq))`,
      )
      await client.query(attachPartition(name, number * PARTITION_SIZE))
    })
  }
  return (needed + 1n) * PARTITION_SIZE
}

// Two processes may run this statement, one after the other. The second process finds the partition
// attached and does nothing.
const attachPartition = (name: string, from: bigint) => `
  do $$ begin
    if not exists (select from pg_inherits where inhrelid = '${name}'::regclass) then
      alter table articles attach partition ${name} for values from (${from}) to (${from + PARTITION_SIZE});
    end if;
  end $$`
