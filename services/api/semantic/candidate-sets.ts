import { createHash } from 'node:crypto'
import { waitFor } from '#shared/log/context'
import {
  type Pool,
  PRIMARY_HISTORY,
  type Queryable,
  readRow,
  readValue,
} from '#shared/postgres/pool'
import { createSharedWork } from '#shared/resilience/shared-work'
import { unlessAborted } from '#shared/resilience/time-limit'
import { type NearArticle, type Reach, VectorFailure } from '#shared/vectors/store'
import type { SearchPermits, SemanticQuestion } from './query.ts'
import { BUDGET, timed, type VectorSearch } from './vector-search.ts'

/*
 * Nearest neighbours may differ from one call to the next, but pages must not. The first page
 * therefore freezes the candidates of its question in Postgres, and the cursor names that set.
 */

/** The set of a question. Postgres may not hold it yet. */
interface QuestionSet {
  /**
   * The set that `keep` stores, unless another process, or an equal question, has stored one
   * before.
   */
  likely: FrozenSet
  /** Stores the set. Equal questions of the same time all get the set that was stored first. */
  keep(): Promise<FrozenSet>
}

export interface QuestionSets {
  /**
   * The set that was made for the question in the last five minutes, or a new set. Null: the
   * question has no candidates. This function takes its permits itself.
   *
   * @throws EmbeddingFailure or VectorFailure
   */
  find(query: SemanticQuestion, permits: SearchPermits): Promise<QuestionSet | null>
  close(): Promise<void>
}

/** Finds and makes the sets of questions. */
export function createQuestionSets(
  pool: Pool,
  vectorSearch: Pick<VectorSearch, 'serving' | 'nearest'>,
): QuestionSets {
  const nearest = createNearest(vectorSearch)
  let removing: Promise<void> | null = null

  async function keep(asked: Asked, set: FrozenSet): Promise<FrozenSet> {
    const kept = await timed('set', () => keepSet(pool, asked, set))
    // Old sets are removed in the background; the search does not wait.
    removing ??= removeOldSets(pool).finally(() => {
      removing = null
    })
    return kept
  }

  return {
    async find(query, permits) {
      const reach = reachOf(query)
      const { asked, known } = await permits.statements(async () => {
        const serving = await vectorSearch.serving()
        const question = createHash('sha256')
          .update(JSON.stringify([serving?.collection.name, query.text, reach]))
          .digest()
        return timed('set', () => findSet(pool, question))
      })
      if (known) return { likely: known, keep: async () => known }
      const found = await nearest.ask(query.text, reach, permits)
      if (found.length === 0) return null
      const likely = newSet(asked.question, candidatesOf(found))
      return { likely, keep: () => keep(asked, likely) }
    },
    async close() {
      await Promise.allSettled([...nearest.underWay(), removing])
    },
  }
}

export interface NearestArticles {
  /**
   * Asks as `VectorSearch.nearest` does. To join an equal question under way takes no permit.
   * Otherwise, only four equal questions at a time could find out that the model hangs.
   *
   * While the servers answer nothing, a question fails `BUDGET` ms after it came, even when it
   * has no permit yet (decision 29). While they answer others, it waits for its turn.
   */
  ask(text: string, reach: Reach, permits: SearchPermits): Promise<NearArticle[]>
  underWay(): Promise<NearArticle[]>[]
}

/**
 * Sends equal questions of the same time to the servers once, even when they come from different
 * keys.
 */
