import { AsyncLocalStorage } from 'node:async_hooks'
import { spawnSync } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { describe, printableLine } from '#shared/log/printable'
import { createPool } from '#shared/postgres/pool'

/**
 * Work on input from outside: a page, a feed, or articles that are embedded together. `numbers` are
 * the numbers of these pages, feeds or articles.
 */
export interface InHand {
  kind: 'page' | 'feed' | 'embedding'
  numbers: readonly (bigint | number)[]
}

const storage = new AsyncLocalStorage<InHand>()
const all = new Set<InHand>()

/** Runs work on input from outside. `noteEnd` can then tell which work ended the process. */
export async function withInHand<T>(held: InHand, work: () => Promise<T>): Promise<T> {
  all.add(held)
  try {
    return await storage.run(held, work)
  } finally {
    all.delete(held)
  }
}

/**
 * ms for which work rests after it ended a process: after the first, after the second, and after
 * every later time.
 */
const RESTS = [5_000, 30_000, 86_400_000]
/** The most ms for writing the note. The process ends in any case. */
const LIMIT = 5_000

// $1 numbers, $2 why, $3 rests. After its rest, a page has a whole day of tries again. Indexes: the
// primary keys.
const WAIT = `($3::int[])[least(ends + 1, array_length($3::int[], 1))] * interval '1 ms'`
const NOTES: Record<InHand['kind'], string> = {
  page: `
    update pages set ends = ends + 1, reason = 'ended a process', detail = $2,
           rests_until = clock_timestamp() + ${WAIT}, next_try_at = clock_timestamp() + ${WAIT},
           first_tried_at = clock_timestamp() + ${WAIT}
     where page_no = any ($1::bigint[]) and state in ('waiting', 'stored')`,
  feed: `
    update feeds set ends = ends + 1, failures = failures + 1, last_error = 'it ended the crawler: ' || $2, parsing = false,
           next_poll_at = greatest(next_poll_at, clock_timestamp() + ${WAIT})
     where feed_no = any ($1::bigint[])`,
  embedding: `
    update embeddings set ends = ends + 1, error = $2,
           rests_until = clock_timestamp() + ${WAIT}, claimed_until = clock_timestamp() + ${WAIT}
     where seq = any ($1::bigint[]) and embedded_at is null and failed_at is null`,
}

/** The input of the process that writes the note. */
interface Note {
  databaseUrl: string
  why: string
  held: { kind: InHand['kind']; numbers: string[] }[]
}

/**
 * Notes the work whose exception ends this process. Without the note, the same work would end the
 * next process at once, and so on for ever. The context of the exception tells which work it was.
 * Without a context, all running work is noted. A process that is killed notes nothing.
 *
 * Another process writes the note while this one blocks. The state of this process is unknown, so
 * it must not run anything else.
 */
export function noteEnd(databaseUrl: string, error: unknown): void {
  const blamed = storage.getStore()
  const held = (blamed === undefined ? [...all] : [blamed]).map(({ kind, numbers }) => ({
    kind,
    numbers: numbers.map(String),
  }))
  if (held.length === 0) return
  const note: Note = { databaseUrl, held, why: printableLine(describe(error).slice(0, 500)) }
  const input = JSON.stringify(note)
  spawnSync(process.execPath, [fileURLToPath(import.meta.url)], {
    input,
    timeout: LIMIT,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
}

async function write({ databaseUrl, why, held }: Note): Promise<void> {
  const pool = createPool(databaseUrl, 'end', () => {}, {
    max: 1,
    connectTimeout: LIMIT,
    queryTimeout: LIMIT,
  })
  for (const { kind, numbers } of held) await pool.query(NOTES[kind], [numbers, why, RESTS])
  await pool.end()
}

if (import.meta.main) await write(JSON.parse(await text(process.stdin)))
