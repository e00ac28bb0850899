import t from 'tap'
import { until } from '../fleet.ts'
import { counts, createWorld } from './world.ts'

t.setTimeout(300_000)

t.test('an embedder that is killed again and again embeds every article once (promise 1)', async t => {
  const world = await createWorld(t)
  world.model.delay = 30
  await world.index(Array.from({ length: 120 }, () => ({ body: 'Een bericht over water en brood.' })))
  for (let round = 0; round < 3; round++) {
    const embedder = await world.fleet.start('embedder')
    const before = world.model.requests.length
    await until(
      () => world.model.requests.length > before + 8,
      60_000,
      () => embedder.log(),
    )
    embedder.process.kill('SIGKILL')
    await embedder.exited
  }
  t.ok(((await counts(world)).noted ?? 0) < 120, 'it was killed in the middle')
  world.model.delay = 0
  await world.fleet.start('embedder')
  await world.embedded(120, 90_000)
  t.match(await counts(world), { vectors: 120, noted: 120, failed: 0 })
})

t.test('an embedder that is told to stop ends at once and gives back what it holds', async t => {
  const world = await createWorld(t)
  world.model.delay = 50
  await world.index(Array.from({ length: 60 }, () => ({})))
  const embedder = await world.fleet.start('embedder')
  await until(
    () => world.model.requests.length > 5,
    60_000,
    () => embedder.log(),
  )
  const began = Date.now()
  embedder.process.kill('SIGTERM')
  t.equal(await embedder.exited, 0)
  t.ok(Date.now() - began < 10_000)
  const { rows } = await world.pool.query<{ claimed: number }>(
    `select count(*)::int as claimed from embeddings where embedded_at is null and claimed_until > now() + interval '31 seconds'`,
  )
  t.equal(rows[0]?.claimed, 0, 'nothing is held beyond what a queue holds')
})

t.test('poison is set apart, tried three times and put in quarantine; its neighbours are embedded', async t => {
  const world = await createWorld(t)
  await world.fleet.start('embedder')
  await world.index([{}, {}, { title: 'this will be refused' }, { title: '\u0000\ud800' }, {}, {}])
  await world.embedded(5)
  await until(async () => (await counts(world)).failed === 1, 60_000)
  const { rows } = await world.pool.query<{ attempts: number; error: string }>(
    'select attempts, error from embeddings where failed_at is not null',
  )
  t.match(rows[0], { attempts: 3, error: /I will not read this/ })
  const tries = world.model.requests.filter(({ input }) => input.some(text => text.includes('refused'))).length
  t.ok(tries <= 6, `asked ${tries} times`)
})

t.test('an outage of the model uses up no attempt, and is over within seconds', async t => {
  const world = await createWorld(t)
  await world.fleet.start('embedder')
  for (const mood of ['fails', 'throttles', 'stopped'] as const) {
    if (mood === 'stopped') await world.model.stop()
    else world.model.mood = mood
    const { noted = 0 } = await counts(world)
    await world.index(Array.from({ length: 20 }, () => ({})))
    await new Promise(resolve => setTimeout(resolve, 6_000))
    t.equal((await counts(world)).noted, noted, `nothing is noted while it ${mood}`)
    if (mood === 'stopped') await world.model.start()
    else world.model.mood = 'answers'
    await world.embedded(noted + 20)
  }
  const { rows } = await world.pool.query<{ most: number }>('select max(attempts) as most from embeddings')
  t.equal(rows[0]?.most, 0)
})
