import { createHash } from 'node:crypto'
import type { Queryable } from '../../../shared/postgres/pool.ts'

/**
 * The candidates of one question, best first, with the relevance × 10,000 of each. Frozen in
 * Postgres under an id and shared by all API processes (decision 28).
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

/** The set that a question has had for less than five minutes; null: it has none. */
export async function findSet(db: Queryable, question: Buffer): Promise<FrozenSet | null> {
  const { rows } = await db.query<StoredSet>({ name: 'semantic-set-find', text: FIND, values: [question] })
  return rows[0] ? setOf(rows[0]) : null
}

/**
 * A question's new set, before it is kept. Equal candidates make an equal id, so that unchanged
 * data gives the same cursors in every process, today and tomorrow.
 */
export const newSet = (question: Buffer, candidates: Candidates): FrozenSet => ({
  id: idOf(question, candidates),
  candidates,
})

/** Keeps a question's new set, or returns the one that another process kept a moment before. */
export async function keepSet(db: Queryable, question: Buffer, own: FrozenSet): Promise<FrozenSet> {
  const { seqs, relevances } = own.candidates
  const { rows } = await db.query<{ set_id: string }>({
    name: 'semantic-set-keep',
    text: KEEP,
    values: [question.readBigInt64BE(), own.id, question, `{${seqs}}`, `{${relevances}}`],
  })
  const kept = rows[0]!.set_id
  if (kept === own.id) return own
  const other = await readSet(db, kept)
  if (other === null) throw new Error('The candidates are gone that were kept a moment ago.')
  return other
}

/**
 * The set that a cursor names; null: it is gone. A set answers new questions for five minutes, and
 * its cursors for five more.
 */
export async function readSet(db: Queryable, setId: string): Promise<FrozenSet | null> {
  const { rows } = await db.query<StoredSet>({ name: 'semantic-set-read', text: READ, values: [setId] })
  return rows[0] ? setOf(rows[0]) : null
}

/**
 * Removes some old sets. Called beside every new set, so that the table cannot grow while sets are
 * made, whatever other services run. A statement of its own: deletions in the transaction of a new
 * set could wait for one another in a circle.
 */
export async function removeOldSets(db: Queryable): Promise<void> {
  // The next set tries again.
  await db.query({ name: 'semantic-set-remove', text: REMOVE, values: [REMOVED_AT_ONCE] }).catch(() => {})
}

interface StoredSet {
  set_id: string
  /** Joined by commas: one text is read faster than 500 rows. */
  seqs: string
  relevances: string
}

const setOf = ({ set_id, seqs, relevances }: StoredSet): FrozenSet => ({
  id: set_id,
  candidates: { seqs: seqs.split(',').map(BigInt), relevances: relevances.split(',').map(Number) },
})

/**
 * More than one, so that the table shrinks after an outage; few, so that the statement is short.
 */
const REMOVED_AT_ONCE = 20

function idOf(question: Buffer, { seqs, relevances }: Candidates): string {
  const hash = createHash('sha256').update(question)
  hash.update(BigInt64Array.from(seqs)).update(Int16Array.from(relevances))
  return hash.digest().subarray(0, 12).toString('base64url')
}

// $1 set_id. Index: the primary key.
const READ = `
  select set_id, array_to_string(seqs, ',') as seqs, array_to_string(relevances, ',') as relevances
  from semantic_sets
  where set_id = $1 and made_at > clock_timestamp() - interval '10 minutes'`

// $1 question. Index: semantic_sets_question
const FIND = `
  select set_id, array_to_string(seqs, ',') as seqs, array_to_string(relevances, ',') as relevances
  from semantic_sets
  where question = $1 and made_at > clock_timestamp() - interval '5 minutes'
  order by made_at desc limit 1`

// $1 how many at most. A set serves its cursors for ten minutes. Index: semantic_sets_made. An
// array, because a join may run the inner statement once for each row, and then removes all of
// them.
const REMOVE = `
  delete from semantic_sets where set_id = any (array(
    select set_id from semantic_sets where made_at < now() - interval '11 minutes'
    order by made_at limit $1 for update skip locked))`

// $1 number of the lock, $2 set_id, $3 question, $4 seqs, $5 relevances
const KEEP = 'select keep_semantic_set($1, $2, $3, $4, $5) as set_id'
