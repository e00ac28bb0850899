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
  const { rows } = await world.pool.query<{ most: number }>('select max(attempts) as most from embeddings')
  t.equal(rows[0]?.most, 0)
})
