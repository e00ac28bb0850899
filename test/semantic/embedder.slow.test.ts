import pg from 'pg'
import t from 'tap'
import { countOf, readValue } from '#shared/postgres/pool'
import { openVectorStore } from '#shared/vectors/qdrant-store'
import { until } from '#test/fleet'
import { createWorld, served } from './world.ts'

const world = await createWorld(t)
await world.index(Array.from({ length: 9 }, () => ({})))
await world.pool.query(
  'update embeddings set ends = 1 where seq = (select min(seq) from embeddings)',
)
const embedder = await world.fleet.start('embedder')

t.test(
  'beside an article that ended a process each goes alone, and none waits until its claim of 60 s ends',
  async t => {
    await world.embedded(9)
    const waited = "select max(embedded_at) - min(embedded_at) > interval '50 s' from embeddings"
    t.equal(await readValue(world.pool, waited), false)
  },
)

const mostAttempts = () => countOf(world.pool, 'select max(attempts) from embeddings')

t.test('an outage of the model uses up no attempt, and is over within seconds', async t => {
  for (const mood of ['fails', 'throttles', 'stopped'] as const) {
    if (mood === 'stopped') await world.model.stop()
    else world.model.mood = mood
    const noted = await world.noted()
    await world.index(Array.from({ length: 20 }, () => ({})))
    await new Promise(resolve => setTimeout(resolve, 6_000))
    t.equal(await world.noted(), noted, `nothing is noted while it ${mood}`)
    if (mood === 'stopped') await world.model.start()
    else world.model.mood = 'answers'
    await world.embedded(noted + 20)
  }
  t.equal(await mostAttempts(), 0)
})

t.test(
  'an article that was in hand alone when the model died is not to blame for that',
  async t => {
    const noted = await world.noted()
    world.model.mood = 'hangs'
    await world.index([{ title: 'alone' }])
    await until(
      () => world.model.requests.some(({ input }) => input.some(text => text.includes('alone'))),
      60_000,
    )
    await world.model.stop()
    world.model.mood = 'answers'
    await world.model.start()
    await world.embedded(noted + 1)
    t.equal(await mostAttempts(), 0, 'no attempt is used up')
  },
)

t.test(
  'an embedder that dies between storing vectors and noting that leaves one vector each (promise 1)',
  async t => {
    const holder = new pg.Client({ connectionString: world.env.DATABASE_URL })
    await holder.connect()
    t.teardown(() => holder.end())
    const vectors = openVectorStore(world.config, 5_000)
    const count = async () => vectors.count(await served(world))
    const noted = await world.noted()

    world.model.delay = 1_500
    const asked = world.model.requests.length
    await world.index([{}, {}, {}])
    await until(() => world.model.requests.length > asked, 60_000)
    // While the model thinks: from here on nobody can note anything.
    await holder.query('begin; lock table embeddings in share mode')
    await until(async () => (await count()) === noted + 3, 60_000)
    embedder.process.kill('SIGKILL')
    await embedder.exited
    await holder.query('rollback')
    t.equal(await world.noted(), noted, 'nothing is noted')

    world.model.delay = 0
    await world.fleet.start('embedder')
    await world.embedded(noted + 3, 100_000)
    t.equal(await count(), noted + 3)
  },
)
