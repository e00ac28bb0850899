import t from 'tap'
import { until } from '#test/fleet'
import { createWorld } from '#test/semantic/world'

t.test(
  'an article that was in hand alone when the model died is not to blame for that',
  async t => {
    const world = await createWorld(t)
    await world.fleet.start('embedder')
    await world.index([{}])
    await world.embedded(1)
    world.model.mood = 'hangs'
    await world.index([{ title: 'alone' }])
    await until(
      () => world.model.requests.some(({ input }) => input.some(text => text.includes('alone'))),
      60_000,
    )
    await world.model.stop()
    world.model.mood = 'answers'
    await world.model.start()
    await world.embedded(2)
    const { rows } = await world.pool.query<{ most: number }>(
      'select max(attempts) as most from embeddings',
    )
    t.equal(rows[0]?.most, 0, 'no attempt is used up')
  },
)
