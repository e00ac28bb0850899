import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import {
  type Client,
  type Pool,
  readColumn,
  readRow,
  readValue,
  transaction,
  whileLocked,
} from '../postgres/pool.ts'
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
}

const STATE = 'select rules, seq::float8 as seq, version::float8 as version from copies_state'

/** An article with the values that decide its group. */
interface Article {
  seq: number
  id: string
  /** ms since 1970; null: not known. */
  at: number | null
  outlet: string
}

const ARTICLE = `a.seq::float8 as seq, a.id, p.outlet,
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
  const placer = createPlacer(pool)
  /** The version of the groups that `placer` has in memory. */
  let known = -1

  /** Finds the groups of the next articles. @returns false: there is nothing more to do */
  async function step(): Promise<boolean> {
    const state = (await readRow<State>(pool, STATE))!
    if (state.rules !== RULES) return state.rules < RULES && beginAnew(pool, state)
    if (state.version !== known) placer.forget()
    known = state.version
    const due = await readColumn<number>(pool, DUE, [BATCH])
    const batches = due.length > 0 ? [due] : await nextBatches(state.seq)
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

  async function nextBatches(after: number): Promise<number[][]> {
    const batches: number[][] = []
    for (let most = placer.isReadingMuch() ? TOGETHER : 1; batches.length < most; ) {
      const next = await readColumn<number>(pool, NEXT, [
        batches.at(-1)?.at(-1) ?? after,
        BATCH,
        BATCH_BYTES,
      ])
      if (next.length === 0) break
      batches.push(next)
    }
    return batches
  }

  return {
    async pass(signal: AbortSignal, share = 1): Promise<void> {
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
    async regroup(seqs: bigint[], signal: AbortSignal): Promise<boolean> {
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

/** Finds groups. Writes nothing to the database. */
function createPlacer(pool: Pool) {
  const neighbours = createNeighbours(pool)
  const exact = createExact(pool)

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
     */
    async place(batches: number[][]): Promise<Placed> {
      const articles = []
      for (const batch of batches) {
        const { rows } = await pool.query<Article & { body: string | null }>(BATCH_OF, [batch])
        for (const { body, ...article } of rows) {
          articles.push({ ...article, sketch: sketchOf(article, body) })
          await setImmediate() // Other work on this thread waits for one text at most.
        }
      }
      const judged = articles.flatMap(({ sketch }) => sketch ?? [])
      const near = await neighbours.find(judged)
      const nearOf = new Map(judged.map(({ seq }, at) => [seq, near[at]!]))
      const { rows: stored } = await pool.query<Candidate>(STORED, [
        [...new Set([...batches.flat(), ...near.flatMap(one => [...one])])],
      ])
      await exact.read(stored.flatMap(({ seq, first }) => (first === seq ? seq : [])))
      // The articles of these batches start without a group. Groups that the database has for them
      // do not count.
      const now = new Map<number, Candidate>(stored.map(one => [one.seq, one]))
      for (const { sketch: _, ...article } of articles)
        now.set(article.seq, { ...article, first: null })
      for (const { seq, sketch } of articles) {
        if (sketch === null) continue
        const article = now.get(seq)!
        article.first = await firstOf(
          article,
          [...nearOf.get(seq)!].flatMap(one => now.get(one) ?? []),
        )
      }
      return {
        articles: articles.map(one => ({ ...one, first: now.get(one.seq)!.first })),
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
function createExact(pool: Pool) {
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
      for (const { seq, body } of (await pool.query<{ seq: number; body: string }>(BODIES, values))
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
        await readValue(pool, 'select body from article_texts where seq = $1', [seq]),
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
async function beginAnew(pool: Pool, { version }: State): Promise<boolean> {
  await transaction(pool, async client => {
    if ((await moveFrom(client, version, RULES, 0)) === null) return
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
 * Notes how far the pass is. @returns the new version; null: another process has changed the groups
 * meanwhile, so this pass must not store its groups
 */
const moveFrom = (
  client: Client,
  version: number,
  rules: number,
  seq: number,
): Promise<number | null> =>
  readValue<number>(
    client,
    `update copies_state set rules = $2, seq = $3, version = version + ${STEP} where version = $1 returning version::float8`,
    [version, rules, seq],
  )

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
    const version = await moveFrom(client, state.version, RULES, to)
    if (version === null) return null
    await client.query('delete from copies_due where seq = any ($1::bigint[])', [seqs])
    await client.query(DUE_AGAIN, [later])
    await client.query(MEMBERS_DUE, [ended])
    const { rowCount } = await client.query(WRITE, [
      articles.map(({ seq }) => seq),
      articles.map(({ id }) => id),
      articles.map(({ first }) => first),
      articles.map(({ sketch }) => sketch?.day),
      articles.map(({ sketch }) => sketch?.shingles),
      articles.map(({ sketch }) => sketch && toBytes(sketch.sample)),
    ])
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

type Judged = Article & { set: Float64Array | null }

type Kept = Pick<Sketch, 'day' | 'shingles'> & { sample: Buffer | null }

const isSketchOf = ({ set, at }: Judged, { day, shingles, sample }: Kept) =>
  set !== null &&
  shingles === set.length &&
  day === Math.floor(at! / 86_400_000) &&
  sample?.equals(toBytes(sampleOf(set))) === true

/** Whether an article is a copy of an earlier one. */
const isCopy = (own: Judged, first: Judged | undefined) =>
  Boolean(first?.set && own.set && first.seq < own.seq && Math.abs(first.at! - own.at!) <= WEEK) &&
  areCopies(own.set!, first!.set!, own.outlet === first!.outlet)

// $1 seqs. Leaves out articles that are due, because their groups will change. Indexes: the primary
// keys.
const KEPT = `
  select a.seq::float8 as seq, s.id as stored, s.first_seq::float8 as first, s.day, s.shingles, s.sample
    from articles a left join copy_sketches s using (seq)
   where a.seq = any ($1::bigint[]) and not exists (select from copies_due d where d.seq = a.seq)`

/**
 * Compares the rows of some articles with their texts, and the texts with the texts of their first
 * articles. The caller runs this in one snapshot.
 *
 * @returns a sentence for each difference
 */
export async function checkGroups(client: Client, drawn: bigint[]): Promise<string[]> {
  const state = await readRow<State>(client, STATE)
  if (state?.rules !== RULES) return []
  const seqs = drawn.filter(seq => seq <= state.seq)
  const { rows: kept } = await client.query<
    Omit<Sketch, 'sample'> & { stored: string | null; first: number | null; sample: Buffer | null }
  >(KEPT, [seqs])
  const firsts = kept.flatMap(({ first }) => first ?? [])
  const { rows: read } = await client.query<Article & { body: string | null }>(BATCH_OF, [
    [...seqs, ...firsts],
  ])
  const texts = new Map(
    read.map(one => [one.seq, { ...one, set: one.at === null ? null : judge(one.body) }]),
  )
  const { rows: own } = await client.query<{ seq: number }>(
    'select seq::float8 as seq from copy_sketches where seq = first_seq and seq = any ($1::bigint[])',
    [firsts],
  )
  const areFirst = new Set(own.map(({ seq }) => seq))
  return kept.flatMap(({ seq, stored, first, day, shingles, sample }) => {
    const text = texts.get(seq)
    const one = texts.get(first ?? -1)
    const fault = (what: string) => [`article ${seq} ${what}`]
    if (text === undefined) return []
    if (stored !== text.id)
      return fault(stored === null ? 'has no row' : `stands under the id ${stored}`)
    if ((text.set === null) !== (first === null))
      return fault('is judged otherwise than its text says')
    if (text.set === null) return []
    if (!isSketchOf(text, { day, shingles, sample })) return fault('has the sketch of another text')
    return first === seq || isCopy(text, areFirst.has(first!) ? one : undefined)
      ? []
      : fault(`is no copy of ${first}`)
  })
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
      where seq = any ($1::bigint[]) and first_seq is not null`,
    [seqs],
  )
}
