import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { byteaArray } from '#search/binary-arrays'
import { firstDomain } from '#search/removals'
import {
  type Client,
  columnsOf,
  type Pool,
  PRIMARY_HISTORY,
  type Queryable,
  readColumn,
  readRow,
  readValue,
  transaction,
  whileLocked,
} from '#shared/postgres/pool'
import { createNeighbours, type Sketch, toBytes } from './neighbours.ts'
import { areCopies, judge, RULES, sampleOf, WEEK } from './shingles.ts'

/*
 * A group of copies is a first article and all articles that joined it. In order of `seq`, each
 * article joins the earliest first article within a week of which it is a copy. If there is none,
 * the article is a first article itself.
 *
 * The pass takes new articles in batches, and notes in `copies_state` how far it is. A row of
 * `copies_due` asks the pass to find the group of an article again. The invariant: an article up to
 * `copies_state.seq` has the group that follows from the articles before it, or is due. When an
 * article becomes a first article, or stops being one, the same transaction makes due all articles
 * whose groups may change. Only later articles become due, so the work comes to an end.
 */

/** An arbitrary number. The process that holds this lock finds groups. */
const LOCK = 3_480_226_017n

/**
 * The most articles of a batch, and the most bytes of their bodies in the form that Postgres
 * stores.
 */
const BATCH = 256
const BATCH_BYTES = 1_000_000
/** How many batches are taken together when a single batch would read samples of many days. */
const TOGETHER = 16
/** The most bytes of a body that `read` reads ahead, in the form that Postgres stores. */
const AHEAD_BYTES = 16_000
/** The most bytes of exact shingles in memory. */
const EXACT = 24 * 2 ** 20

interface State {
  rules: number
  seq: number
  version: number
  /** The last version that changed known groups. */
  changed: number
  /** Of the primary that was read (`PRIMARY_HISTORY`); null: of a standby. */
  history: string | null
}

const STATE = `
  select rules, seq::float8 as seq, version::float8 as version, changed::float8 as changed,
         case when not pg_is_in_recovery() then ${PRIMARY_HISTORY} end as history
    from copies_state`

/** An article with the values that decide its group. */
interface Article {
  seq: number
  id: string
  /** ms since 1970; null: not known. */
  at: number | null
  outlet: string
}

const ARTICLE = `a.seq::float8 as seq, a.id, ${firstDomain('p.outlet')} as outlet,
    floor(extract(epoch from coalesce(a.published_at, a.ingested_at)) * 1000)::float8 as at`

// $1 seqs. Indexes: the primary keys.
const BATCH_OF = `
  select ${ARTICLE}, case when r.id is null then t.body end as body
    from articles a join article_texts t using (seq) join publishers p using (publisher_no)
         left join article_rights r on r.id = a.id and not r.vector
   where a.seq = any ($1::bigint[]) order by a.seq`

// $1 seqs. Finds only first articles and members of groups. Indexes: the primary keys.
const STORED = `
  select ${ARTICLE}, s.first_seq::float8 as first
    from copy_sketches s join articles a using (seq) join publishers p using (publisher_no)
   where s.seq = any ($1::bigint[]) and s.first_seq is not null`

// $1 after, $2 BATCH, $3 BATCH_BYTES. Returns the first article even if it is larger. Indexes: the
// primary keys.
const NEXT = `
  select seq from (
    select a.seq::float8 as seq, row_number() over w as place, sum(coalesce(pg_column_size(t.body), 0)) over w as bytes
      from (select seq from articles where seq > $1 and seq <= (select last_seq from ingest_clock) order by seq limit $2) a
           join article_texts t using (seq) window w as (order by a.seq)) n
   where place = 1 or bytes <= $3 order by seq`

type Candidate = Article & { first: number | null }

export interface CopyGroups {
  /**
   * Finds the groups of all visible articles, until `signal` aborts it. Does nothing while
   * another process finds groups.
   *
   * @param share the part of the time in which it works. In the other part it pauses, so that
   *   other work can run.
   */
  pass(signal: AbortSignal, share?: number): Promise<void>
  /**
   * Finds the groups of some articles again. Passes of other processes may help.
   *
   * @returns false: `signal` aborted it
   */
  regroup(seqs: bigint[], signal: AbortSignal): Promise<boolean>
}

