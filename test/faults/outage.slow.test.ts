import t from 'tap'
import { until } from '../fleet.ts'
import { createWorld } from '../semantic/world.ts'

t.test('an article that was in hand alone when the model died is not to blame for that', async t => {
  const world = await createWorld(t)
  await world.fleet.start('embedder')
  await world.index([{}])
  await world.embedded(1)
  await world.model.stop()
  await world.index([{ title: 'alone' }])
  const isTaken = async () => {
    const { rows } = await world.pool.query(
      'select from embeddings where embedded_at is null and claimed_until > now()',
    )
    return rows.length === 1
  }
  await until(isTaken, 60_000)
  // Long enough for its request to fail, too short for the embedder to give up waiting.
  await new Promise(resolve => setTimeout(resolve, 2_000))
  await world.model.start()
  await world.embedded(2)
  const { rows } = await world.pool.query<{ most: number }>('select max(attempts) as most from embeddings')
  t.equal(rows[0]?.most, 0, 'no attempt is used up')
})
