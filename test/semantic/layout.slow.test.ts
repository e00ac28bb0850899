import t from 'tap'
import { openVectorStore } from '#shared/vectors/qdrant-store'
import { createFleet, until } from '#test/fleet'
import { createWorld, served } from './world.ts'

t.test('a collection is made with the shards of the settings, and keeps them', async t => {
  const world = await createWorld(t, { QDRANT_SHARDS: '2', QDRANT_WRITE_CONSISTENCY: '1' })
  const asMade = { ...world.config }
  const wanted = { ...world.config, QDRANT_SHARDS: 3 }
  await world.fleet.start('embedder')
  await world.index([{}, {}])
  await world.embedded(2)
  const first = await served(world)
  t.equal(await openVectorStore(asMade, 5_000).layoutWarning(first), null)
  const shown = await openVectorStore(wanted, 5_000).layoutWarning(first)
  t.match(shown, /made with \(2, 1 and 1\); .* say 3, 1 and 1\. .*reembed -- --all/)
  t.equal(await openVectorStore(wanted, 5_000).layoutWarning('not-there'), null)

  const other = await world.fleet.start('embedder', { QDRANT_SHARDS: '3' })
  await until(
    () => other.log().includes(`The collection ${first} keeps the shards`),
    60_000,
    other.log,
  )

  const fleet = createFleet({ ...world.env, QDRANT_SHARDS: '3' })
  await fleet.script('reembed', '--all')
  const second = await served(world)
  t.not(second, first)
  t.equal(await openVectorStore(wanted, 5_000).layoutWarning(second), null, 'reembed makes it anew')
})
