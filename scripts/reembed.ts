import { setTimeout as pause } from 'node:timers/promises'
import { type EmbeddableArticle, readEmbeddable } from '#services/embedder/articles'
import { removeStray } from '#services/embedder/audit'
import {
  collectionName,
  type EmbeddingCollection,
  type EmbeddingCollections,
  openEmbeddingCollections,
} from '#services/embedder/collections'
import { storeIn } from '#services/embedder/store'
import { openEmbeddings, sourceOf } from '#shared/embeddings/embeddings'
import { modelNamed } from '#shared/embeddings/models'
import { RECIPE } from '#shared/embeddings/recipe'
import { EmbeddingFailure } from '#shared/embeddings/source'
import { createLogger } from '#shared/log/logger'
import { counted } from '#shared/log/printable'
import { countOf, type Pool, type Queryable, readColumn, transaction } from '#shared/postgres/pool'
import { type CommandContext, runCommand, textOf, UsageError } from '#shared/process/command'
import { openVectorStore } from '#shared/vectors/qdrant-store'
import { type Collection, changeCollections, readCollections } from '#shared/vectors/registry'
import { VectorFailure, type VectorStore } from '#shared/vectors/store'
import { articlesBar, confirm } from './terminal/terminal.ts'

/*
 * Vectors of two models cannot be compared, so a new model gets a new collection. The new
 * collection is filled while the old one serves, and new articles go to both. Then the new one
 * takes over in one transaction.
 */

/** Articles that are embedded between two updates of `filled_to`. */
const STEP = 64
/** Articles whose vectors are stored together. */
const GROUP = 4
const OUTAGE_PAUSE = 2_000
const PROBE = 'Perscope'

const PROBE_TIMEOUT = 30_000

await runCommand(
  {
    name: 'reembed',
    about: [
      'Embeds all articles again, for another model or recipe, in a second collection beside the serving one. Searches go on',
      'and new articles go to both. The second collection takes over when it is complete. After an interruption the same',
      'command goes on where it was. Embedders must run meanwhile: they embed new articles for both collections.',
      'At a terminal it asks before it takes a model that it does not know.',
    ].join('\n'),
    usage: [
      '--model NAME [--api openai|tei|hf] [--url URL] [--dry-run] [--yes] [--json]',
      '--all [--dry-run] [--json]      (the same model)',
      '--cancel [--dry-run]',
    ],
    options: {
      model: { value: 'NAME', about: 'the new model' },
      api: { value: 'API', about: 'protocol of its endpoint (default EMBEDDINGS_API)' },
      url: {
        value: 'URL',
        about: 'its endpoint, for all services (default: EMBEDDINGS_URL of each)',
      },
      all: { about: 'also when model and recipe are unchanged' },
      yes: { about: 'takes a model that it does not know without asking' },
      cancel: { about: 'gives up a collection that is not complete' },
      json: { about: 'prints {"collection", "model", "articles", "done"}' },
      'dry-run': { about: 'says how many articles it would embed' },
    },
    needs: ['DATABASE_URL', 'QDRANT_URL'],
  },
  async context => {
    const { options } = context
    const pool = context.openPool()
    const [serving, filling = null] = await readCollections(pool)
    if (!serving)
      throw new UsageError(
        'No article is embedded yet. Start an embedder; it uses EMBEDDINGS_MODEL.',
      )
    if (options.cancel) return await cancel(context, pool, filling)
    return await reembed(context, pool, serving, filling)
  },
)

async function cancel(
  { options, say }: CommandContext,
  pool: Pool,
  filling: Collection | null,
): Promise<void> {
  if (filling === null) return say('No collection is being filled.')
  if (options['dry-run']) return say(`Would give up ${filling.name}.`)
  await transaction(pool, async client => {
    await changeCollections(client)
    await client.query(
      `update vector_collections set state = 'retired', changed_at = clock_timestamp() where state = 'filling'`,
    )
  })
  say(`Gave up ${filling.name}.`)
}

