import { openEmbeddingCollections } from '../services/embedder/collections.ts'
import { sourceOf } from '../shared/embeddings/embeddings.ts'
import { modelNamed } from '../shared/embeddings/models.ts'
import { RECIPE } from '../shared/embeddings/recipe.ts'
import { counted } from '../shared/log/counted.ts'
import { createLogger } from '../shared/log/logger.ts'
import { createPool, type Pool } from '../shared/postgres/pool.ts'
import { type CommandContext, runCommand, sentenceOf, UsageError } from '../shared/process/command.ts'
import { type Collection, readCollections } from '../shared/vectors/registry.ts'
import { openVectorStore } from '../shared/vectors/store.ts'
import { fill } from './reembed/fill.ts'
import { cancelFilling, left, notEmbedded, registerFilling, takeOver } from './reembed/states.ts'
import { articlesBar } from './terminal/terminal.ts'

const VECTOR_TIMEOUT = 15_000

await runCommand(
  {
    name: 'reembed',
    about: [
      'Embeds all articles again, for another model or recipe, in a second collection beside the serving one. Searches go on',
      'and new articles go to both. The second collection takes over when it is complete. After an interruption the same',
      'command goes on where it was. Embedders must run meanwhile: they embed new articles for both collections.',
    ].join('\n'),
    usage: [
      '--model NAME [--api openai|tei|hf] [--url URL] [--dry-run] [--json]',
      '--all [--dry-run] [--json]      (the same model)',
      '--cancel [--dry-run]',
    ],
    options: {
      model: { type: 'string', value: 'NAME', about: 'the new model' },
      api: { type: 'string', value: 'API', about: 'protocol of its endpoint (default EMBEDDINGS_API)' },
      url: { type: 'string', value: 'URL', about: 'its endpoint, for all services (default: EMBEDDINGS_URL of each)' },
      all: { type: 'boolean', about: 'also when model and recipe are unchanged' },
      cancel: { type: 'boolean', about: 'gives up a collection that is not complete' },
      json: { type: 'boolean', about: 'prints {"collection", "model", "articles", "done"}' },
      'dry-run': { type: 'boolean', about: 'says how many articles it would embed' },
    },
    needs: ['DATABASE_URL', 'QDRANT_URL'],
  },
  async context => {
    const { config, options, positionals, say } = context
    if (positionals.length > 0) throw new UsageError(`"${positionals[0]}" is not understood; see --help.`)
    const pool = createPool(config.DATABASE_URL, 'reembed', error => say(`Postgres: ${sentenceOf(error)}`))
    try {
      const [serving, filling = null] = await readCollections(pool)
      if (!serving) throw new UsageError('No article is embedded yet. Start an embedder; it uses EMBEDDINGS_MODEL.')
      if (options.cancel === true) return await cancel(context, pool, filling)
      return await reembed(context, pool, serving, filling)
    } finally {
      await pool.end()
    }
  },
)

async function cancel({ options, say }: CommandContext, pool: Pool, filling: Collection | null): Promise<void> {
  if (filling === null) return say('No collection is being filled.')
  if (options['dry-run'] === true) return say(`Would give up ${filling.name}.`)
  await cancelFilling(pool)
  say(`Gave up ${filling.name}.`)
}

async function reembed(
  context: CommandContext,
  pool: Pool,
  serving: Collection,
  filling: Collection | null,
): Promise<number> {
  const { config, options, say, signal } = context
  const wanted = modelNamed(text(options.model) ?? filling?.model ?? config.EMBEDDINGS_MODEL).name
  if (filling && (filling.model !== wanted || filling.recipe !== RECIPE)) {
    throw new UsageError(
      `A collection for ${filling.model} is being filled; go on with --model ${filling.model}, or give it up with --cancel.`,
    )
  }
  if (!filling && serving.model === wanted && serving.recipe === RECIPE && options.all !== true) {
    report(context, { collection: serving.name, model: wanted, articles: 0, done: true })
    say(`${wanted} serves already; --all embeds all articles again.`)
    return 0
  }
  if (options['dry-run'] === true) {
    const articles = await left(pool, filling)
    say(`Would embed ${counted(articles, 'article')} with ${wanted}${filling ? `, going on in ${filling.name}` : ''}.`)
    const waiting = await notEmbedded(pool)
    if (waiting > 0) {
      say(`Not counted: ${counted(waiting, 'article')} not embedded yet. Embedders put them into both collections.`)
    }
    return 0
  }
  const endpoint = { model: wanted, api: text(options.api), url: text(options.url) }
  const collection =
    filling ?? (await registerFilling(pool, config.QDRANT_COLLECTION, sourceOf(config, endpoint), endpoint))
  say(`${filling ? 'Going on' : 'Beginning'} with ${collection.name}.`)
  const articles = await fillAndTakeOver(context, pool, collection)
  const done = !signal.aborted
  report(context, { collection: collection.name, model: wanted, articles, done })
  say(
    done
      ? `Embedded ${counted(articles, 'article')}; ${collection.name} serves now.`
      : `Interrupted after ${counted(articles, 'article')}; the same command goes on.`,
  )
  return done ? 0 : 1
}

/** @returns how many articles it embedded; the collection serves then, unless interrupted */
async function fillAndTakeOver(
  { config, signal, say }: CommandContext,
  pool: Pool,
  collection: Collection,
): Promise<number> {
  const vectors = openVectorStore(config, VECTOR_TIMEOUT)
  const embeddingCollections = openEmbeddingCollections(config, pool, vectors, createLogger('reembed', 'silent'))
  // A collection that an earlier run has begun keeps its shards.
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

interface Report {
  collection: string
  model: string
  articles: number
  done: boolean
}

function report({ options, print }: CommandContext, { collection, model, articles, done }: Report): void {
  if (options.json === true) print(JSON.stringify({ collection, model, articles, done }))
}

function text(value: CommandContext['options'][string]): string | null {
  return typeof value === 'string' ? value : null
}
