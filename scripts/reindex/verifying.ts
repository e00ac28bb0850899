import { setTimeout as pause } from 'node:timers/promises'
import { type IndexKind, type Verified, type VerifyWork, verifyIndex } from '../../search/verify.ts'
import { ApiError } from '../../services/api/contract/errors.ts'
import { readRequest } from '../../services/api/contract/request.ts'
import { compareVectors } from '../../services/embedder/audit.ts'
import { counted, printableLine } from '../../shared/log/printable.ts'
import type { Pool } from '../../shared/postgres/pool.ts'
import type { QdrantSettings } from '../../shared/vectors/qdrant.ts'
import { openVectorStore } from '../../shared/vectors/qdrant-store.ts'
import { readCollections } from '../../shared/vectors/registry.ts'
import { VectorFailure } from '../../shared/vectors/store.ts'
import { openTokeniser } from './words.ts'

const [REINDEX, RESTORE] = ['npm run reindex', 'npm run restore'] as const

/** Kinds of differences, each with what mends it; null: it may be meant. */
const MENDS = {
  ...{ ranges: REINDEX, segments: REINDEX, words: REINDEX, names: REINDEX, leftovers: REINDEX },
  ...{ archive: `${REINDEX} -- --archive`, stamps: 'npm run recovered', vectors: 'a restart of the embedder' },
  ...{ clock: RESTORE, articles: RESTORE, identity: RESTORE, days: RESTORE, promises: RESTORE },
  ...{ feeds: 'npm run keys -- feed revoke', unpromised: null },
} satisfies Record<IndexKind | 'vectors' | 'feeds', string | null>

type Kind = keyof typeof MENDS

/** All that was found of one kind. */
interface Differences {
  kind: Kind
  count: number
  /** The first ones. */
  examples: string[]
  mend: string | null
}

/** Differences of a kind that are named. */
const EXAMPLES = 10

export type Report = ReturnType<typeof createReport>

/** Collects what differs: of each kind the first ones, and how many. */
export function createReport() {
  const kinds = new Map<Kind, Differences>()
  return {
    /** What was not compared, and why. */
    notes: [] as string[],
    found(kind: Kind, text: string, more = 0): void {
      const all = kinds.get(kind) ?? { kind, count: 0, examples: [], mend: MENDS[kind] }
      kinds.set(kind, all)
      all.count += 1 + more
      if (all.examples.length < EXAMPLES) all.examples.push(text)
    },
    differences: () => [...kinds.values()],
    isSound: () => [...kinds.values()].every(({ mend }) => mend === null),
    /** For people. */
    lines: () =>
      [...kinds.values()].flatMap(({ kind, count, examples, mend }) => [
        `${kind}: ${counted(count, 'difference')}${mend === null ? '.' : `; ${mend} mends that.`}`,
        ...examples.map(text => `  ${printableLine(text)}`),
      ]),
  }
}

type Extent = Pick<VerifyWork, 'sample' | 'progress' | 'signal'>

/** Compares the index with the articles, all of it or a sample; threads tokenise. */
async function verifyWith(pool: Pool, { found }: Pick<Report, 'found'>, extent: Extent): Promise<Verified> {
  const { tokenise, close } = openTokeniser()
  return verifyIndex({ pool, tokenise, found, ...extent }).finally(close)
}

/** What is compared beside the index of words; whatever else is made of articles goes here. */
const LOOKS = [verifyVectors, verifyFeeds]

/** Compares the index, and all else that is made of articles. */
export async function verifyAll(pool: Pool, config: QdrantSettings, report: Report, extent: Extent): Promise<Verified> {
  const verified = await verifyWith(pool, report, extent)
  for (const look of LOOKS) if (!extent.signal.aborted) await look(pool, report, config, extent.signal)
  return verified
}

/** ms after which a vector is gone whose promise was just withdrawn. */
const WITHDRAWN = 2_000

/** Vectors are those of the articles that are embedded. Embedders go on meanwhile. */
async function verifyVectors(pool: Pool, report: Report, config: QdrantSettings, signal: AbortSignal): Promise<void> {
  const [serving] = await readCollections(pool)
  if (!serving) return
  const vectors = openVectorStore(config, 15_000)
  const isThere = async (seq: bigint) => (await vectors.seqs(serving.name, seq, 1)).seqs[0] === seq
  try {
    for await (const { wrong, isLost } of compareVectors(pool, vectors, serving.name, signal)) {
      if (!isLost) await pause(WITHDRAWN)
      const what = isLost ? 'is embedded, and Qdrant lacks its vector' : 'has a vector in Qdrant, and no promise of one'
      for (const seq of wrong) if (isLost || (await isThere(seq))) report.found('vectors', `article ${seq} ${what}`)
    }
  } catch (error) {
    if (!(error instanceof VectorFailure)) throw error
    if (error.kind === 'missing') report.found('vectors', `Qdrant lacks the collection ${serving.name}`)
    else report.notes.push(`Vectors were not compared. ${error.message}`)
  }
}

/** Every feed of a search has its key, and a search that can still be read. */
async function verifyFeeds(pool: Pool, report: Report): Promise<void> {
  const { rows } = await pool.query<{ id: string; search: string; hasKey: boolean }>(`
    select feed_id as id, search, exists (select from api_keys k where k.id = f.key_id) as "hasKey"
    from search_feeds f where revoked_at is null order by feed_id limit 100000`)
  for (const { id, search, hasKey } of rows) {
    if (!hasKey) report.found('feeds', `the key of ${id} is not there`)
    if (!isReadable(search)) report.found('feeds', `the search of ${id} cannot be read: ${search}`)
  }
}

function isReadable(search: string): boolean {
  try {
    return readRequest(search, 'feed') !== null
  } catch (error) {
    if (error instanceof ApiError) return false
    throw error
  }
}

/** Segments that a command compares after it has changed them. */
const PROOF = 4

/**
 * A command's proof of what it made, by a sample. It says what differs.
 *
 * @returns whether nothing does
 */
export async function prove(pool: Pool, say: (sentence: string) => void, signal: AbortSignal): Promise<boolean> {
  const report = createReport()
  await verifyWith(pool, report, { sample: { count: PROOF, seed: Date.now() }, progress() {}, signal })
  for (const line of report.isSound() ? [] : report.lines()) say(line)
  return report.isSound()
}
