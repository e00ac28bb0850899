import { type Pool, transaction } from '../../shared/postgres/pool.ts'
import { immediately } from '../segment/pace.ts'
import { readStoredTo, removeUnused, replaceSegments, storeAhead } from './segment-rows.ts'
import type { SegmentWork, SegmentWriter } from './segment-store.ts'

/**
 * Advisory locks. The numbers are arbitrary and never change: processes of two versions must meet.
 */
const LOCKS: Record<SegmentWork, bigint> = { flush: 7_211_004_223n, merge: 7_211_004_224n }

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
      const { rows } = await pool.query<{ segment_no: number }>(
        'select segment_no from segments where first_seq >= $1 and last_seq <= $2 order by segment_no',
        [first, last],
      )
      return rows.map(row => row.segment_no)
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

    publish: (segmentNo, expects) => transaction(pool, client => replaceSegments(client, segmentNo, expects)),

    removeUnused: (pace = immediately) => removeUnused(pool, pace),

    async exclusively(kind, wait, work) {
      const client = await pool.connect()
      try {
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
          await client.query('select pg_advisory_unlock($1)', [LOCKS[kind]])
        }
      } finally {
        client.release()
      }
    },

    withoutWriters: work => withoutWriters(pool, work),
  }
}

async function withoutWriters<T>(pool: Pool, work: () => Promise<T>): Promise<T> {
  const client = await pool.connect()
  try {
    try {
      for (const lock of [LOCKS.merge, LOCKS.flush]) {
        await client.query('select pg_advisory_lock($1)', [lock])
      }
      return await work()
    } finally {
      await client.query('select pg_advisory_unlock_all()')
    }
  } finally {
    client.release()
  }
}