/** Opens the pass that finds the groups of copies. Samples stay in memory between two calls. */
export function openCopyGroups(pool: Pool): CopyGroups {
  const placer = createPlacer(() => pool)
  /** The version of the groups that `placer` has in memory. */
  let known = -1

  /** Finds the groups of the next articles. @returns false: there is nothing more to do */
  async function step(): Promise<boolean> {
    const state = (await readRow<State>(pool, STATE))!
    if (state.rules !== RULES) return state.rules < RULES && beginAnew(pool, state)
    if (state.version !== known) placer.forget()
    known = state.version
    const due = await readColumn<number>(pool, DUE, [BATCH])
    const most = placer.isReadingMuch() ? TOGETHER : 1
    const batches = due.length > 0 ? [due] : await nextBatches(pool, state.seq, most)
    const seqs = batches.flat()
    if (seqs.length === 0) return false
    const placed = await placer.place(batches)
    const to = due.length > 0 ? state.seq : seqs.at(-1)!
    const version = await store(pool, state, to, seqs, placed)
    if (version !== null) {
      known = version
      placer.add(
        placed.articles.flatMap(({ seq, sketch }) => (!placed.before.has(seq) && sketch) || []),
      )
    }
    return true
  }

  return {
    async pass(signal, share = 1) {
      if (!(await readValue<boolean>(pool, IS_DUE, [RULES]))) return
      await whileLocked(pool, LOCK, async () => {
        for (let more = true; more && !signal.aborted; ) {
          const start = performance.now()
          more = await step()
          if (share < 1)
            await sleep((performance.now() - start) * (1 / share - 1), null, { signal }).catch(
              () => {},
            )
        }
      })
    },
    async regroup(seqs, signal) {
      await pool.query(DUE_AGAIN, [seqs])
      while (!signal.aborted) {
        await this.pass(signal)
        const { rowCount } = await pool.query('select from copies_due limit 1')
        if (rowCount === 0) return true
        await sleep(100)
      }
      return false
    },
  }
}

/** The `seq` of the next articles, by batch. */
async function nextBatches(db: Queryable, after: number, most: number): Promise<number[][]> {
  const batches: number[][] = []
  while (batches.length < most) {
    const last = batches.at(-1)?.at(-1) ?? after
    const next = await readColumn<number>(db, NEXT, [last, BATCH, BATCH_BYTES])
    if (next.length === 0) break
    batches.push(next)
  }
  return batches
}

/**
 * Finds groups. Writes nothing to the database.
 *
 * @param db returns the connection that the next statement uses
 */
function createPlacer(db: () => Queryable) {
  const neighbours = createNeighbours(db)
  const exact = createExact(db)

  function sketchOf({ seq, at }: Article, body: string | null): Sketch | null {
    const shingles = at === null ? null : judge(body)
    if (at === null || shingles === null) return null
    exact.keep(seq, shingles)
    return {
      seq,
      day: Math.floor(at / 86_400_000),
      shingles: shingles.length,
      sample: sampleOf(shingles),
    }
  }

  /**
   * The `seq` of the first article of an article's group; its own `seq` if it is a first article
   * itself.
   */
  async function firstOf(article: Article, near: Candidate[]): Promise<number> {
    const firsts = near
      .filter(
        ({ seq, first, at }) =>
          seq < article.seq && first === seq && Math.abs(at! - article.at!) <= WEEK,
      )
      .sort((a, b) => a.seq - b.seq)
    for (const { seq, outlet } of firsts) {
      const own = await exact.of(article.seq)
      const other = await exact.of(seq)
      if (own && other && areCopies(own, other, outlet === article.outlet)) return seq
    }
    return article.seq
  }

  return {
    /**
     * @param batches the `seq` of articles, by batch. Only one batch has its bodies in memory at a
     *   time.
     * @param isAnew whether the articles start without a group. Otherwise each result follows from
     *   the stored groups of the articles before it.
     */
    async place(batches: number[][], isAnew = true): Promise<Placed> {
      const articles = []
      for (const batch of batches) {
        const { rows } = await db().query<Article & { body: string | null }>(BATCH_OF, [batch])
        for (const { body, ...article } of rows) {
          articles.push({ ...article, sketch: sketchOf(article, body) })
          await setImmediate() // Other work on this thread waits for one text at most.
        }
      }
      const judged = articles.flatMap(({ sketch }) => sketch ?? [])
      const near = await neighbours.find(judged)
      const nearOf = new Map(judged.map(({ seq }, at) => [seq, near[at]!]))
      const { rows: stored } = await db().query<Candidate>(STORED, [
        [...new Set([...batches.flat(), ...near.flatMap(one => [...one])])],
      ])
      await exact.read(stored.flatMap(({ seq, first }) => (first === seq ? seq : [])))
      const now = new Map<number, Candidate>(stored.map(one => [one.seq, one]))
      if (isAnew)
        for (const { sketch: _, ...article } of articles)
          now.set(article.seq, { ...article, first: null })
      const placed: Placed['articles'] = []
      for (const article of articles) {
        const near = [...(nearOf.get(article.seq) ?? [])].flatMap(one => now.get(one) ?? [])
        const first = article.sketch === null ? null : await firstOf(article, near)
        const own = now.get(article.seq)
        if (isAnew && own !== undefined) own.first = first
        placed.push({ ...article, first })
      }
      return {
        articles: placed,
        before: new Map(stored.map(({ seq, first }) => [seq, first])),
        nearOf,
      }
    },
    add: neighbours.add,
    forget() {
      neighbours.clear()
      exact.clear()
    },
    isReadingMuch: neighbours.isReadingMuch,
  }
}

