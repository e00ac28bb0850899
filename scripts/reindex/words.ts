import { openTextThreads } from '#scripts/articles/reader'
import { openIndexer, type SegmentRange, type Tokeniser } from '#search/indexer'
import type { DocumentWords, Stated } from '#search/types'
import { type Composer, composerOptions, openComposer } from '#services/normaliser/composer'
import { loadPage } from '#services/normaliser/pages/load'
import type { Config } from '#shared/config/config'
import { counted } from '#shared/log/printable'
import { isTransient } from '#shared/postgres/pool'
import { SEGMENT_THREAD } from '#shared/postgres/segment-thread'
import { dropPrivileges } from '#shared/process/privileges'
import { chosenSeqs, isWhole, noteDone, type Progress, type Work } from './run.ts'

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
 * segment and its articles change in one transaction. A page that cannot be read says nothing.
 *
 * @returns whether it is complete
 */
export async function reindexStated(work: Work, config: Config): Promise<boolean> {
  const problem = dropPrivileges()
  if (problem !== null) work.say(problem)
  const tokeniser = openTokeniser()
  const composer = openComposer({ ...composerOptions(config), threads: 1 })
  const statements = readStatements(work, composer)
  try {
    return await rebuildWords(work, tokeniser, statements)
  } finally {
    await Promise.all([tokeniser.close(), composer.close()])
    const unread = statements.unread()
    if (unread > 0)
      work.say(`${counted(unread, 'page')} could not be read: what they say stays unknown.`)
  }
}

// With any other reason another page stood in the article's place. $1 seqs. Indexes: the primary
// keys.
const KEPT = `
  select a.seq, e.page_no as no from articles a join embeddings e using (seq)
    join page_sources using (page_no) join pages p using (page_no)
   where a.seq = any ($1::bigint[]) and num_nonnulls(a.section, a.kind, a.access) = 0
     and coalesce(p.reason, 'paywall') = 'paywall'`

interface Statements {
  /** Reads the pages of articles, one after another. */
  read(seqs: bigint[]): Promise<void>
  /** What was read of articles of which nothing is stored; null: a page was not read yet. */
  of(seqs: bigint[]): Promise<ReadonlyMap<bigint, Stated> | null>
  /** How many pages could not be read. */
  unread(): number
}

/** Reads foreign pages in a thread of the normaliser, with its limits. */
function readStatements({ pool, signal }: Work, composer: Composer): Statements {
  const said = new Map<bigint, Stated | null>()
  let unread = 0
  const kept = async (seqs: bigint[]) =>
    (await pool.query<{ seq: bigint; no: bigint }>(KEPT, [seqs])).rows
  const readPage = async (no: bigint): Promise<Stated | null> => {
    try {
      const loaded = await loadPage(pool, no, { finished: true })
      if (loaded === null) return null
      const composed = await composer.compose(loaded.page, { now: loaded.page.fetchedAt })
      return composed.kind === 'article' ? (composed.article.stated ?? null) : null
    } catch (error) {
      if (isTransient(error)) throw error
      unread++
      return null
    }
  }
  return {
    async read(seqs) {
      for (const { seq, no } of await kept(seqs)) {
        if (signal.aborted) return
        if (!said.has(seq)) said.set(seq, await readPage(no))
      }
    },
    async of(seqs) {
      const stated = new Map<bigint, Stated>()
      for (const { seq } of await kept(seqs)) {
        const one = said.get(seq)
        if (one === undefined) return null
        if (Object.values(one ?? {}).some(value => value !== null)) stated.set(seq, one!)
      }
      said.clear()
      return stated
    },
    unread: () => unread,
  }
}

/** @param statements absent: the words are rebuilt, and what outlets say stays */
async function rebuildWords(
  { pool, chosen, run, limit, tell, signal }: Work,
  tokeniser: Tokeniser,
  statements?: Statements,
): Promise<boolean> {
  const { rebuild } = openIndexer(pool, SEGMENT_THREAD)
  if (statements === undefined) await rebuild.names(signal)
  const progress: Progress = { articles: 0, segments: 0 }
  let { doneTo } = run
  await rebuild.exclusively(rebuild.mend)
  const worked = async (articles: number) => {
    progress.articles += articles
    tell(progress)
    await limit(articles)
  }
  /** The chosen articles of the next segment, or the next ones without a segment. */
  const nextPart = async () => {
    const next = (await rebuild.ranges()).find(one => one.last > doneTo)
    const range = next !== undefined && next.first <= doneTo + 1n ? next : null
    // The first articles may be in the archive. Their segments were then dropped.
    const end = min(run.last, range?.last ?? (next === undefined ? run.last : next.first - 1n))
    const most = range === null ? PART : 65_536
    return { range, end, most, seqs: await chosenSeqs(pool, chosen, doneTo, end, most) }
  }
  /** @returns the number up to which all articles are done; null when it was interrupted */
  const segment = async (
    range: SegmentRange,
    seqs: bigint[],
    stated?: ReadonlyMap<bigint, Stated>,
  ): Promise<bigint | null> => {
    // A segment whose articles were all taken out may be damaged, too.
    const isSkipped =
      stated === undefined ? seqs.length === 0 && !isWhole(chosen.selection) : stated.size === 0
    if (isSkipped) return signal.aborted ? null : range.last
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
    // Other processes make segments meanwhile.
    await statements?.read((await nextPart()).seqs)
    let fresh = 0
    const reached = await rebuild.exclusively(async (): Promise<bigint | null> => {
      const { range, end, most, seqs } = await nextPart()
      const stated = await statements?.of(seqs)
      if (stated === null) return doneTo
      if (range === null) {
        if (stated === undefined) await rebuild.words(seqs, tokeniser)
        else await rebuild.stated(stated)
        await noteDone(pool, chosen.selection, seqs.at(-1) ?? end)
        fresh = seqs.length
        return seqs.length < most ? end : seqs.at(-1)!
      }
      if (stated !== undefined) fresh = seqs.length
      return segment(range, seqs, stated)
    })
    if (reached === null) return false
    doneTo = reached
    await worked(fresh)
  }
  return true
}

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
