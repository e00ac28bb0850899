import { createHash } from 'node:crypto'
import type { Pool, Queryable } from '../../../shared/postgres/pool.ts'
import { transaction } from '../../../shared/postgres/transaction.ts'

/** The candidates of one question, frozen and shared by all API processes (decision 28). */
export interface CandidateSet {
  setId: string
  /** Best first, with the relevance × 10,000 of each. */
  seqs: bigint[]
  relevances: number[]
}

/** The set that a question has had for less than five minutes; null: it has none. */
export async function findSet(db: Queryable, question: Buffer): Promise<CandidateSet | null> {
  const { rows } = await db.query<StoredSet>({ name: 'semantic-set-find', text: FIND, values: [question] })
  return rows[0] ? setOf(rows[0]) : null
}

/** The set that a cursor names; null when it is older than ten minutes. */
export async function readSet(db: Queryable, setId: string): Promise<CandidateSet | null> {
  const { rows } = await db.query<StoredSet>({ name: 'semantic-set-read', text: READ, values: [setId] })
  return rows[0] ? setOf(rows[0]) : null
}

/**
 * Keeps a question's new set, or returns the one that another process kept a moment before.
 * Equal candidates make an equal id, so that unchanged data gives the same cursors in every process, today and tomorrow.
 */
export async function keepSet(
  pool: Pool,
  question: Buffer,
  candidates: Omit<CandidateSet, 'setId'>,
): Promise<CandidateSet> {
  const set = { setId: idOf(question, candidates), ...candidates }
  return transaction(pool, async client => {
    // A crash of the server within the second may lose a set, which costs a client a new beginning.
    const prepare = `select set_config('synchronous_commit', 'off', true), pg_advisory_xact_lock($1)`
    await client.query({ name: 'semantic-set-lock', text: prepare, values: [question.readBigInt64BE()] })
    const first = await findSet(client, question)
    if (first) return first
    await client.query({
      name: 'semantic-set-keep',
      text: KEEP,
      values: [set.setId, question, set.seqs, set.relevances],
    })
    return set
  })
}

interface StoredSet {
  set_id: string
  seqs: bigint[]
  relevances: number[]
}

const setOf = ({ set_id, seqs, relevances }: StoredSet): CandidateSet => ({
  setId: set_id,
  seqs: seqs.map(BigInt),
  relevances,
})

function idOf(question: Buffer, { seqs, relevances }: Omit<CandidateSet, 'setId'>): string {
  const hash = createHash('sha256').update(question)
  hash.update(BigInt64Array.from(seqs)).update(Int16Array.from(relevances))
  return hash.digest().subarray(0, 12).toString('base64url')
}

// $1 question. Index: semantic_sets_question
const FIND = `
  select set_id, seqs, relevances from semantic_sets
  where question = $1 and made_at > clock_timestamp() - interval '5 minutes'
  order by made_at desc limit 1`

// $1 set_id. It answers new questions for five minutes, and the cursors given then for five more.
const READ = `
  select set_id, seqs, relevances from semantic_sets
  where set_id = $1 and made_at > clock_timestamp() - interval '10 minutes'`

// $1 set_id, $2 question, $3 seqs, $4 relevances
const KEEP = `
  insert into semantic_sets (set_id, question, made_at, seqs, relevances)
  values ($1, $2, clock_timestamp(), $3, $4)
  on conflict (set_id) do update set made_at = excluded.made_at`