async function reembed(
  context: CommandContext,
  pool: Pool,
  serving: Collection,
  filling: Collection | null,
) {
  const { config, options, say, signal } = context
  const wanted = modelNamed(
    textOf(options, 'model') ?? filling?.model ?? config.EMBEDDINGS_MODEL,
  ).name
  const doubt = filling === null && serving.model !== wanted ? doubtOf(wanted) : null
  if (filling && (filling.model !== wanted || filling.recipe !== RECIPE)) {
    throw new UsageError(
      `A collection for ${filling.model} is being filled; go on with --model ${filling.model}, or give it up with --cancel.`,
    )
  }
  if (!filling && serving.model === wanted && serving.recipe === RECIPE && !options.all) {
    report(context, { collection: serving.name, model: wanted, articles: 0, done: true })
    say(`${wanted} serves already; --all embeds all articles again.`)
    return 0
  }
  if (options['dry-run']) {
    const articles = await left(pool, filling)
    const collection = filling?.name ?? null
    report(context, { collection, model: wanted, articles, done: false })
    say(
      `Would embed ${counted(articles, 'article')} with ${wanted}${filling ? `, going on in ${filling.name}` : ''}.`,
    )
    if (doubt !== null) say(doubt)
    const waiting = await notEmbedded(pool)
    if (waiting > 0) {
      say(
        `Not counted: ${counted(waiting, 'article')} not embedded yet. Embedders put them into both collections.`,
      )
    }
    return 0
  }
  const collection = filling ?? (await registerFilling(context, pool, wanted, doubt))
  say(`${filling ? 'Going on' : 'Beginning'} with ${collection.name}.`)
  const articles = await fillAndTakeOver(context, pool, collection)
  const done = !signal.aborted
  report(context, { collection: collection.name, model: wanted, articles, done })
  say(
    done
      ? `Embedded ${counted(articles, 'article')} with ${wanted}; ${collection.name} serves now.`
      : `Interrupted after ${counted(articles, 'article')}; the same command goes on.`,
  )
  return done ? 0 : 1
}

/**
 * @returns the number of embedded articles. The collection serves afterwards, unless `signal` is
 *   aborted
 */
async function fillAndTakeOver(
  { config, signal, say }: CommandContext,
  pool: Pool,
  collection: Collection,
) {
  const vectors = openVectorStore(config)
  const embeddingCollections = openEmbeddingCollections(
    config,
    pool,
    vectors,
    createLogger('reembed', 'silent'),
  )
  // A collection of an interrupted run keeps its shards, even if the settings now demand others.
  const warning = await vectors.layoutWarning(collection.name).catch(() => null)
  if (warning !== null) say(warning)
  const bar = articlesBar(await left(pool, collection))
  const filling = { pool, vectors, embeddingCollections, say: bar.say }
  let articles = 0
  try {
    do {
      const before = articles
      articles += await fill(filling, collection.name, n => bar.update(before + n), signal)
    } while (!signal.aborted && !(await takeOver(pool, collection.name)))
  } finally {
    bar.stop()
  }
  if (!signal.aborted) await vectors.point(config.QDRANT_COLLECTION, collection.name)
  return articles
}

function report({ options, print }: CommandContext, made: object): void {
  if (options.json) print(JSON.stringify(made))
}

interface Filling {
  pool: Pool
  vectors: VectorStore
  embeddingCollections: EmbeddingCollections
  say(sentence: string): void
}

/**
 * Embeds every article that was embedded before the collection was registered, in the order of
 * their numbers, and records its progress. Articles that were embedded later went to both
 * collections. It waits during outages. A refused article is left to the embedders, which try again
 * and put it in quarantine.
 *
 * @returns the number of embedded articles; complete unless `signal` is aborted
 */
async function fill(
  filling: Filling,
  name: string,
  progress: (articles: number) => void,
  signal: AbortSignal,
) {
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
    await removeStray(pool, filling.vectors, name, articles)
    if (!signal.aborted) await noteFilled(pool, target.collection, seqs.at(-1)!)
  }
  return done
}

async function openTarget(
  embeddingCollections: EmbeddingCollections,
  name: string,
): Promise<EmbeddingCollection> {
  const open = await embeddingCollections.current()
  const collection = fillingNamed(
    name,
    open.map(target => target.collection),
  )
  return open.find(target => target.collection === collection)!
}

// Index: the primary key.
function nextSeqs(pool: Pool, { filledTo, registeredAt }: Collection): Promise<bigint[]> {
  return readColumn(
    pool,
    `select seq from embeddings
     where seq > $1 and embedded_at is not null and embedded_at <= $2 order by seq limit $3`,
    [filledTo, registeredAt, STEP],
  )
}

/**
 * Records up to which article a collection is filled. It changes nothing when the vector store has
 * lost the collection meanwhile, because the collection was then registered again.
 */
async function noteFilled(
  pool: Pool,
  { name, registeredAt }: Collection,
  seq: bigint,
): Promise<void> {
  await pool.query(
    'update vector_collections set filled_to = $3 where name = $1 and registered_at = $2',
    [name, registeredAt, seq],
  )
}

async function storePatiently(
  filling: Filling,
  target: EmbeddingCollection,
  group: EmbeddableArticle[],
  signal: AbortSignal,
): Promise<void> {
  for (let complaint = ''; !signal.aborted; ) {
    try {
      return await storeIn(target, filling.vectors, group, signal)
    } catch (error) {
      if (signal.aborted) return
      if (!(error instanceof EmbeddingFailure || error instanceof VectorFailure)) throw error
      if (error.kind === 'missing') await filling.embeddingCollections.restore()
      if (await isAlive(filling, target, signal))
        return giveToEmbedders(filling, group, error.message)
      if (error.message !== complaint) filling.say(`${error.message} Waiting.`)
      complaint = error.message
      await pause(OUTAGE_PAUSE, undefined, { signal }).catch(() => {})
    }
  }
}

