import t from 'tap'
import { SemanticUnavailable } from '#services/api/semantic/query'
import { createWorld, query, type World } from './world.ts'

const world = await createWorld(t)
await world.fleet.start('embedder')
await world.index([{ title: 'brood' }, { title: 'kaas' }, { title: 'brood kaas', country: 'BE' }])
await world.embedded(3)

/** How many requests the model got for a question. */
const asked = ({ model }: World, text: string) =>
  model.requests.filter(({ input }) => input.includes(text)).length
/** Without its set, a question needs its vector again. */
const forgetSets = () => world.pool.query('delete from semantic_sets')

t.test('a question asked before is not embedded again, for this or another reach', async t => {
  const search = await world.openSearch()
  const first = await search.search(query('vers brood'), null)
  await forgetSets()
  t.same(await search.search(query('vers brood'), null), first, 'the same answer')
  await search.search(query('vers  brood'), null)
  const part = await search.search(query('vers brood', { planCountries: ['BE'] }), null)
  t.equal(part.total, 1, 'the articles of the other reach')
  t.equal(asked(world, 'vers brood'), 1)
})

t.test('equal questions asked at the same time are embedded once', async t => {
  const search = await world.openSearch()
  world.model.delay = 200
  t.teardown(() => {
    world.model.delay = 0
  })
  const plans = [['NL'], ['BE'], ['NL', 'BE'], ['NL', 'BE', 'LU']] as const
  const pages = await Promise.all(
    plans.map(planCountries =>
      search.search(query('samen', { planCountries: [...planCountries] }), null),
    ),
  )
  const totals = pages.map(({ total }) => total)
  t.same(totals, [2, 1, 3, 3])
  t.equal(asked(world, 'samen'), 1)
})

t.test(
  'decision 29: without the model a kept question is answered, another is 503; failures are not kept',
  async t => {
    const search = await world.openSearch()
    const before = await search.search(query('blijft'), null)
    await forgetSets()
    world.model.mood = 'fails'
    t.same(await search.search(query('blijft'), null), before)
    await t.rejects(search.search(query('nieuw'), null), SemanticUnavailable)
    world.model.mood = 'answers'
    t.equal((await search.search(query('nieuw'), null)).total, 3)
  },
)

t.test('another model takes over: a kept question is embedded by it', async t => {
  const search = await world.openSearch()
  await search.search(query('overgang'), null)
  await world.fleet.script('reembed', '--model', 'words-two')
  // A switch is noticed within a second.
  await new Promise(resolve => setTimeout(resolve, 1_500))
  await forgetSets()
  await search.search(query('overgang'), null)
  await forgetSets()
  await search.search(query('overgang'), null)
  const models = world.model.requests.flatMap(({ input, model }) =>
    input.includes('overgang') ? [model] : [],
  )
  t.same(models, ['words', 'words-two'])
})