// $1 seqs, $2 BATCH, $3 AHEAD_BYTES. Index: the primary key.
const BODIES = `
  select seq::float8 as seq, body from article_texts
   where seq = any ($1::bigint[]) and pg_column_size(body) <= $3 limit $2`

/** The distinct shingles of articles. Keeps those that were requested last. */
function createExact(db: () => Queryable) {
  const kept = new LRUCache<number, Float64Array>({
    maxSize: EXACT,
    sizeCalculation: one => 100 + one.byteLength,
  })
  const keep = (seq: number, shingles: Float64Array) => void kept.set(seq, shingles)
  return {
    keep,
    clear: () => kept.clear(),
    /** Reads the shingles of many articles ahead, with one statement. */
    async read(seqs: number[]): Promise<void> {
      const missing = seqs.filter(seq => !kept.has(seq))
      if (missing.length === 0) return
      const values = [missing, BATCH, AHEAD_BYTES]
      for (const { seq, body } of (await db().query<{ seq: number; body: string }>(BODIES, values))
        .rows) {
        const shingles = judge(body)
        if (shingles !== null) keep(seq, shingles)
        await setImmediate()
      }
    },
    /** The shingles of an article; null: its text is too short to be compared. */
    async of(seq: number): Promise<Float64Array | null> {
      const known = kept.get(seq)
      if (known !== undefined) return known
      const shingles = judge(
        await readValue(db(), 'select body from article_texts where seq = $1', [seq]),
      )
      if (shingles !== null) keep(seq, shingles)
      return shingles
    },
  }
}

// $1 BATCH. Index: the primary key.
const DUE = 'select seq::float8 from copies_due order by seq limit $1'

// $1 RULES
const IS_DUE = `
  select s.rules < $1 or s.rules = $1 and (s.seq < c.last_seq or exists (select from copies_due)) as due
    from copies_state s, ingest_clock c`

// $1 seqs. Leaves out articles that the pass has not reached, because it will come to them.
const DUE_AGAIN = `
  insert into copies_due select seq from unnest($1::bigint[]) seq where seq <= (select seq from copies_state)
  order by seq on conflict do nothing`

/**
 * Notes that known groups have changed. Processes that keep groups in memory then read all of them
 * again.
 */
const CHANGED = 'update copies_state set changed = version'

/**
 * Deletes all groups, because other rules have made them. An article has no group until the pass
 * has reached it.
 */
async function beginAnew(pool: Pool, state: State): Promise<boolean> {
  await transaction(pool, async client => {
    if ((await moveFrom(client, state, 0)) === null) return
    await client.query('truncate copy_sketches, copies_due')
    await client.query(CHANGED)
  })
  return true
}

/**
 * The step to the next version is random. A failover may undo versions whose samples a process
 * still has in memory, and later groups must not get the same version.
 */
const STEP = '1 + floor(random() * 1000000)::int'

