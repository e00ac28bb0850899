import { openEmbeddingCollections } from '../services/embedder/collections/embedding-collections.ts'
import { sourceOf } from '../shared/embeddings/endpoint.ts'
import { modelNamed } from '../shared/embeddings/models.ts'
import { RECIPE } from '../shared/embeddings/recipe.ts'
import { createLogger } from '../shared/log/logger.ts'
import { createPool } from '../shared/postgres/pool.ts'
import { runCommand, sentenceOf, UsageError } from '../shared/process/command.ts'
import { readCollections } from '../shared/vectors/registry.ts'
import { openVectorStore } from '../shared/vectors/store.ts'
import { fill } from './reembed/fill.ts'
import { cancelFilling, left, registerFilling, takeOver } from './reembed/states.ts'
import { articlesBar } from './terminal/articles-bar.ts'

const VECTOR_TIMEOUT = 15_000

await runCommand(
  {
    name: 'reembed',
    about: [
      'Makes the vectors of all articles anew, for another model or another recipe, in a collection beside the one that',
      'serves; searches go on, new articles go to both. When it is complete it takes over. Interrupted, or killed, it goes on',
      'where it was when started again. Embedders must be running: new articles, and the old collection, are their work.',
    ].join('\n'),
    usage: ['--model NAME [--api openai|tei|hf] [--url URL]', '--all      (the same model)', '--cancel'],
    options: {
      model: { type: 'string', value: 'NAME', about: 'the model that is to serve' },
      api: { type: 'string', value: 'API', about: 'how its endpoint is asked (default EMBEDDINGS_API)' },
      url: { type: 'string', value: 'URL', about: 'its endpoint, for all services (default: EMBEDDINGS_URL of each)' },
      all: { type: 'boolean', about: 'also when model and recipe are those that serve' },
      cancel: { type: 'boolean', about: 'gives up a collection that is not complete' },
      json: { type: 'boolean', about: 'prints {"collection", "model", "articles", "done"}' },
      'dry-run': { type: 'boolean', about: 'says what would be done' },
    },
    needs: ['DATABASE_URL', 'QDRANT_URL'],
  },
  async ({ config, options, positionals, say, print, signal }) => {
    if (positionals.length > 0) throw new UsageError(`"${positionals[0]}" is not understood; see --help.`)
    const text = (name: string) => (typeof options[name] === 'string' ? options[name] : null)
    const pool = createPool(config.DATABASE_URL, 'reembed', error => say(`Postgres: ${sentenceOf(error)}`))
    const vectors = openVectorStore(config, VECTOR_TIMEOUT)
    try {
      const [serving, filling] = await readCollections(pool)
      if (!serving)
        throw new UsageError('Nothing is embedded yet: the embedder begins by itself, with EMBEDDINGS_MODEL.')
      if (options.cancel === true) {
        if (options['dry-run'] !== true) await cancelFilling(pool)
        return say(filling ? `Gave up ${filling.name}.` : 'No collection is being filled.')
      }

      const wanted = modelNamed(text('model') ?? filling?.model ?? config.EMBEDDINGS_MODEL).name
      const report = (collection: string, articles: number, done: boolean) => {
        if (options.json === true) print(JSON.stringify({ collection, model: wanted, articles, done }))
      }
      if (filling && (filling.model !== wanted || filling.recipe !== RECIPE)) {
        throw new UsageError(
          `A collection for ${filling.model} is being filled; go on with --model ${filling.model}, or give it up with --cancel.`,
        )
      }
      if (!filling && serving.model === wanted && serving.recipe === RECIPE && options.all !== true) {
        report(serving.name, 0, true)
        return say(`${wanted} serves already; --all makes its vectors anew.`)
      }
      if (options['dry-run'] === true) {
        const articles = await left(pool, filling ?? null)
        return say(`Would embed ${articles} articles with ${wanted}${filling ? `, going on in ${filling.name}` : ''}.`)
      }

      const endpoint = { model: wanted, api: text('api'), url: text('url') }
      const collection =
        filling ?? (await registerFilling(pool, config.QDRANT_COLLECTION, sourceOf(config, endpoint), endpoint))
      say(`${filling ? 'Going on' : 'Beginning'} with ${collection.name}.`)
      const embeddingCollections = openEmbeddingCollections(config, pool, vectors, createLogger('reembed', 'silent'))
      const bar = articlesBar(await left(pool, collection))
      let articles = 0
      try {
        do {
          const before = articles
          articles += await fill(
            { pool, vectors, embeddingCollections, say: bar.say },
            collection.name,
            n => bar.update(before + n),
            signal,
          )
        } while (!signal.aborted && !(await takeOver(pool, collection.name)))
      } finally {
        bar.stop()
      }
      const done = !signal.aborted
      if (done) await vectors.point(config.QDRANT_COLLECTION, collection.name)
      report(collection.name, articles, done)
      say(
        done
          ? `Embedded ${articles} articles; ${collection.name} serves now.`
          : `Interrupted after ${articles} articles; the same command goes on.`,
      )
      return done ? 0 : 1
    } finally {
      await pool.end()
    }
  },
)