export function createNearest(vectorSearch: Pick<VectorSearch, 'nearest'>): NearestArticles {
  const asking = createSharedWork<NearArticle[]>()
  /** When model and vector store last answered a question, in ms of `performance.now`. */
  let answeredAt = Number.NEGATIVE_INFINITY

  return {
    async ask(text, reach, permits) {
      const came = performance.now()
      const left = () => Math.max(came, answeredAt) + BUDGET - performance.now()
      const asked = JSON.stringify([text, reach])
      let begun: Promise<NearArticle[]> | null = null
      const begin = async (ends: AbortSignal) => {
        const ms = Math.ceil(Math.max(1, Math.min(BUDGET, left())))
        const found = await vectorSearch.nearest(text, reach, ms, ends)
        answeredAt = performance.now()
        return found
      }
      const joinOrBegin = () =>
        asking.run(asked, permits.leaves, ends => {
          begun = begin(ends)
          return begun
        })
      if (asking.has(asked)) return waitFor('equal question', joinOrBegin())
      const wait = openWait(left)
      const inTurn = permits.question(async () => {
        wait.end()
        wait.signal.throwIfAborted()
        try {
          return await joinOrBegin()
        } finally {
          // The caller may have left. Its permit stays with the request while the servers work, and
          // while others wait for it.
          await Promise.allSettled([begun])
        }
      })
      return unlessAborted(inTurn, wait.signal).finally(wait.end)
    },
    underWay: () => asking.underWay(),
  }
}

/** A wait that aborts when no time is left. */
function openWait(left: () => number): { signal: AbortSignal; end(): void } {
  const giving = new AbortController()
  const look = () => {
    const ms = left()
    if (ms > 0) timer = setTimeout(look, ms)
    else
      giving.abort(
        new VectorFailure('unavailable', 'The questions before this one are not answered in time.'),
      )
  }
  let timer = setTimeout(look, left())
  return { signal: giving.signal, end: () => clearTimeout(timer) }
}

/**
 * The bounds of a query's candidates (decision 26). All of them are part of the question.
 */
function reachOf({ planCountries, reach }: SemanticQuestion): Reach {
  return { countries: [...planCountries].sort(), since: reach.historyStart.getTime() }
}

/**
 * Orders candidates of equal relevance by their `seq`. The vector store may order them differently
 * from call to call, but equal candidates have to make an equal set.
 */
function candidatesOf(nearest: NearArticle[]): Candidates {
  const ordered = nearest
    .map(({ seq, score }) => ({ seq, relevance: relevanceOf(score) }))
    .sort((a, b) => b.relevance - a.relevance || Number(a.seq - b.seq))
  return {
    seqs: ordered.map(({ seq }) => seq),
    relevances: ordered.map(({ relevance }) => relevance),
  }
}

/**
 * The candidates of one question, best first, with the relevance × 10,000 of each. Postgres keeps
 * them unchanged under an id for all API processes (decision 28).
 */
export interface Candidates {
  seqs: bigint[]
  relevances: number[]
}

/** Candidates with the id that a cursor names. */
export interface FrozenSet {
  id: string
  candidates: Candidates
}

type FoundSet = Pick<Asked, 'history'> & (StoredSet | { set_id: null })

interface Asked {
  question: Buffer
  /** Of the primary, before the vector store was asked; null: Postgres is no primary now. */
  history: string | null
}

/** `known`: the set that the question got in the last five minutes; null: it got none. */
async function findSet(
  db: Queryable,
  question: Buffer,
): Promise<{ asked: Asked; known: FrozenSet | null }> {
  const query = { name: 'semantic-set-find', text: FIND, values: [question] }
  const { history, ...stored } = (await readRow<FoundSet>(db, query))!
  return { asked: { question, history }, known: stored.set_id === null ? null : setOf(stored) }
}

/**
 * The new set of a question, before it is stored. Equal candidates make an equal id, so that
 * unchanged data gives the same cursors in every process and at any time.
 */
const newSet = (question: Buffer, candidates: Candidates): FrozenSet => ({
  id: idOf(question, candidates),
  candidates,
})

/**
 * Stores the new set of a question, or returns the set that another process has stored a moment
 * before. After a failover, the numbers in the set may belong to other articles.
 *
 * @throws VectorFailure
 */
async function keepSet(
  db: Queryable,
  { question, history }: Asked,
  own: FrozenSet,
): Promise<FrozenSet> {
  const { seqs, relevances } = own.candidates
  const lock = question.readBigInt64BE()
  const kept = await readValue<string>(db, {
    name: 'semantic-set-keep',
    text: KEEP,
    values: [lock, own.id, question, `{${seqs}}`, `{${relevances}}`, history],
  })
  if (kept === null)
    throw new VectorFailure('unavailable', 'Postgres failed over while the question was asked.')
  if (kept === own.id) return own
  const other = await readSet(db, kept)
  if (other === null)
    throw new VectorFailure(
      'unavailable',
      'The candidates were deleted when they had just been kept.',
    )
  return other
}

