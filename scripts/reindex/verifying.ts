import { setTimeout as pause } from 'node:timers/promises'
import { glanceAtArchive } from '../../search/archive/state.ts'
import { type IndexKind, type Verified, type VerifyWork, verifyIndex } from '../../search/verify.ts'
import { readSearch } from '../../services/api/contract/request.ts'
import { compareVectors } from '../../services/embedder/audit.ts'
import { checkGroups } from '../../shared/copies/pass.ts'
import { counted, describe, printableLine } from '../../shared/log/printable.ts'
import { type Pool, transaction } from '../../shared/postgres/pool.ts'
import type { QdrantSettings } from '../../shared/vectors/qdrant.ts'
import { openVectorStore } from '../../shared/vectors/qdrant-store.ts'
import { readCollections } from '../../shared/vectors/registry.ts'
import { VectorFailure, type VectorStore } from '../../shared/vectors/store.ts'
import { openTokeniser } from './words.ts'

const [REINDEX, RESTORE] = ['npm run reindex', 'npm run restore'] as const

/**
 * Kinds of differences, each with the command that repairs it; null: the difference may be
 * intended.
 */
const MENDS = {
  ranges: REINDEX,
  segments: REINDEX,
  words: REINDEX,
  names: REINDEX,
  leftovers: REINDEX,
  archive: `${REINDEX} -- --archive`,
  stamps: 'npm run recovered',
  vectors: 'a restart of the embedder',
  clock: RESTORE,
  articles: RESTORE,
  identity: RESTORE,
  days: RESTORE,
  promises: RESTORE,
  copies: `${REINDEX} -- --copies`,
  feeds: 'npm run keys -- feed revoke',
  removed: 'npm run articles -- remove, once more,',
  unpromised: null,
} satisfies Record<IndexKind | 'archive' | 'vectors' | 'copies' | 'feeds', string | null>

type Kind = keyof typeof MENDS

/** The most differences of a kind that are named. */
const EXAMPLES = 10

export interface Report {
  kinds: Map<Kind, { kind: Kind; count: number; examples: string[]; mend: string | null }>
  /** The parts that were not compared, each with the reason. */
  notes: string[]
  found(kind: Kind, text: string, more?: number): void
  isSound(): boolean
  /** The report in lines for people. */
  lines(): string[]
}

/** Collects differences: the number of each kind, and the first ones in full. */
export function createReport(): Report {
  const kinds = new Map<
    Kind,
    { kind: Kind; count: number; examples: string[]; mend: string | null }
  >()
  const notes: string[] = []
  return {
    kinds,
    notes,
    found(kind: Kind, text: string, more = 0): void {
      const all = kinds.get(kind) ?? { kind, count: 0, examples: [], mend: MENDS[kind] }
      kinds.set(kind, all)
      all.count += 1 + more
      if (all.examples.length < EXAMPLES) all.examples.push(text)
    },
    isSound: (): boolean => [...kinds.values()].every(({ mend }) => mend === null),
    lines: (): string[] =>
      [...kinds.values()].flatMap(({ kind, count, examples, mend }) => [
        `${kind}: ${counted(count, 'difference')}${mend === null ? '.' : `; ${mend} mends that.`}`,
        ...examples.map(text => `  ${printableLine(text)}`),
      ]),
  }
}

type Extent = Pick<VerifyWork, 'sample' | 'progress' | 'signal'>

/** Compares the index, or a sample of it, with the articles. Threads tokenise. */
async function verifyWith(
  pool: Pool,
  { found }: Pick<Report, 'found'>,
  extent: Extent,
): Promise<Verified> {
  for (const text of await glanceAtArchive(pool)) found('archive', text)
  const { tokenise, close } = openTokeniser()
  return verifyIndex({ pool, tokenise, found, ...extent }).finally(close)
}

/**
 * The comparisons beside the index of words. Code that derives other data from articles must add
 * its comparison here.
 */
const LOOKS = [verifyVectors, verifyCopies, verifyFeeds]

/** Compares the index, and all other data that is derived from articles. */
export async function verifyAll(
  pool: Pool,
  config: QdrantSettings,
  report: Report,
  extent: Extent,
): Promise<Verified> {
  const verified = await verifyWith(pool, report, extent)
  for (const look of LOOKS)
    if (!extent.signal.aborted) await look(pool, report, config, extent.signal)
  return verified
}

