import { openIndexer, type SegmentRange, type Tokeniser } from '../../search/indexer.ts'
import type { DocumentWords, Stated } from '../../search/types.ts'
import { statedBy } from '../../services/normaliser/compose.ts'
import { loadPage } from '../../services/normaliser/pages/load.ts'
import type { Pool } from '../../shared/postgres/pool.ts'
import { SEGMENT_THREAD } from '../../shared/postgres/segment-thread.ts'
import { openTextThreads } from '../articles/reader.ts'
import { chosenSeqs, noteDone, type Progress, type Work } from './run.ts'

/** How many of the articles without a segment are rebuilt at a time. */
const PART = 200

/**
 * Folds the names again, then rebuilds the index of words of the chosen articles in the order of
 * their numbers: segment by segment, then articles without a segment. While a segment is rebuilt,
 * no other process can make segments; between two segments, others can.
 *
 * @returns whether it is complete
 */
export async function reindexWords(work: Work): Promise<boolean> {
  const tokeniser = openTokeniser()
  try {
    return await rebuildWords(work, tokeniser)
  } finally {
    await tokeniser.close()
  }
}

/**
 * Writes what outlets say of the chosen articles, where nothing is stored and the page still is. A
 * segment and its articles change in one transaction.
 *
 * @returns whether it is complete
 */
export async function reindexStated(work: Work): Promise<boolean> {
  const tokeniser = openTokeniser()
  try {
    return await rebuildWords(work, tokeniser, seqs => readStated(work.pool, seqs, work.signal))
  } finally {
    await tokeniser.close()
  }
}

// With any other reason another page stood in the article's place. $1 seqs. Indexes: the primary
// keys.
const KEPT = `
  select a.seq, e.page_no as no from articles a join embeddings e using (seq)
    join page_sources using (page_no) join pages p using (page_no)
   where a.seq = any ($1::bigint[]) and num_nonnulls(a.section, a.kind, a.access) = 0
     and coalesce(p.reason, 'paywall') = 'paywall'`

async function readStated(pool: Pool, seqs: bigint[], signal: AbortSignal) {
  const said = new Map<bigint, Stated>()
  const { rows } = await pool.query<{ seq: bigint; no: bigint }>(KEPT, [seqs])
  for (const { seq, no } of rows) {
    const loaded = signal.aborted ? null : await loadPage(pool, no, { finished: true })
    const stated = loaded && statedBy(loaded.page, loaded.page.fetchedAt)
    if (Object.values(stated ?? {}).some(one => one !== null)) said.set(seq, stated!)
  }
  return said
}

/** @param statedOf absent: the words are rebuilt, and what outlets say stays */
async function rebuildWords(
  { pool, chosen, run, limit, tell, signal }: Work,
  tokeniser: Tokeniser,
  statedOf?: (seqs: bigint[]) => Promise<ReadonlyMap<bigint, Stated>>,
): Promise<boolean> {
  const { rebuild } = openIndexer(pool, SEGMENT_THREAD)
  if (statedOf === undefined) await rebuild.names(signal)
  const progress: Progress = { articles: 0, segments: 0 }
  let { doneTo } = run
  await rebuild.exclusively(rebuild.mend)
  const worked = async (articles: number) => {
    progress.articles += articles
    tell(progress)
    await limit(articles)
  }
  /** @returns the number up to which all articles are done; null when it was interrupted */
  const segment = async (range: SegmentRange): Promise<bigint | null> => {
    const seqs = await chosenSeqs(
      pool,
      chosen,
      max(doneTo, range.first - 1n),
      min(run.last, range.last),
      65_536,
    )
    const stated = await statedOf?.(seqs)
    if (seqs.length === 0 || stated?.size === 0) return signal.aborted ? null : range.last
    const whole = await rebuild.segment(range, {
      tokeniser,
      chosen: new Set(stated === undefined ? seqs : []),
      ...(stated === undefined ? {} : { stated }),
      worked,
      within: client => noteDone(client, chosen.selection, range.last),
      signal,
    })
    if (!whole) return null
    progress.segments++
    return range.last
  }
  while (doneTo < run.last) {
    if (signal.aborted) return false
    let fresh = 0
    const reached = await rebuild.exclusively(async () => {
      const range = (await rebuild.ranges()).find(one => one.last > doneTo)
      if (range !== undefined && range.first <= doneTo + 1n) return segment(range)
      // The first articles may be in the archive. Their segments were then dropped.
      const end = range === undefined ? run.last : min(run.last, range.first - 1n)
      const seqs = await chosenSeqs(pool, chosen, doneTo, end, PART)
      if (statedOf === undefined) await rebuild.words(seqs, tokeniser)
      else await rebuild.stated(await statedOf(seqs))
      await noteDone(pool, chosen.selection, seqs.at(-1) ?? end)
      fresh = seqs.length
      progress.articles += fresh
      return seqs.length < PART ? end : seqs.at(-1)!
    })
    if (reached === null) return false
    doneTo = reached
    tell(progress)
    await limit(fresh)
  }
  return true
}

const max = (a: bigint, b: bigint) => (a > b ? a : b)
const min = (a: bigint, b: bigint) => (a < b ? a : b)

export interface TokeniseTask {
  texts: { title: string; body: string | null }[]
}

/** Tokenises in threads. */
export function openTokeniser(): Tokeniser & { close(): Promise<void> } {
  const worker = new URL('./tokeniser-thread.ts', import.meta.url)
  const { threads, run, close } = openTextThreads<TokeniseTask, DocumentWords[]>(worker)
  return {
    atOnce: threads,
    // A row of the table has more fields, which the thread does not need.
    tokenise: texts => run({ texts: texts.map(({ title, body }) => ({ title, body })) }),
    close,
  }
}
