import { setTimeout as sleep } from 'node:timers/promises'
import { createPool, type Pool } from '#shared/postgres/pool'
import type { Findings } from '#test/faults/findings'

const PAUSE_MS = 200
const PATIENCE_MS = 3_000

/** Writes a row again and again, and remembers which ones were answered. */
export interface Marker {
  /** When (ms since 1970) the latest row was answered. */
  latest(): number
  /** The rows that were answered. */
  count(): number
  /** Every answered row must be there. */
  check(pool: Pool, findings: Findings): Promise<void>
  stop(): Promise<void>
}

export async function startMarker(url: string): Promise<Marker> {
  const pool = createPool(url, 'marker', () => {}, {
    max: 1,
    connectTimeout: PATIENCE_MS,
    statementTimeout: 0,
    queryTimeout: PATIENCE_MS,
  })
  await pool.query(
    'create table fleet_marks (mark int primary key, at timestamptz not null default clock_timestamp())',
  )
  const answered: number[] = []
  let latest = Date.now()
  let stopping = false
  const writing = write()

  async function write(): Promise<void> {
    for (let mark = 1; !stopping; mark++) {
      const isWritten = await pool.query('insert into fleet_marks (mark) values ($1)', [mark]).then(
        () => true,
        () => false,
      )
      if (isWritten) {
        answered.push(mark)
        latest = Date.now()
      }
      await sleep(PAUSE_MS)
    }
  }

  return {
    latest: () => latest,
    count: () => answered.length,
    async check(pool: Pool, findings: Findings): Promise<void> {
      const { rows } = await pool.query<{ mark: number }>('select mark from fleet_marks')
      const there = new Set(rows.map(({ mark }) => mark))
      const lost = answered.filter(mark => !there.has(mark))
      if (lost.length > 0)
        findings.add(
          `${lost.length} rows were answered and are lost, as the row ${lost[0]} of ${answered.length}.`,
        )
    },
    async stop(): Promise<void> {
      if (stopping) return
      stopping = true
      await writing
      await pool.end()
    },
  }
}
