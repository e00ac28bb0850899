import t from 'tap'
import { openVectorStore } from '../../shared/vectors/qdrant-store.ts'
import { until } from '../fleet.ts'
import { startTestServers } from '../servers.ts'
import { createWorld, served } from './world.ts'

t.test('a vector store that lost everything is filled again from Postgres', async t => {
  const servers = await startTestServers({ servers: ['qdrant'] })
  t.teardown(() => servers.stop())
  const world = await createWorld(t, {
    QDRANT_URL: servers.settings.QDRANT_URL ?? '',
    QDRANT_API_KEY: servers.settings.QDRANT_API_KEY ?? '',
  })
  await world.fleet.start('embedder')
  await world.index(Array.from({ length: 30 }, () => ({})))
  await world.embedded(30)
  const vectors = openVectorStore(world.config, 5_000)
  const name = await served(world)
  await vectors.drop(name)
  await until(
    async () => (await vectors.count(name)) === 30,
    60_000,
    () => world.fleet.members[0]?.log() ?? '',
  )
  await world.embedded(30)

  // And one that lost only some: found when it is held against Postgres, at the start and every
  // hour.
  const { seqs } = await vectors.seqs(name, 0n, 100)
  await vectors.remove(name, seqs.slice(3, 8))
  await world.fleet.start('embedder')
  await until(async () => (await vectors.count(name)) === 30, 60_000)
  // A vector is there before its article is marked.
  await world.embedded(30, 60_000)
  t.equal(await vectors.count(name), 30)
})
