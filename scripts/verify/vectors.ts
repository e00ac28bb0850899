import { setTimeout as pause } from 'node:timers/promises'
import { readEmbeddable } from '#services/embedder/articles'
import { compareVectors } from '#services/embedder/audit'
import { openEmbeddings, sourceOf } from '#shared/embeddings/embeddings'
import { articleVector, passagesOf, RECIPE } from '#shared/embeddings/recipe'
import { EmbeddingFailure } from '#shared/embeddings/source'
import { counted } from '#shared/log/printable'
import { type Pool, readColumn } from '#shared/postgres/pool'
import { openVectorStore } from '#shared/vectors/qdrant-store'
import { type Collection, readCollections } from '#shared/vectors/registry'
import { VectorFailure, type VectorStore } from '#shared/vectors/store'
import { EXAMPLES, type Looking, type Report } from './report.ts'

const FAULTS = {
  lost: 'is embedded, and Qdrant lacks its vector',
  stray: 'has a vector of another, or no promise of one',
  covered: 'has a vector with another country or time',
}

/**
 * Compares the serving collection with the articles. Embedders may run meanwhile. A collection that
 * is being filled lacks articles by design, and embedders compare it once it serves.
 */
export async function verifyVectors({ pool, report, config, signal }: Looking): Promise<void> {
  const [serving, filling] = await readCollections(pool)
  if (!serving) return
  if (filling)
    report.notes.push(`Vectors of ${filling.name} were not compared: no search uses them yet.`)
  if (serving.recipe !== RECIPE && filling?.recipe !== RECIPE)
    report.found(
      'meaning',
      `${serving.name} is of the recipe ${serving.recipe}, and this version has ${RECIPE}: npm run reembed -- --all`,
    )
  const vectors = openVectorStore(config)
  try {
    await compareAll(pool, vectors, serving.name, report, signal)
    for (const field of await vectors.unindexed(serving.name))
      report.found('vectors', `Qdrant has no index by ${field} in ${serving.name}`)
    const sample = await readColumn<bigint>(pool, SAMPLE, [SAMPLED])
    await findThemselves(vectors, serving, sample, report)
    await embedAgain({ pool, report, config, signal }, vectors, serving, sample)
  } catch (error) {
    if (!(error instanceof VectorFailure)) throw error
    const isServing = (await readCollections(pool))[0]?.name === serving.name
    if (error.kind !== 'missing') report.notes.push(`Vectors were not compared. ${error.message}`)
    else if (isServing) report.found('vectors', `Qdrant lacks the collection ${serving.name}`)
  }
}

async function compareAll(
  pool: Pool,
  vectors: VectorStore,
  name: string,
  report: Report,
  signal: AbortSignal,
): Promise<void> {
  for await (const { wrong: all, fault } of compareVectors(pool, vectors, name, signal)) {
    const waiting = await readColumn<bigint>(pool, WAITING, [all])
    const wrong = all.filter(seq => !waiting.includes(seq))
    const named = wrong.slice(0, EXAMPLES)
    const sure = fault === 'stray' ? await stillThere(vectors, name, named) : named
    for (const seq of sure) report.found('vectors', `article ${seq} ${FAULTS[fault]}`)
    const more = wrong.length - named.length
    if (more > 0)
      report.found('vectors', `each of ${more} articles more ${FAULTS[fault]}`, more - 1)
  }
}

// Articles that were taken out, and whose vectors are about to go. $1 seqs. Index:
// tombstones_uncleared.
const WAITING = 'select seq from tombstones where cleared_at is null and seq = any ($1::bigint[])'

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
  const points = await vectors.read(collection, seqs)
  return points.map(({ seq }) => seq)
}

/** The articles whose vectors are looked at one by one: half of them the latest, half at random. */
const SAMPLED = 64

// $1 how many. Indexes: the primary keys.
const SAMPLE = `
  with latest as (
    select seq from (select seq, embedded_at from embeddings order by seq desc limit 10000) e
     where embedded_at is not null order by embedded_at desc limit $1::int / 2),
  drawn as (
    select distinct 1 + floor(random() * last_seq)::bigint as seq from ingest_clock, generate_series(1, $1::int / 2))
  select seq from latest union select seq from drawn join embeddings using (seq) where embedded_at is not null`

/**
 * Asks for each vector itself. Qdrant before 1.18.1 may hide a point from searches that was written
 * while its optimiser began (qdrant#9116). Two misses are needed, because a writer may have
 * replaced the vector meanwhile.
 */
async function findThemselves(
  vectors: VectorStore,
  { name, dimensions }: Collection,
  seqs: bigint[],
  report: Report,
): Promise<void> {
  let missed = seqs
  for (let tries = 0; tries < 2 && missed.length > 0; tries++) {
    const points = await vectors.read(name, missed)
    missed = []
    for (const { seq, vector } of points)
      if (!(await vectors.finds(name, seq, vector))) missed.push(seq)
    const other = points.find(({ vector }) => vector.length !== dimensions)
    if (other !== undefined && tries === 0)
      report.found(
        'vectors',
        `${name} is said to have ${dimensions} dimensions, and has ${other.vector.length}`,
      )
  }
  for (const seq of missed)
    report.found('hidden', `Qdrant has the vector of article ${seq}, and no search finds it`)
}

/** The articles of the sample that are embedded again. Each costs the model up to two texts. */
const EMBEDDED_AGAIN = 16
/**
 * The least cosine of two vectors of one text. Servers and hardware round differently. Texts that
 * tell of different things have less than 0.9.
 */
const LEAST = 0.9

/** Embeds some articles again, and compares the vectors. */
async function embedAgain(
  { pool, report, config, signal }: Pick<Looking, 'pool' | 'report' | 'config' | 'signal'>,
  vectors: VectorStore,
  collection: Collection,
  sample: bigint[],
): Promise<void> {
  const isPossible =
    collection.recipe === RECIPE && (config.EMBEDDINGS_URL !== '' || config.HF_TOKEN !== '')
  const articles = isPossible ? await readEmbeddable(pool, sample.slice(0, EMBEDDED_AGAIN)) : []
  if (articles.length === 0) {
    if (sample.length > 0) report.notes.push('No vector was made again: no model is set.')
    return
  }
  const options = { passageTimeout: config.EMBEDDINGS_TIMEOUT, dimensions: collection.dimensions }
  const embeddings = openEmbeddings(sourceOf(config, collection), options)
  const before = await vectors.read(
    collection.name,
    articles.map(({ seq }) => seq),
  )
  const stored = new Map(before.map(({ seq, vector }) => [seq, vector]))
  try {
    for (const article of articles) {
      const own = stored.get(article.seq)
      const passages = passagesOf(article)
      const texts = passages.map(({ text }) => text)
      const made = articleVector(passages, await embeddings.embedPassages(texts, signal))
      const cosine = own === undefined ? 1 : cosineOf(own, made)
      if (cosine < LEAST)
        report.found('meaning', `article ${article.seq} has a vector of another text`)
    }
  } catch (error) {
    if (!(error instanceof EmbeddingFailure)) throw error
    const count = counted(articles.length, 'vector was', 'vectors were')
    report.notes.push(`${count} not made again. ${error.message}`)
  }
}

function cosineOf(a: number[], b: number[]): number {
  const product = a.reduce((sum, number, at) => sum + number * (b[at] ?? 0), 0)
  return product / (Math.hypot(...a) * Math.hypot(...b))
}
