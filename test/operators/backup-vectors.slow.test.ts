import { dirname, join } from 'node:path'
import t from 'tap'
import { readColumn } from '#shared/postgres/pool'
import { openVectorStore } from '#shared/vectors/qdrant-store'
import { createTestDatabase } from '#test/database'
import { runScript } from '#test/script'
import { createWorld, served } from '#test/semantic/world'

const target = await createTestDatabase(t)
const world = await createWorld(t)
const file = join(t.testdir(), 'perscope.backup')
const restored = () =>
  runScript('restore', [file, '--yes'], { ...world.env, DATABASE_URL: target.url })
const restore = async () => (await restored()).err
const vectors = openVectorStore(world.config, 15_000)
const unembedded = () => target.count('embeddings where embedded_at is null')

await world.fleet.start('embedder')
await world.index(Array.from({ length: 12 }, () => ({})))
await world.embedded(12)
await world.fleet.script('backup', file)
await world.index(Array.from({ length: 5 }, () => ({})))
await world.embedded(17)
await world.fleet.stop()
const name = await served(world)

t.test(
  'vectors of articles that came after the backup go, because new articles get their numbers',
  async t => {
    t.equal(await vectors.count(name), 17)
    t.match(
      await restore(),
      /The vectors are those of this backup; embedders embed 0 articles without one\./,
    )
    t.equal(await vectors.count(name), 12)
    t.equal(await unembedded(), 0)
  },
)

t.test('vectors that are missing are left to the embedders', async t => {
  const { points } = await vectors.list(name, 0n, 100)
  const seqs = points.map(({ seq }) => seq)
  await vectors.remove(name, seqs.slice(0, 4))
  t.match(await restore(), /embedders embed 4 articles without one\./)
  t.equal(await unembedded(), 4)
  await vectors.drop(name)
  t.match(await restore(), /has no vectors of this backup; embedders embed all articles again\./)
})

t.test('a store without vectors has none of what was taken out', async t => {
  const [article] = await readColumn<string>(world.pool, 'select id from articles where seq = 3')
  const articles = (...words: string[]) =>
    runScript('articles', words, { ...world.env, BACKUP_FOLDERS: dirname(file) })
  t.match(await articles('remove', article!, '--reason', 'a court'), { code: 0 })
  const { code, err } = await restored()
  t.equal(code, 0, err)
  t.match(err, /embed all articles again\.\n(.*\n)*Took out 1 article again, of 1 on the list/)
  const proof = await articles('proof', article!, '--json')
  t.match(JSON.parse(proof.out), { done: true, found: { 'vectors (Qdrant)': 'none' } }, proof.err)
})