/**
 * The set that a cursor names; null: it is removed. A set answers new questions for five minutes,
 * and its cursors for five more.
 */
export async function readSet(db: Queryable, setId: string): Promise<FrozenSet | null> {
  const query = { name: 'semantic-set-read', text: READ, values: [setId] }
  const stored = await readRow<StoredSet>(db, query)
  return stored === undefined ? null : setOf(stored)
}

/** Sets in use whose ids are not those of their candidates, at most a thousand looked at. */
export async function forgedSets(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<StoredSet & { question: Buffer }>(LATEST)
  const isForged = (row: (typeof rows)[number]) =>
    row.set_id !== idOf(row.question, setOf(row).candidates)
  return rows.filter(isForged).map(({ set_id }) => set_id)
}

/**
 * Removes some old sets. It runs after every new set, so the table cannot grow without limit, even
 * if no other service runs. It is a statement of its own, because deletions in the transactions of
 * new sets could deadlock.
 */
async function removeOldSets(db: Queryable): Promise<void> {
  // A failure does no harm: the next removal, after the next new set, removes these sets as well.
  await db
    .query({ name: 'semantic-set-remove', text: REMOVE, values: [REMOVED_AT_ONCE] })
    .catch(() => {})
}

interface StoredSet {
  set_id: string
  /** Joined by commas: one text is read faster than 500 rows. */
  seqs: string
  relevances: string
}

function setOf({ set_id: id, ...stored }: StoredSet): FrozenSet {
  // All candidates may have been taken out.
  const listOf = (written: string) => (written === '' ? [] : written.split(','))
  const seqs = listOf(stored.seqs).map(BigInt)
  const relevances = listOf(stored.relevances).map(Number)
  return { id, candidates: { seqs, relevances } }
}

/**
 * How many old sets are removed after a new set, at most. The number is above one, so that the
 * table shrinks after an outage, and small, so that the statement is short.
 */
const REMOVED_AT_ONCE = 20

function idOf(question: Buffer, { seqs, relevances }: Candidates): string {
  const hash = createHash('sha256').update(question)
  hash.update(BigInt64Array.from(seqs)).update(Int16Array.from(relevances))
  return hash.digest().subarray(0, 12).toString('base64url')
}

/** SQL: the sets of the last minutes. */
const setsOf = (minutes: number) => `
  select set_id, question, array_to_string(seqs, ',') as seqs, array_to_string(relevances, ',') as relevances
    from semantic_sets where made_at > clock_timestamp() - interval '${minutes} minutes'`

// $1 set_id. Index: the primary key.
const READ = `${setsOf(10)} and set_id = $1`

// Without those that lost an article to a removal (`remove.ts`). Index: semantic_sets_made
const LATEST = `${setsOf(10)} and question <> '' order by made_at desc limit 1000`

// $1 question. Index: semantic_sets_question
const FIND = `
  select case when not pg_is_in_recovery() then ${PRIMARY_HISTORY} end as history, s.*
    from (values (1)) one left join lateral (
      ${setsOf(5)} and question = $1 order by made_at desc limit 1) s on true`

// $1 how many at most. A set serves its cursors for ten minutes. Index: semantic_sets_made. The ids
// are an array: a join may run the inner statement once for each row, and would then remove all
// sets.
const REMOVE = `
  delete from semantic_sets where set_id = any (array(
    select set_id from semantic_sets where made_at < now() - interval '11 minutes'
    order by made_at limit $1 for update skip locked))`

// $1 number of the lock, $2 set_id, $3 question, $4 seqs, $5 relevances, $6 history
const KEEP = `
  select keep_semantic_set($1, $2, $3, $4, $5) as set_id where ${PRIMARY_HISTORY} = $6`

/** Cosine similarity clamped to 0–1, × 10,000, rounded half up (decision 27). */
export function relevanceOf(score: number): number {
  return Math.floor(Math.min(Math.max(score, 0), 1) * 10_000 + 0.5)
}
