import { setTimeout as pause } from 'node:timers/promises'
import { type EmbeddableArticle, readEmbeddable } from '../../services/embedder/articles.ts'
import type { EmbeddingCollection, EmbeddingCollections } from '../../services/embedder/collections.ts'
import { storeIn } from '../../services/embedder/store.ts'
import { EmbeddingFailure } from '../../shared/embeddings/source.ts'
import type { Pool } from '../../shared/postgres/pool.ts'
import { VectorFailure } from '../../shared/vectors/nearest.ts'
import type { Collection } from '../../shared/vectors/registry.ts'
import type { VectorStore } from '../../shared/vectors/store.ts'
import { fillingNamed } from './states.ts'

interface Filling {
  pool: Pool
  vectors: VectorStore
  embeddingCollections: EmbeddingCollections
  say(sentence: string): void
}

/** Articles between two updates of `filled_to`. */
const STEP = 64
/** Articles whose vectors are stored together. */
const GROUP = 4
const OUTAGE_PAUSE = 2_000
const PROBE = 'Perscope'

/**
 * Embeds every article that was embedded before the collection was registered, in the order of
 * their numbers, and records its progress. Articles embedded since then went to both collections.
 * Waits out outages. An article that is refused is given to the embedders, who try again and put it
 * in quarantine.
 *
 * @returns how many articles it embedded; complete unless `signal` has been aborted
 */
export async function fill(
  filling: Filling,
  name: string,
  progress: (articles: number) => void,
  signal: AbortSignal,
): Promise<number> {
  const { pool, embeddingCollections } = filling
  let done = 0
  while (!signal.aborted) {
    const target = await openTarget(embeddingCollections, name)
    const seqs = await nextSeqs(pool, target.collection)
    if (seqs.length === 0) return done
    const articles = await readEmbeddable(pool, seqs)
    for (let at = 0; at < articles.length && !signal.aborted; at += GROUP) {
      const group = articles.slice(at, at + GROUP)
      await storePatiently(filling, target, group, signal)
      if (!signal.aborted) done += group.length
      progress(done)
    }
    if (!signal.aborted) await noteFilled(pool, target.collection, seqs.at(-1)!)
  }
  return done
}

async function openTarget(embeddingCollections: EmbeddingCollections, name: string): Promise<EmbeddingCollection> {
  const open = await embeddingCollections.current()
  const collection = fillingNamed(
    name,
    open.map(target => target.collection),
  )
  return open.find(target => target.collection === collection)!
}

// Index: the primary key.
async function nextSeqs(pool: Pool, { filledTo, registeredAt }: Collection): Promise<bigint[]> {
  const { rows } = await pool.query<{ seq: bigint }>(
    `select seq from embeddings
     where seq > $1 and embedded_at is not null and embedded_at <= $2 order by seq limit $3`,
    [filledTo, registeredAt, STEP],
  )
  return rows.map(({ seq }) => seq)
}

/** Changes nothing when the vector store has lost the collection: it was registered anew then. */
async function noteFilled(pool: Pool, { name, registeredAt }: Collection, seq: bigint): Promise<void> {
  await pool.query('update vector_collections set filled_to = $3 where name = $1 and registered_at = $2', [
    name,
    registeredAt,
    seq,
  ])
}

async function storePatiently(
  filling: Filling,
  target: EmbeddingCollection,
  group: EmbeddableArticle[],
  signal: AbortSignal,
): Promise<void> {
  for (let complaint = ''; !signal.aborted; ) {
    const failure = await store(filling, target, group, signal)
    if (failure === null) return
    if (failure.kind === 'missing') await filling.embeddingCollections.restore()
    if (await isAlive(filling, target, signal)) return storeOneByOne(filling, target, group, failure, signal)
    if (failure.message !== complaint) filling.say(`${failure.message} Waiting.`)
    complaint = failure.message
    await pause(OUTAGE_PAUSE, undefined, { signal }).catch(() => {})
  }
}

/** @returns the failure of the model or of the vector store; null: stored, or interrupted */
async function store(
  { vectors }: Filling,
  target: EmbeddingCollection,
  group: EmbeddableArticle[],
  signal: AbortSignal,
): Promise<EmbeddingFailure | VectorFailure | null> {
  try {
    await storeIn(target, vectors, group, signal)
    return null
  } catch (error) {
    if (signal.aborted) return null
    if (error instanceof EmbeddingFailure || error instanceof VectorFailure) return error
    throw error
  }
}

/** Finds the article of a group that is refused although model and vector store answer. */
async function storeOneByOne(
  filling: Filling,
  target: EmbeddingCollection,
  group: EmbeddableArticle[],
  failure: EmbeddingFailure | VectorFailure,
  signal: AbortSignal,
): Promise<void> {
  if (group.length === 1) return giveToEmbedders(filling, group[0]!, failure.message)
  for (const article of group) await storePatiently(filling, target, [article], signal)
}

async function isAlive(
  { vectors }: Filling,
  { embeddings }: EmbeddingCollection,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await vectors.ping()
    await embeddings.embedPassages([PROBE], signal)
    return true
  } catch {
    return false
  }
}

async function giveToEmbedders({ pool, say }: Filling, { seq }: EmbeddableArticle, why: string): Promise<void> {
  say(`Article ${seq} is refused (${why}); the embedders try it again.`)
  await pool.query('update embeddings set embedded_at = null, claimed_until = null, attempts = 0 where seq = $1', [seq])
}
