import { randomBytes } from 'node:crypto'
import { openArchive } from '#search/archive/archive'
import type { ArchiveSettings } from '#search/archive/client'
import { openArchiveWriter } from '#search/archive/writer'
import { openIndex, type SearchIndex, type Standbys } from '#search/index'
import { makeSegments, type SegmentSizes } from '#search/indexer'
import type { Pool, Queryable } from '#shared/postgres/pool'

/*
 * The stored parts of the index that tests run on: segments, and with TEST_OPENSEARCH_URL
 * (addresses of nodes, comma-separated) an archive beside them. `opensearch.long.test.ts` runs
 * tests with it.
 */

const nodes = (process.env.TEST_OPENSEARCH_URL ?? '').split(',').filter(node => node !== '')
const prefix = `test-${randomBytes(6).toString('hex')}`

/** null: segments alone. */
export const TEST_ARCHIVE: ArchiveSettings | null =
  nodes.length === 0 ? null : { nodes, user: '', password: '', prefix, timeout: 60_000 }

export const openTestIndex = (db: Queryable, standbys?: Standbys): SearchIndex =>
  openIndex(db, { elsewhere: openArchive(db, TEST_ARCHIVE), standbys })

/** The pool, whose named statements somebody meets. */
export const met = (pool: Pool, meet: (name: string, ask: () => unknown) => unknown): Pool =>
  Object.create(pool, {
    query: {
      value: (statement: string | { name?: string; text: string }, values?: unknown[]) =>
        typeof statement === 'string'
          ? pool.query(statement, values)
          : meet(statement.name ?? '', () => pool.query(statement)),
    },
  })

/**
 * Makes the segments that are due, and moves the older articles to the archive where there is one.
 */
export async function makeTestSegments(
  pool: Pool,
  sizes: SegmentSizes,
  options: Parameters<typeof makeSegments>[2] = {},
): Promise<void> {
  await makeSegments(pool, sizes, options)
  // The newest segments stay out of it, so that searches need both.
  await fillTestArchive(pool, sizes.flushed)
}

/** Deletes the indices of a test's database. */
export async function emptyTestArchive(pool: Pool): Promise<void> {
  if (TEST_ARCHIVE === null) return
  const archive = openArchiveWriter(pool, TEST_ARCHIVE, {
    size: 1n,
    recent: 0n,
    shards: 1,
    replicas: 0,
  })
  await archive.empty(async () => {}, new AbortController().signal)
  await archive.close()
}

/**
 * Moves all articles but the newest to the archive. Indices are small, so that there are several.
 */
async function fillTestArchive(pool: Pool, recent: bigint): Promise<void> {
  if (TEST_ARCHIVE === null) return
  const { rows } = await pool.query<{ last_seq: bigint }>('select last_seq from ingest_clock')
  const size = rows[0]!.last_seq / 3n + 1n
  const options = { size, recent, step: size / 2n + 1n, shards: 2, replicas: 0 }
  const archive = openArchiveWriter(pool, TEST_ARCHIVE, options)
  try {
    await archive.exclusively(() => archive.fill(async () => {}, new AbortController().signal))
  } finally {
    await archive.close()
  }
}
