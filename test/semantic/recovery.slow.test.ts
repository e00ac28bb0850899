import t from 'tap'
import { COUNTRIES } from '#shared/articles/article'
import { readColumn } from '#shared/postgres/pool'
import { openVectorStore } from '#shared/vectors/qdrant-store'
import { until } from '#test/fleet'
import { openDoor } from '#test/standbys/door'
import { startTestCluster } from '#test/standbys/servers'
import { createWorld, query, served } from './world.ts'

t.test('a vector store that lost everything is filled again from Postgres', async t => {
  const world = await createWorld(t)
  await world.fleet.start('embedder')
  await world.index(Array.from({ length: 30 }, () => ({})))
  await world.embedded(30)
  const vectors = openVectorStore(world.config, 5_000)
  const name = await served(world)
  await vectors.drop(name)
  await until(async () => (await vectors.count(name)) === 30, 60_000, world.fleet.logs)
  await world.embedded(30)

  // And one that lost only some: found when it is held against Postgres, at the start and every
  // hour.
  const { points } = await vectors.list(name, 0n, 100)
  const seqs = points.map(({ seq }) => seq)
  await vectors.remove(name, seqs.slice(3, 8))
  await world.fleet.start('embedder')
  await until(async () => (await vectors.count(name)) === 30, 60_000)
  // A vector is there before its article is marked.
  await world.embedded(30, 60_000)
  t.equal(await vectors.count(name), 30)
})

t.test(
  'under the numbers of undone articles no vector of theirs stays, also one that was under way',
  async t => {
    const cluster = await startTestCluster(1)
    const door = await openDoor(() => new URL(cluster.current().url))
    t.teardown(() => door.close().then(cluster.stop))
    process.env.DATABASE_URL = cluster.url
    process.env.TEST_SUPERUSER_URL = cluster.primary.in(cluster.url)
    const world = await createWorld(t, {}, door.to)
    t.teardown(() => cluster.primary.resume())
    const { process: embedder } = await world.fleet.start('embedder')
    const write = (title: string, count: number, delay = 0) =>
      world.index(Array(count).fill({ title }), delay)
    await write('Oude brug', 4)
    await world.embedded(4)
    await cluster.standbys[0]!.catchUp()
    cluster.standbys[0]!.pause()
    await cluster.primary.query('select pg_terminate_backend(pid) from pg_stat_replication')
    await write('Houten molen', 4)
    await world.embedded(8)
    world.model.delay = 5_000
    await write('Houten sluis', 4)
    await until(() => world.model.underWay > 0, 60_000)
    world.model.delay = 0
    embedder.kill('SIGSTOP')
    door.shut()
    await cluster.failOver()
    door.open()
    // The new primary gives the numbers 5 to 12 again.
    t.same(await write('Stenen kade', 8, 3_600_000), [5n, 6n, 7n, 8n, 9n, 10n, 11n, 12n])
    const verify = () => world.fleet.script('verify').catch(({ stdout }) => stdout)
    t.match(
      await verify(),
      /^vectors: 4 .*; a restart of the embedder mends that\.\n.* 5 has a vector of another/,
    )
    const search = await world.openSearch()
    const found = async (text: string) =>
      (await search.search(query(text), null)).rows.map(({ seq }) => seq).sort()
    t.same(
      await found('Houten molen'),
      [1n, 2n, 3n, 4n],
      'nothing is near by the vector of another',
    )
    const around = async (seq: bigint) => {
      const id = (await readColumn(world.pool, 'select id from articles where seq = $1', [seq]))[0]
      const days = { countries: [...COUNTRIES], since: new Date(0), at: Date.UTC(2026, 0, 1) }
      const found = await search.around({ seq, id: String(id), ...days })
      return found?.near.map(({ seq }) => seq).sort()
    }
    t.same([await around(1n), await around(5n)], [[2n, 3n, 4n], undefined])
    embedder.kill('SIGCONT')
    const done = () => world.fleet.logs().split('"embedded"').length > 12
    await until(done, 60_000, world.fleet.logs)
    t.equal(await world.noted(), 4)

    embedder.kill('SIGTERM')
    await world.fleet.start('embedder')
    const vectors = openVectorStore(world.config, 5_000)
    await until(
      async () => (await vectors.count(await served(world))) === 4,
      60_000,
      world.fleet.logs,
    )
    t.equal(await verify(), '')
    t.same(await found('Houten sluis'), [1n, 2n, 3n, 4n])
    await search.close()
  },
)