/**
 * Notes how far the pass is.
 *
 * @param state as it was read, before the articles were
 * @param articles those of which groups are stored in this transaction
 * @returns the new version; null: the groups, or the articles under these numbers, are not those
 *   that were read, because of another process or a failover. The pass must store nothing then
 */
const moveFrom = (
  client: Client,
  { version, history }: State,
  seq: number,
  articles: Pick<Article, 'seq' | 'id'>[] = [],
): Promise<number | null> =>
  readValue<number>(client, MOVE, [
    version,
    RULES,
    seq,
    history,
    ...columnsOf(articles, 'seq', 'id'),
  ])

// $1 version, $2 RULES, $3 seq, $4 history, $5 seqs, $6 ids. Index: the primary key of articles.
const MOVE = `
  update copies_state set rules = $2, seq = $3, version = version + ${STEP}
   where version = $1 and ${PRIMARY_HISTORY} = $4
     and (select count(*) from unnest($5::bigint[], $6::text[]) n (seq, id) join articles using (seq, id)) = cardinality($5)
  returning version::float8`

interface Placed {
  articles: (Article & { sketch: Sketch | null; first: number | null })[]
  /**
   * By the `seq` of an article: the `seq` of its first article, as it was stored before this call.
   */
  before: Map<number, number | null>
  nearOf: Map<number, Set<number>>
}

/** Stores the groups of a batch. Writes only rows that have changed. */
function store(
  pool: Pool,
  state: State,
  to: number,
  seqs: number[],
  placed: Placed,
): Promise<number | null> {
  const { articles, before, nearOf } = placed
  const isFirst = ({ seq, first }: { seq: number; first: number | null }) => seq === first
  const known = articles.filter(({ seq }) => seq <= state.seq)
  const became = known.filter(one => isFirst(one) && before.get(one.seq) !== one.seq)
  const ended = known
    .filter(one => !isFirst(one) && before.get(one.seq) === one.seq)
    .map(({ seq }) => seq)
  const later = became.flatMap(({ seq }) => [...nearOf.get(seq)!].filter(one => one > seq))
  return transaction(pool, async client => {
    const version = await moveFrom(client, state, to, articles)
    if (version === null) return null
    await client.query('delete from copies_due where seq = any ($1::bigint[])', [seqs])
    await client.query(DUE_AGAIN, [later])
    await client.query(MEMBERS_DUE, [ended])
    const { rowCount } = await client.query({
      name: 'copies-write',
      text: WRITE,
      values: [
        ...columnsOf(articles, 'seq', 'id', 'first'),
        articles.map(({ sketch }) => sketch?.day),
        articles.map(({ sketch }) => sketch?.shingles),
        byteaArray(articles.map(({ sketch }) => sketch && toBytes(sketch.sample))),
      ],
    })
    if (known.length > 0 && rowCount !== 0) await client.query(CHANGED)
    return version
  })
}

// $1 seqs of articles that have ceased to be first articles. Index: copy_sketches_group.
const MEMBERS_DUE = `
  insert into copies_due select seq from copy_sketches where first_seq = any ($1::bigint[]) and seq <> first_seq
  on conflict do nothing`

const WRITE = `
  insert into copy_sketches as s (seq, id, first_seq, day, shingles, sample)
  select * from unnest($1::bigint[], $2::text[], $3::bigint[], $4::int[], $5::int[], $6::bytea[])
  on conflict (seq) do update set first_seq = excluded.first_seq, day = excluded.day, shingles = excluded.shingles, sample = excluded.sample
   where (s.first_seq, s.day, s.shingles, s.sample) is distinct from (excluded.first_seq, excluded.day, excluded.shingles, excluded.sample)`

interface Kept {
  seq: number
  /** null: the row is of no article. */
  id: string | null
  /** The id in the row of its group; null: there is no row. */
  stored: string | null
  first: number | null
  day: number | null
  shingles: number | null
  sample: Buffer | null
}

// $1 after, $2 to. Leaves out articles that are due, because their groups will change. Indexes: the
// primary keys.
const KEPT = `
  select seq::float8 as seq, a.id, s.id as stored, s.first_seq::float8 as first, s.day, s.shingles, s.sample
    from (select seq, id from articles where seq > $1 and seq <= $2) a
    full join (select * from copy_sketches where seq > $1 and seq <= $2) s using (seq)
   where not exists (select from copies_due d where d.seq = coalesce(a.seq, s.seq))`

