import type { Queryable } from '../../../shared/postgres/pool.ts'

/** Articles in one message. */
export const BATCH = 16

/**
 * ms that a claim lasts. Then the message counts as lost and the articles are called again, so a
 * flushed queue costs no more than this. The embedder that takes the message renews the claim.
 */
const CLAIM = 30_000

/**
 * Claims articles whose embedding is due, the longest due first. One caller gets each article.
 * @param only claims these alone; null: all that are due
 */
export async function claimDue(db: Queryable, limit: number, only: bigint[] | null = null): Promise<bigint[]> {
  if (limit <= 0) return []
  const { rows } = await db.query<{ seq: bigint }>({
    name: `embed-claim-${only === null ? 'due' : 'these'}`,
    text: only === null ? CLAIM_DUE : CLAIM_THESE,
    values: [CLAIM, limit, ...(only === null ? [] : [only])],
  })
  return rows.map(({ seq }) => seq)
}

/** Claims articles that are not embedded yet for `ms`, and returns them. */
export async function takeInHand(db: Queryable, seqs: bigint[], ms: number): Promise<bigint[]> {
  const { rows } = await db.query<{ seq: bigint }>({ name: 'embed-take', text: TAKE, values: [ms, seqs] })
  return rows.map(({ seq }) => seq)
}

/** Gives articles back. They are called again in `ms`, and the attempt does not count. */
export async function giveBack(db: Queryable, seqs: bigint[], ms: number): Promise<void> {
  if (seqs.length > 0) await db.query({ name: 'embed-give-back', text: TAKE, values: [ms, seqs] })
}

const OPEN = 'embedded_at is null and failed_at is null'
const FREE = `${OPEN} and due_at <= clock_timestamp() and (claimed_until is null or claimed_until <= clock_timestamp())`

// `with`, because a join may run a statement in `from` more than once, and then claims more than it
// should.

// $1 ms, $2 limit. Index: embeddings_due.
const CLAIM_DUE = `
  with due as (select seq from embeddings where ${FREE} order by due_at limit $2 for update skip locked)
  update embeddings e set claimed_until = clock_timestamp() + $1 * interval '1 ms'
  from due where e.seq = due.seq
  returning e.seq`

// $1 ms, $2 limit, $3 seqs. Index: the primary key.
const CLAIM_THESE = `
  with due as (select seq from embeddings where seq = any ($3::bigint[]) and ${FREE}
               order by seq limit $2 for update skip locked)
  update embeddings e set claimed_until = clock_timestamp() + $1 * interval '1 ms'
  from due where e.seq = due.seq
  returning e.seq`

// $1 ms, $2 seqs. Index: the primary key.
const TAKE = `
  update embeddings set claimed_until = clock_timestamp() + $1 * interval '1 ms'
  where seq = any ($2::bigint[]) and ${OPEN}
  returning seq`
