import t from 'tap'
import { createWorld } from './world.ts'

t.test('an outage of the model uses up no attempt, and is over within seconds', async t => {
  const world = await createWorld(t)
  await world.fleet.start('embedder')
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
  const { rows } = await world.pool.query<{ most: number }>(
    'select max(attempts) as most from embeddings',
  )
  t.equal(rows[0]?.most, 0)
})

t.test(
  'beside an article that ended a process each goes alone, and none waits until its claim of 60 s ends',
  async t => {
    const world = await createWorld(t)
    await world.index(Array.from({ length: 9 }, () => ({})))
    await world.pool.query(
      'update embeddings set ends = 1 where seq = (select min(seq) from embeddings)',
    )
    await world.fleet.start('embedder')
    await world.embedded(9)
    const waited =
      "select max(embedded_at) - min(embedded_at) > interval '50 s' as long from embeddings"
    t.same((await world.pool.query(waited)).rows, [{ long: false }])
  },
)
