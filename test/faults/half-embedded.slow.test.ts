import pg from 'pg'
import t from 'tap'
import { openVectorStore } from '#shared/vectors/qdrant-store'
import { until } from '#test/fleet'
import { createWorld } from '#test/semantic/world'

t.test(
  'an embedder that dies between storing vectors and noting that leaves one vector each (promise 1)',
  async t => {
    const world = await createWorld(t)
    const holder = new pg.Client({ connectionString: world.env.DATABASE_URL })
    await holder.connect()
    t.teardown(() => holder.end())
    const vectors = openVectorStore(world.config, 5_000)
    const count = async () => {
      const { rows } = await world.pool.query<{ name: string }>(
        'select name from vector_collections',
      )
      return rows[0] ? vectors.count(rows[0].name) : null
    }

    const embedder = await world.fleet.start('embedder')
    await world.index([{}])
    await world.embedded(1)
    world.model.delay = 1_500
    const asked = world.model.requests.length
    const seqs = await world.index([{}, {}, {}])
    await until(() => world.model.requests.length > asked, 60_000)
    // While the model thinks: from here on nobody can note anything.
    await holder.query('begin; lock table embeddings in share mode')
    await until(async () => (await count()) === 4, 60_000)
    embedder.process.kill('SIGKILL')
    await embedder.exited
    await holder.query('rollback')
    const { rows } = await world.pool.query('select from embeddings where embedded_at is not null')
    t.equal(rows.length, 1, 'nothing is noted')

    world.model.delay = 0
    await world.fleet.start('embedder')
    await world.embedded(4, 100_000)
    t.equal(await count(), 1 + seqs.length)
  },
)