const STATE_FAULTS = `
  select 'copies_state has no row' as text where not exists (select from copies_state)
  union all select 'copies_state says ' || s.seq || ', and the clock is at ' || last_seq
    from copies_state s, ingest_clock where s.seq > last_seq
  union all select 'copies_state has an older version than its latest change' from copies_state where changed > version
  union all select 'article ' || c.seq || ' has a row, and the pass has not come to it'
    from copies_state s, lateral (select seq from copy_sketches where seq > s.seq order by seq limit 10) c
   where rules = $1`

/**
 * Compares how far the pass is with the clock and the groups. @returns a sentence for each fault
 */
export const checkCopiesState = (db: Queryable): Promise<string[]> =>
  readColumn<string>(db, STATE_FAULTS, [RULES])

export interface GroupCheck {
  /**
   * Compares the next articles, in one snapshot.
   *
   * @param after the number after which they come
   * @param most how many batches of them
   * @param found called with a sentence for each difference
   * @returns the number of the last one; null: there was none, or the pass makes all groups anew
   */
  next(after: number, found: (text: string) => void, most?: number): Promise<number | null>
}

/** Compares the stored groups with those that follow from the texts. Changes nothing. */
export function openGroupCheck(pool: Pool): GroupCheck {
  let db: Queryable = pool
  const placer = createPlacer(() => db)
  let known = { changed: -1, seq: 0 }

  async function compare(after: number, most: number, found: (text: string) => void) {
    const state = await readRow<State>(db, STATE)
    if (state?.rules !== RULES) return null
    const next = await nextBatches(db, after, most)
    const batches = next.map(batch => batch.filter(seq => seq <= state.seq))
    const to = batches.flat().at(-1)
    if (to === undefined) return null
    if (state.changed !== known.changed || to > known.seq) placer.forget()
    known = state
    const { articles } = await placer.place(batches, false)
    const wanted = new Map(articles.map(one => [one.seq, one]))
    const { rows } = await db.query<Kept>(KEPT, [after, to])
    for (const row of rows) {
      const fault = faultOf(row, wanted.get(row.seq))
      if (fault !== null) found(`article ${row.seq} ${fault}`)
    }
    return to
  }
  return {
    next: (after, found, most = TOGETHER) =>
      transaction(pool, async client => {
        await client.query('set transaction isolation level repeatable read read only')
        await client.query("set local idle_in_transaction_session_timeout = '2 min'")
        db = client
        return compare(after, most, found)
      }),
  }
}

function faultOf(row: Kept, wanted: Placed['articles'][number] | undefined): string | null {
  if (wanted === undefined) return row.id === null ? 'has a row, and is not there' : null
  if (row.stored !== wanted.id)
    return row.stored === null ? 'has no row' : `stands under the id ${row.stored}`
  const { sketch, first } = wanted
  if ((sketch === null) !== (row.first === null)) return 'is judged otherwise than its text says'
  if (sketch === null) return null
  const isOfText =
    row.shingles === sketch.shingles &&
    row.day === sketch.day &&
    row.sample?.equals(toBytes(sketch.sample)) === true
  if (!isOfText) return 'has the sketch of another text'
  if (row.first === first) return null
  return row.first === row.seq
    ? `is a first article, and a copy of ${first}`
    : `stands in the group of ${row.first}, and ${first === row.seq ? 'is a first article' : `is a copy of ${first}`}`
}

/**
 * Takes articles out of their groups, because their outlets reserve rights. If such an article was
 * a first one, the next pass finds the groups of its members again.
 */
export async function leaveGroups(client: Client, seqs: bigint[]): Promise<void> {
  if (seqs.length === 0) return
  // After this, no pass can store groups that it found before.
  await client.query(`update copies_state set version = version + ${STEP}`)
  await client.query(CHANGED)
  await client.query(MEMBERS_DUE, [seqs])
  await client.query(
    `update copy_sketches set first_seq = null, day = null, shingles = null, sample = null
      where seq = any ($1::bigint[]) and num_nonnulls(first_seq, sample) > 0`,
    [seqs],
  )
}