async function isAlive(
  { vectors }: Filling,
  { embeddings }: EmbeddingCollection,
  signal: AbortSignal,
) {
  try {
    await vectors.ping()
    await embeddings.embedPassages([PROBE], signal)
    return true
  } catch {
    return false
  }
}

/**
 * Leaves a group to the embedders when both the model and the vector store answer, but one of them
 * refuses an article of the group. The embedders find out which article it is.
 */
async function giveToEmbedders(
  { pool, say }: Filling,
  group: EmbeddableArticle[],
  why: string,
): Promise<void> {
  const seqs = group.map(({ seq }) => seq)
  say(`One of the articles ${seqs.join(', ')} is refused (${why}); the embedders try them again.`)
  await pool.query(
    'update embeddings set embedded_at = null, claimed_until = null, attempts = 0, due_at = clock_timestamp() where seq = any ($1)',
    [seqs],
  )
}

/** Why a model may be a mistake; null: its conventions are known. */
function doubtOf(model: string): string | null {
  if (modelNamed(model).dimensions !== null) return null
  return `Perscope does not know a model ${model}: check the name. It would get its texts without prefixes.`
}

/**
 * Registers a collection for a model, which must answer. From then on new articles also go there.
 *
 * @throws UsageError when a person at the terminal does not want a doubtful model
 */
async function registerFilling(
  { config, options, say, signal }: CommandContext,
  pool: Pool,
  model: string,
  doubt: string | null,
): Promise<Collection> {
  const api = textOf(options, 'api') ?? null
  const url = textOf(options, 'url') ?? null
  const source = sourceOf(config, { model, api, url })
  const probe = openEmbeddings(source, { passageTimeout: PROBE_TIMEOUT })
  const [vector] = await probe.embedPassages([PROBE], AbortSignal.timeout(PROBE_TIMEOUT))
  const place = source.url === '' ? 'Inference Providers' : new URL(source.url).host
  const served = probe.served()
  say(
    `Vectors of ${model} come from ${place}${served === null ? '' : `, which calls its model ${served}`}.`,
  )
  if (doubt !== null) {
    say(doubt)
    if (!options.yes && (await confirm('Embed all articles with it?', signal)) === false)
      throw new UsageError('Nothing was changed.')
  }
  const name = collectionName(config.QDRANT_COLLECTION, model)
  return transaction(pool, async client => {
    await changeCollections(client)
    await client.query(
      `insert into vector_collections (name, state, model, recipe, dimensions, api, url)
       values ($1, 'filling', $2, $3, $4, $5, $6)`,
      [name, model, RECIPE, vector!.length, api, url],
    )
    return (await changeCollections(client)).find(one => one.name === name)!
  })
}

/**
 * Makes the filled collection the serving one, in one transaction. Returns false and changes
 * nothing when it is not complete.
 */
async function takeOver(pool: Pool, name: string): Promise<boolean> {
  return transaction(pool, async client => {
    const collection = fillingNamed(name, await changeCollections(client))
    if ((await left(client, collection)) > 0) return false
    await client.query(
      `update vector_collections set state = 'retired', changed_at = clock_timestamp() where state = 'serving'`,
    )
    await client.query(
      `update vector_collections set state = 'serving', changed_at = clock_timestamp() where name = $1`,
      [name],
    )
    return true
  })
}

/** @throws when no collection of that name is being filled */
function fillingNamed(name: string, collections: Collection[]): Collection {
  const collection = collections.find(one => one.name === name && one.state === 'filling')
  if (!collection)
    throw new Error(`${name} is not being filled any more; somebody else has ended it.`)
  return collection
}

/**
 * The number of articles that are still to be embedded; without a collection, of all embedded
 * articles.
 */
async function left(
  db: Queryable,
  collection: Pick<Collection, 'filledTo' | 'registeredAt'> | null,
): Promise<number> {
  return countOf(
    db,
    `select count(*)::int as n from embeddings
     where seq > $1 and embedded_at is not null and embedded_at <= coalesce($2, clock_timestamp())`,
    [collection?.filledTo ?? 0n, collection?.registeredAt ?? null],
  )
}

/** The number of articles that embedders still have to embed, without those that were given up. */
async function notEmbedded(db: Queryable): Promise<number> {
  return countOf(
    db,
    'select count(*)::int as n from embeddings where embedded_at is null and failed_at is null',
  )
}