/**
 * Compares the articles that have vectors in the serving collection with those that count as
 * embedded. Embedders may run meanwhile. A collection that is being filled lacks articles by
 * design, and embedders compare it once it serves.
 */
async function verifyVectors(
  pool: Pool,
  report: Report,
  config: QdrantSettings,
  signal: AbortSignal,
): Promise<void> {
  const [serving, filling] = await readCollections(pool)
  if (!serving) return
  if (filling)
    report.notes.push(`Vectors of ${filling.name} were not compared: no search uses them yet.`)
  const vectors = openVectorStore(config)
  try {
    for await (const { wrong, isLost } of compareVectors(pool, vectors, serving.name, signal)) {
      const named = wrong.slice(0, EXAMPLES)
      const what = isLost
        ? 'is embedded, and Qdrant lacks its vector'
        : 'has a vector of another, or no promise of one'
      const sure = isLost ? named : await stillThere(vectors, serving.name, named)
      for (const seq of sure) report.found('vectors', `article ${seq} ${what}`)
      const more = wrong.length - named.length
      if (more > 0) report.found('vectors', `each of ${more} articles more ${what}`, more - 1)
    }
  } catch (error) {
    if (!(error instanceof VectorFailure)) throw error
    const isServing = (await readCollections(pool))[0]?.name === serving.name
    if (error.kind !== 'missing') report.notes.push(`Vectors were not compared. ${error.message}`)
    else if (isServing) report.found('vectors', `Qdrant lacks the collection ${serving.name}`)
  }
}

/**
 * Returns the articles that still have their vector after two seconds. A process that withdraws a
 * promise removes the vector a moment later.
 */
async function stillThere(
  vectors: VectorStore,
  collection: string,
  seqs: bigint[],
): Promise<bigint[]> {
  await pause(2_000)
  const first = await Promise.all(seqs.map(seq => vectors.seqs(collection, seq, 1)))
  return seqs.filter((seq, at) => first[at]?.seqs[0] === seq)
}

/** Articles whose groups are compared. Each run chooses other articles at random. */
const COPIES = 2_000
/**
 * Articles that are compared at a time. Their texts and those of their first articles are in
 * memory.
 */
const COPIES_AT_ONCE = 50

/** Compares a sample of the groups of copies with the texts. */
async function verifyCopies(
  pool: Pool,
  report: Report,
  _config: QdrantSettings,
  signal: AbortSignal,
): Promise<void> {
  const { rows } = await pool.query<{ seq: bigint }>(
    `select distinct 1 + floor(random() * last_seq)::bigint as seq from ingest_clock, generate_series(1, $1)`,
    [COPIES],
  )
  for (let from = 0; from < rows.length && !signal.aborted; from += COPIES_AT_ONCE) {
    const seqs = rows.slice(from, from + COPIES_AT_ONCE).map(({ seq }) => seq)
    const faults = await transaction(pool, async client => {
      await client.query('set transaction isolation level repeatable read read only')
      return checkGroups(client, seqs)
    })
    for (const fault of faults) report.found('copies', fault)
  }
}

/** Checks that every feed of a search has its key, and that its search can still be read. */
async function verifyFeeds(pool: Pool, report: Report): Promise<void> {
  const { rows } = await pool.query<{ id: string; search: string; hasKey: boolean }>(`
    select feed_id as id, search, exists (select from api_keys k where k.id = f.key_id) as "hasKey"
    from search_feeds f where revoked_at is null order by feed_id limit 100000`)
  for (const { id, search, hasKey } of rows) {
    if (!hasKey) report.found('feeds', `the key of ${id} is not there`)
    try {
      readSearch(search, 'feed')
    } catch (error) {
      report.found('feeds', `the search of ${id} cannot be read (${describe(error)}): ${search}`)
    }
  }
}

/** Segments that a command compares after it has changed the index. */
const PROOF = 4

/**
 * Compares a sample of the changed index, and reports the differences.
 *
 * @returns whether nothing differs
 */
export async function prove(
  pool: Pool,
  say: (sentence: string) => void,
  signal: AbortSignal,
): Promise<boolean> {
  const report = createReport()
  await verifyWith(pool, report, {
    sample: { count: PROOF, seed: Date.now() },
    progress() {},
    signal,
  })
  for (const line of report.isSound() ? [] : report.lines()) say(line)
  return report.isSound()
}
