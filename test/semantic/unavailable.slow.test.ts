import t from 'tap'
import { createPermits } from '#services/api/access/permits'
import { NO_PERMITS, SemanticUnavailable } from '#services/api/semantic/query'
import { until } from '#test/fleet'
import { openLinkTo } from '#test/fleet/links/link'
import { createWorld, query } from './world.ts'

t.test('a search without the model or the vector store (decision 29)', async t => {
  const world = await createWorld(t)
  const nowhere = 'http://127.0.0.1:9'
  const hole = await openLinkTo(nowhere)
  hole.silence()
  t.teardown(() => hole.close())

  const { total } = await (await world.openSearch()).search(query('brood'), null)
  t.same(total, 0, 'nothing embedded yet is an empty page (28)')
  await world.fleet.start('embedder')
  await world.index([{ title: 'brood' }, { title: 'kaas' }])
  await world.embedded(2)
  const search = await world.openSearch()
  t.equal((await search.search(query('brood'), null)).total, 2)

  for (const [what, settings] of Object.entries({
    'no model configured': { EMBEDDINGS_URL: '' },
    'a model that is down': { EMBEDDINGS_URL: nowhere },
    'a model that hangs': { EMBEDDINGS_URL: hole.url },
    'no vector store configured': { QDRANT_URL: '' },
    'a vector store that is down': { QDRANT_URL: nowhere },
    'a vector store that hangs': { QDRANT_URL: hole.url },
  })) {
    const broken = await world.openSearch(settings)
    for (let time = 0; time < 5; time++) {
      await t.rejects(broken.search(query(`${what} ${time}`), null), SemanticUnavailable, what)
    }
    t.ok(Object.keys(await broken.missing()).length === 1, `${what}: not ready`)
    t.equal(
      (await broken.search(query('brood'), null)).total,
      2,
      `${what}: a set that is there still answers`,
    )
  }

  world.model.mood = 'hangs'
  await Promise.all(
    Array.from({ length: 5 }, (_, n) => t.rejects(search.search(query(`hangs ${n}`), null))),
  )
  // As the questions of one key.
  const permits = createPermits({ atOnce: 4, waiting: 100, patience: 60_000 })
  const turns = {
    ...NO_PERMITS,
    question: <T>(work: () => Promise<T>) => permits.take('key', work),
  }
  const fresh = await world.openSearch()
  const asked = world.model.requests.length
  await Promise.all(
    Array.from({ length: 40 }, () =>
      t.rejects(fresh.search(query('hangs'), null, turns), SemanticUnavailable),
    ),
  )
  // Four at a time, and three in a row before the others fail at once, would be three requests, and
  // 4.5 s. On a busy machine some may come after the first ones have failed.
  t.ok(world.model.requests.length - asked < 3, 'equal questions fail together')
  world.model.mood = 'answers'
  const patient = await world.openSearch()
  world.model.delay = 400
  let round = 0
  // On a busy machine a question may take too long by itself.
  await until(async () => {
    round++
    const questions = Array.from({ length: 18 }, (_, n) =>
      patient.search(query(`slow ${round} ${n}`), null, turns),
    )
    return (await Promise.all(questions)).every(({ total }) => total === 2)
  }, 90_000)
  t.pass('questions wait for longer than two seconds as long as others are answered')
  world.model.delay = 0
  await until(async () => (await search.search(query('back again'), null)).total === 2, 60_000)
  t.pass('recovered within seconds')
})
