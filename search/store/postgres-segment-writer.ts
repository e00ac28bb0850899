import { type Pool, transaction } from '../../shared/postgres/pool.ts'
import { immediately } from '../segment/pace.ts'
import { readStoredTo, removeUnused, replaceSegments, storeAhead } from './segment-rows.ts'
import type { NumberedSegment, SegmentWork, SegmentWriter } from './segment-store.ts'

/**
 * Advisory locks. The numbers are arbitrary and never change: processes of two versions must meet.
 */
const LOCKS: Record<SegmentWork, bigint> = { flush: 7_211_004_223n, merge: 7_211_004_224n }

/**
 * A process that is stopped loses its lock after this time, so that others do its work. A flush takes
 * seconds, a merge a minute or two at an eighth of a core.
 */
const HOLDS_LOCK: Record<SegmentWork, string> = { flush: '2 min', merge: '10 min' }

/** ms. Well below the time after which a lock is lost. */
const SIGN_OF_LIFE = 20_000

/** Writes segments to Postgres, with the locks that keep processes from doing the same work. */
export function postgresSegmentWriter(pool: Pool): SegmentWriter {
  return {
    async readRanges() {
      const { rows } = await pool.query<{ first_seq: bigint; last_seq: bigint }>(
        'select first_seq, last_seq from segments order by first_seq',
      )
      return rows.map(row => ({ first: row.first_seq, last: row.last_seq }))
    },

    async readLastSeq() {
      const { rows } = await pool.query<{ last_seq: bigint }>('select last_seq from ingest_clock')
      return rows[0]!.last_seq
    },

    readStoredTo: () => readStoredTo(pool),

    async readNumbers({ first, last }) {
      const { rows } = await pool.query<NumberedSegment>(
        `select segment_no as no, first_seq as first from segments
         where first_seq >= $1 and last_seq <= $2 order by first_seq`,
        [first, last],
      )
      return rows
    },

    async replace(segment, { pace = immediately, expects, within } = {}) {
      return await transaction(pool, async client => {
        // The caller's own statements may take longer than a holder of the clock is allowed to
        // idle.
        if (within) await client.query('set local idle_in_transaction_session_timeout = 0')
        await within?.(client)
        // Nobody else ever sees it ahead, so any kind will do.
        const added = await storeAhead(client, 'merge', segment, pace)
        await replaceSegments(client, added, expects)
        return added
      })
    },

    prepare: (kind, segment, pace = immediately) =>
      transaction(pool, async client => {
        await client.query('delete from segments_ahead where kind = $1', [kind])
        return storeAhead(client, kind, segment, pace)
      }),

    prepareImported: segment => transaction(pool, client => storeAhead(client, 'import', segment, immediately)),

    publish: (segmentNo, expects) => transaction(pool, client => replaceSegments(client, segmentNo, expects)),

    removeUnused: (pace = immediately) => removeUnused(pool, pace),

    async exclusively(kind, wait, work) {
      const client = await pool.connect()
      let lost: Error | undefined
      // The work goes on without the lock: what it stores is checked once more.
      const onError = (error: Error) => {
        lost = error
      }
      client.on('error', onError)
      try {
        await client.query(`set idle_session_timeout = '${HOLDS_LOCK[kind]}'`)
        if (wait) await client.query('select pg_advisory_lock($1)', [LOCKS[kind]])
        else {
          const { rows } = await client.query<{ held: boolean }>('select pg_try_advisory_lock($1) as held', [
            LOCKS[kind],
          ])
          if (rows[0]?.held !== true) return null
        }
        try {
          return await work()
        } finally {
          if (lost === undefined) await client.query('select pg_advisory_unlock($1)', [LOCKS[kind]])
        }
      } finally {
        client.off('error', onError)
        client.release(lost ?? true)
      }
    },

    withoutWriters: work => withoutWriters(pool, work),
  }
}

async function withoutWriters<T>(pool: Pool, work: () => Promise<T>): Promise<T> {
  const client = await pool.connect()
  let lost: Error | undefined
  const onError = (error: Error) => {
    lost = error
  }
  client.on('error', onError)
  await client.query(`set idle_session_timeout = '${HOLDS_LOCK.flush}'`)
  const alive = setInterval(() => void client.query('select 1').catch(() => {}), SIGN_OF_LIFE)
  try {
    for (const lock of [LOCKS.merge, LOCKS.flush]) await client.query('select pg_advisory_lock($1)', [lock])
    return await work()
  } finally {
    clearInterval(alive)
    client.off('error', onError)
    // With the connection, its locks and settings go.
    client.release(lost ?? true)
  }
}
